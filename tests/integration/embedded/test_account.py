from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from handrail.cli.embedded import account as accounts
from handrail.cli.errors import InterpreterUnreachable, WorkRootUnusable
from tests.support.places import account, make_workdir, reachable_dir


@pytest.mark.req("EMB-ROOT")
def test_the_account_is_a_system_user_without_a_login_for_root_and_nobody_else_gets_one() -> None:
    who = account()
    if os.geteuid() != 0:
        assert who is None
        return
    assert who is not None
    assert (who.name, who.uid != 0) == ("handrail", True)
    assert accounts.services_account(Path("/elsewhere")) == who  # a second start makes no second one


@pytest.mark.req("EMB-ROOT")
def test_a_work_root_is_fine_when_the_services_can_read_and_write_it() -> None:
    with reachable_dir() as base:
        accounts.check_reach(account(), make_workdir(base / "work"))
        (base / "file").write_text("x")
        for path in (base / "missing", base / "file"):
            with pytest.raises(WorkRootUnusable, match=str(path)):
                accounts.check_reach(account(), path)


@pytest.mark.req("EMB-ROOT")
def test_a_python_that_the_account_cannot_run_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with reachable_dir() as base:
        work = make_workdir(base / "work")
        closed = base / "closed"
        closed.mkdir(mode=0o700)
        (closed / "python").symlink_to(sys.executable)
        monkeypatch.setattr(sys, "executable", str(closed / "python"))
        if account() is None:
            accounts.check_reach(None, work)  # services run as the starter, who can
            return
        with pytest.raises(InterpreterUnreachable, match="/opt") as caught:
            accounts.check_reach(account(), work)
        assert "/srv" in caught.value.text("zh")
