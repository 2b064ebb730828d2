"""What a person at the terminal needs: the page's address, the work root and, until something is paired, the pairing code."""

from __future__ import annotations

import threading
from typing import cast

from handrail.cli import say
from handrail.cli.client import Admin
from handrail.cli.errors import CliError
from handrail.cli.options import Options
from handrail.cli.say import t

RETRY_S = 10.0


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


def code_of(admin: Admin) -> tuple[str, float]:
    """A pairing code of the first user and its life in seconds; a dash when the service does not give one now."""
    try:
        answer = admin.post("/admin/paircode", display=True)
        return str(answer["code"]), float(cast("float", answer["expires_in_s"]))
    except (CliError, KeyError, ValueError):
        return "-", RETRY_S


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
        code, life_s = code_of(self._admin)
        welcome(self._options, code)
        while not self._over.wait(life_s):
            # a display of codes nobody waits for is only noise, and each code is one more that can be guessed
            if self._paired():
                return
            code, life_s = code_of(self._admin)
            if code != "-":
                say.out(t(f"  Pairing code: {code}", f"  配对码：      {code}"))

    def _paired(self) -> bool:
        try:
            return bool(self._admin.get("/admin/devices").get("devices"))
        except CliError:
            return False
