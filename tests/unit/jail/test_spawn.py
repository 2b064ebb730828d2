"""The one spawn function for trusted children."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from handrail.jail import procfs, spawn, tree
from tests.support.places import account
from tests.support.wait import until


@pytest.mark.req("SBX-60")
@pytest.mark.parametrize("form", ["sync", "async"])
async def test_a_helper_program_is_bounded_in_time_and_output(form: str) -> None:
    async def run(*argv: str, **more: Any) -> spawn.Finished:
        if form == "sync":
            return spawn.run(argv, **more)
        return await spawn.run_async(argv, **more)

    done = await run("/bin/bash", "-c", "cat; echo err >&2; exit 3", stdin=b"in")
    assert (done.code, done.stdout, done.stderr, done.timed_out, done.truncated) == (3, b"in", b"err\n", False, False)
    slow = await run("/bin/bash", "-c", "echo begun; sleep 30 & sleep 30", timeout_s=0.3)
    assert (slow.timed_out, slow.stdout, slow.code) == (True, b"begun\n", -9)
    assert slow.duration_ms < 3000
    flood = await run("/usr/bin/yes", max_output=100_000)
    assert (flood.truncated, len(flood.stdout)) == (True, 100_000)
    exact = await run("/usr/bin/printf", "12345", max_output=5)
    assert (exact.truncated, exact.stdout, exact.code) == (False, b"12345", 0)
    with pytest.raises(OSError, match="no-such"):
        await run("/no-such-program")


@pytest.mark.req("SBX-60")
def test_a_helper_program_gets_no_environment_unless_given_one() -> None:
    os.environ["PLANTED"] = "x"
    try:
        assert set(spawn.run(["/usr/bin/env"]).stdout.decode().split()) == {f"{k}={v}" for k, v in spawn.MINIMAL_ENV.items()}
        assert spawn.run(["/usr/bin/env"], env={"A": "b"}).stdout == b"A=b\n"
    finally:
        del os.environ["PLANTED"]


@pytest.mark.req("SBX-60")
async def test_a_cancelled_helper_program_is_dead() -> None:
    marker = f"3{os.getpid()}"
    task = asyncio.create_task(spawn.run_async(["/bin/sleep", marker]))
    await asyncio.sleep(0)

    def alive() -> list[int]:
        found: list[int] = []
        for pid in procfs.children(os.getpid()):
            raw = Path(f"/proc/{pid}/cmdline")
            if raw.exists() and marker.encode() in raw.read_bytes():
                found.append(pid)
        return found

    async with asyncio.timeout(5):
        while not alive():  # noqa: ASYNC110 - another process's state has no event
            await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not alive()


@pytest.mark.req("SBX-61")
def test_a_service_is_stopped_with_everything_it_started(tmp_path: Path) -> None:
    log = os.open(tmp_path / "log", os.O_WRONLY | os.O_CREAT)
    child = spawn.start(
        ["/bin/bash", "-c", "trap '' TERM; setsid sleep 77 & echo up; while :; do sleep 1; done"], env=spawn.MINIMAL_ENV, log=log
    )
    os.close(log)
    until(lambda: (tmp_path / "log").read_text() == "up\n", "it is up")
    below = procfs.descendants(child.pid)
    assert below
    assert child.stop(0.2) == -signal.SIGKILL
    assert [stat for stat in below if procfs.is_same(stat.pid, stat.start)] == []


@pytest.mark.req("SBX-61")
def test_a_service_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    code = (
        "import os, sys; from handrail.jail import spawn\n"
        "child = spawn.start(['/bin/sleep', '88'], env=spawn.MINIMAL_ENV, pdeathsig=9)\n"
        "print(child.pid, child.start, flush=True); os.kill(os.getpid(), 9)\n"
    )
    pid, start = (int(word) for word in spawn.run([sys.executable, "-c", code], cwd=str(tmp_path)).stdout.split())
    until(lambda: not procfs.is_same(pid, start), "the child is gone", 3)


@pytest.mark.req("SBX-62")
def test_a_service_started_by_root_runs_as_its_account_with_no_way_back() -> None:
    who = account()
    if who is None:
        assert os.geteuid() != 0
        return
    out_read, out_write = os.pipe()
    child = spawn.start(["/bin/cat", "/proc/self/status"], env=spawn.MINIMAL_ENV, account=who, log=out_write)
    os.close(out_write)
    with os.fdopen(out_read, encoding="utf-8") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    assert child.wait(5) == 0
    assert status["Uid"].split() == [str(who.uid)] * 4
    assert status["Gid"].split() == [str(who.gid)] * 4
    assert [status[name].strip() for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb")] == ["0" * 16] * 4


@pytest.mark.req("SBX-63")
def test_a_reused_pid_is_never_signalled() -> None:
    child = spawn.start(["/bin/sleep", "99"], env=spawn.MINIMAL_ENV)
    try:
        stat = procfs.read_stat(child.pid)
        assert stat is not None
        other = procfs.Stat(stat.pid, stat.ppid, stat.pgrp, stat.session, stat.start - 1, stat.state)
        assert tree.send(other, signal.SIGKILL) is False
        assert procfs.is_same(stat.pid, stat.start)
        assert not procfs.is_same(stat.pid, stat.start - 1)
        assert tree.send(stat, signal.SIGKILL) is True
        assert child.wait(5) == -signal.SIGKILL
        assert tree.send(stat, signal.SIGKILL) is False
    finally:
        child.stop(0)


def test_a_process_name_with_brackets_is_read_right(tmp_path: Path) -> None:
    program = tmp_path / "a) R 1 (b"
    program.symlink_to("/bin/sleep")
    child = spawn.start([str(program), "66"], env=spawn.MINIMAL_ENV)
    try:
        stat = procfs.read_stat(child.pid)
        assert stat is not None
        assert (stat.ppid, stat.session) == (os.getpid(), child.pid)
    finally:
        child.stop(0)
