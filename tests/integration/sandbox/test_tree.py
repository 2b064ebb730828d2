"""A command ends with everything it started, and nothing it does keeps the service busy."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from tests.support.sandbox import Box, running_box
from tests.support.wait import STEP_S, until

GROWS = "while :; do echo x >> {file}; sleep 0.02; done"
TREES = {
    "child": "( " + GROWS + " ) & wait",
    "setsid double fork": "setsid bash -c '( " + GROWS + " ) & disown' & sleep 60",
    "TERM ignored": "trap '' TERM HUP INT; " + GROWS,
    "TERM ignored by a detached grandchild": "setsid bash -c \"trap '' TERM HUP; " + GROWS + '" & sleep 60',
    "stopped child": "bash -c 'kill -STOP $$; " + GROWS + "' & " + GROWS,
    "nohup": "nohup bash -c '" + GROWS + "' > /dev/null 2>&1 & sleep 60",
}


def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def stands_still(path: Path) -> bool:
    """Whether the file keeps its size for seven periods of the writer."""
    before, deadline = size(path), time.monotonic() + 0.15
    while time.monotonic() < deadline:
        if size(path) != before:
            return False
        time.sleep(STEP_S)
    return True


def mine_alive(box: Box) -> list[str]:
    """Command lines of live processes that mention this box's directory or run as a spare of its tree."""
    out: list[str] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                raw = (entry / "cmdline").read_bytes()
                cwd = os.readlink(entry / "cwd")
            except OSError:
                continue
            if cwd.startswith(str(box.work)) or str(box.base).encode() in raw:
                out.append(f"{entry.name} {raw!r}")
    return out


@pytest.mark.req("SBX-30", "A13", "D2", "ATK-60", "PF-C2", "PF-B11")
@pytest.mark.parametrize("name", list(TREES))
def test_stop_kills_the_whole_tree_within_two_seconds(box: Box, name: str) -> None:
    file = box.work / f"grows-{name.replace(' ', '-')}"
    exec_id = box.run(TREES[name].format(file=file.name), wait=False)["exec_id"]
    until(lambda: size(file) > 4, "the file grows")
    began = time.monotonic()
    outcome = box.stop(exec_id).json()
    assert time.monotonic() - began < 2.0
    assert (outcome["state"], outcome["killed"], outcome["exit_code"]) == ("cancelled", True, -1)
    assert outcome["signal"] in ("SIGTERM", "SIGKILL")
    assert stands_still(file)
    assert box.stop(exec_id).json()["state"] == "cancelled"  # again: the same answer


@pytest.mark.req("SBX-31", "D5", "PF-C3")
@pytest.mark.parametrize("name", ["child", "setsid double fork", "TERM ignored"])
def test_the_time_out_kills_the_whole_tree(box: Box, name: str) -> None:
    file = box.work / f"timed-{name.replace(' ', '-')}"
    began = time.monotonic()
    outcome = box.run(TREES[name].format(file=file.name), timeout_ms=1000)
    assert time.monotonic() - began < 3.5
    assert (outcome["state"], outcome["timed_out"], outcome["killed"], outcome["timeout_ms"]) == ("timed_out", True, True, 1000)
    assert size(file) > 4
    assert stands_still(file)


@pytest.mark.req("SBX-32", "PF-C3")
def test_a_background_child_that_holds_the_pipe_does_not_hold_the_answer(box: Box) -> None:
    file = box.work / "grows-in-background"
    began = time.monotonic()
    outcome = box.run(f"( {GROWS.format(file=file.name)} ) & sleep 0.2; echo done")
    assert time.monotonic() - began < 2.5
    assert (outcome["stdout"], outcome["state"], outcome["exit_code"], outcome["killed"]) == ("done\n", "completed", 0, False)
    assert stands_still(file)


@pytest.mark.req("SBX-32")
def test_a_background_child_without_the_pipe_ends_with_the_command(box: Box) -> None:
    file = box.work / "grows-detached"
    outcome = box.run(f"setsid bash -c '{GROWS.format(file=file.name)}' > /dev/null 2>&1 < /dev/null & sleep 0.2")
    assert outcome["state"] == "completed"
    assert size(file) > 0
    assert stands_still(file)


@pytest.mark.req("SBX-33", "PF-B11")
@pytest.mark.parametrize(
    ("command", "state", "code", "signal_name"),
    [
        ("true", "completed", 0, ""),
        ("exit 7", "failed", 7, ""),
        ("exit 126", "failed", 126, ""),
        ("no-such-program-anywhere", "failed", 127, ""),
        ("kill -SEGV $$", "failed", -1, "SIGSEGV"),
        ("kill -KILL $$", "failed", -1, "SIGKILL"),
        ("kill -TERM $$; sleep 5", "failed", -1, "SIGTERM"),
    ],
)
def test_the_end_of_a_command_is_told_exactly(box: Box, command: str, state: str, code: int, signal_name: str) -> None:
    outcome = box.run(command)
    assert (outcome["state"], outcome["exit_code"], outcome["signal"], outcome["killed"]) == (state, code, signal_name, False)


@pytest.mark.req("SBX-34", "D32", "ATK-60", "D10")
def test_a_fork_bomb_is_contained_while_others_still_work() -> None:
    with running_box(HANDRAIL_SANDBOX_PROCESSES="128") as box:
        box.own_file(box.work / "bomb.sh", "b() { b | b & sleep 30; }\nb\n", 0o644)
        bomb = box.run("bash bomb.sh", wait=False, timeout_ms=6000, claims={"approval": "x"})["exec_id"]
        until(lambda: len(mine_alive_in(box)) > 60, "the bomb burns")
        assert box.run("echo alive", claims={"sub": "user-2", "ws": "ws-2"})["stdout"] == "alive\n"
        assert box.stop(bomb).json()["exit_code"] == -1
        until(lambda: not mine_alive_in(box), "every process of the bomb is gone")


def mine_alive_in(box: Box) -> list[str]:
    return [line for line in mine_alive(box) if "sleep" in line or "bomb" in line]


@pytest.mark.req("SBX-34", "D32", "ATK-60")
def test_files_and_memory_are_limited() -> None:
    with running_box(HANDRAIL_SANDBOX_FILE_SIZE="4", HANDRAIL_SANDBOX_PROCESS_MEMORY="256") as box:
        outcome = box.run("head -c 100M /dev/zero > big; echo $?; ulimit -c")
        assert outcome["stdout"].split() == ["153", "0"]  # 128 + SIGXFSZ
        assert (box.work / "big").stat().st_size == 4 * 1024 * 1024
        outcome = box.run("python3 -c 'x = bytearray(600 * 1024 * 1024)'")
        assert "MemoryError" in outcome["stderr"]
        outcome = box.run("ulimit -f unlimited || echo refused; ulimit -d unlimited || echo refused")
        assert outcome["stdout"].split() == ["refused", "refused"]


@pytest.mark.req("SBX-35", "PF-C4")
def test_the_number_of_commands_is_limited_for_each_user_and_the_refusal_names_the_limit() -> None:
    with running_box(HANDRAIL_SANDBOX_COMMANDS="3") as box:
        running = [box.run("sleep 30", wait=False)["exec_id"] for _ in range(3)]
        answer = box.try_run("touch fourth")
        assert (answer.status, answer.json()["code"]) == (429, "process.too_many")
        assert "3" in answer.json()["error"]
        assert not (box.work / "fourth").exists()
        assert box.run("true", claims={"sub": "user-2"})["exit_code"] == 0
        box.stop(running[0])
        assert box.run("true")["exit_code"] == 0
        too_long = box.try_run(": " + "x" * 70_000)
        assert (too_long.status, too_long.json()["params"]["limit"]) == (413, "65536")


@pytest.mark.req("SBX-36", "PF-C2", "ATK-60")
@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_when_the_service_ends_no_process_is_left(signum: signal.Signals) -> None:
    with running_box() as box:
        assert box.process is not None
        file = box.work / "grows"
        for name in ("setsid double fork", "TERM ignored"):
            box.run(TREES[name].format(file=file.name), wait=False)
        until(lambda: size(file) > 10, "the file grows")
        began = time.monotonic()
        box.kill(signum)
        assert box.process.wait(6) is not None
        until(lambda: not mine_alive(box), "every process is gone", 6)
        assert time.monotonic() - began < 5
        assert stands_still(file)


@pytest.mark.req("SBX-37", "ATK-61")
def test_a_shim_that_is_killed_takes_its_tree_with_it_and_the_command_counts_as_lost(box: Box) -> None:
    file = box.work / "grows-without-shim"
    exec_id = box.run(TREES["setsid double fork"].format(file=file.name), wait=False)["exec_id"]
    until(lambda: size(file) > 4, "the file grows")
    shim = next(row["pid"] for row in box.list() if row["exec_id"] == exec_id)
    os.kill(shim, signal.SIGKILL)
    page, _ = box.read_all(exec_id)
    assert (page["state"], page["exit_code"], page["signal"]) == ("lost", -1, "SIGKILL")
    until(lambda: stands_still(file), "the file stops growing", 3)
    assert box.run("echo next")["stdout"] == "next\n"


@pytest.mark.req("SBX-37")
def test_a_fork_server_that_is_killed_is_replaced_and_running_commands_go_on(box: Box) -> None:
    exec_id = box.run("sleep 1.5; echo survived", wait=False)["exec_id"]
    assert box.process is not None
    zygote = next(
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and (entry / "comm").read_text() == "handrail-zygote\n" and parent(int(entry.name)) == box.process.pid
    )
    os.kill(zygote, signal.SIGKILL)
    for _ in range(8):
        assert box.run("echo works")["stdout"] == "works\n"
    page, pieces = box.read_all(exec_id)
    assert (page["state"], pieces) == ("completed", [(0, "survived\n")])


def parent(pid: int) -> int:
    return int((Path("/proc") / str(pid) / "stat").read_text().rsplit(")", 1)[1].split()[1])
