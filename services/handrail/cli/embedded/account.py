"""The system user that everything runs as when root starts Handrail, and whether it can reach what it needs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from handrail.cli.errors import InterpreterUnreachable, NoAccount, WorkRootUnusable
from handrail.jail import spawn
from handrail.jail.account import Account, look_up

NAME = "handrail"


def services_account(data: Path) -> Account | None:
    """None for an ordinary user; for root the account `handrail`, created when missing. Raises NoAccount."""
    if os.geteuid() != 0:
        return None
    found = look_up(NAME)
    if found is not None:
        return found
    argv = [
        "/usr/sbin/useradd",
        "--system",
        "--user-group",
        "--no-create-home",
        "--home-dir",
        str(data),
        "--shell",
        "/usr/sbin/nologin",
        NAME,
    ]
    detail = ""
    try:
        done = spawn.run(argv)
        detail = done.stderr.decode("utf-8", "replace").strip()
    except OSError as exc:
        detail = str(exc)
    # two starts at once: the other one may have been first
    found = look_up(NAME)
    if found is None:
        raise NoAccount(user=NAME, detail=detail or "useradd failed")
    return found


def check_reach(account: Account | None, workdir: Path) -> None:
    """Raise InterpreterUnreachable or WorkRootUnusable when services as `account` could not work."""
    if account is not None:
        argv = [sys.executable, "-c", "import handrail.contract.setting_names"]
        try:
            code = spawn.run(argv, account=account).code
        except OSError:
            code = -1
        if code != 0:
            raise InterpreterUnreachable(user=account.name, python=sys.executable)
    user = account.name if account else os.environ.get("USER", str(os.geteuid()))
    check = 'test -d "$0" && test -r "$0" && test -w "$0" && test -x "$0"'
    if spawn.run(["/bin/sh", "-c", check, str(workdir)], account=account).code != 0:
        raise WorkRootUnusable(user=user, workdir=workdir)
