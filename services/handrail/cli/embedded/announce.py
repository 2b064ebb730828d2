"""What a person at the terminal needs: the page's address, the work root and, until something is paired, the pairing code."""

from __future__ import annotations

import threading

from handrail.cli import say
from handrail.cli.client import Admin
from handrail.cli.errors import CliError
from handrail.cli.options import Options
from handrail.cli.say import t

POLL_S = 1.0


def welcome(options: Options, code: str) -> None:
    """The lines after a start."""
    say.out(t("Handrail is ready.", "Handrail 已就绪。"))
    say.out(t(f"  Page:         {options.address}", f"  页面：        {options.address}"))
    say.out(t(f"  Pairing code: {code}", f"  配对码：      {code}"))
    say.out(t(f"  Work root:    {options.workdir}", f"  工作根目录：  {options.workdir}"))
    say.out(t(f"  Data:         {options.data}", f"  数据目录：    {options.data}"))
    say.out(
        t(
            f"  A new code:   handrail paircode --data {options.data}    Logs: {options.data}/logs",
            f"  新配对码：    handrail paircode --data {options.data}    日志：{options.data}/logs",
        )
    )


def code_of(admin: Admin) -> str:
    """The first user's current pairing code; a dash when the service does not give one."""
    try:
        return str(admin.post("/admin/paircode").get("code", "-"))
    except CliError:
        return "-"


class Announcer:
    """Prints in a thread of its own, so that a stuck terminal holds up nothing else."""

    def __init__(self, admin: Admin, options: Options) -> None:
        self._admin = admin
        self._options = options
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="announcer", daemon=True)

    def begin(self) -> None:
        """The service is ready."""
        self._thread.start()

    def end(self) -> None:
        self._over.set()

    def _run(self) -> None:
        shown = code_of(self._admin)
        welcome(self._options, shown)
        while not self._over.wait(POLL_S):
            try:
                if self._admin.get("/admin/devices").get("devices"):
                    return
            except CliError:
                continue
            code = code_of(self._admin)
            if code not in (shown, "-"):
                shown = code
                say.out(t(f"  Pairing code: {code}", f"  配对码：      {code}"))
