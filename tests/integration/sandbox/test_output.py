"""Output: whole, in order, by cursor, bounded."""

from __future__ import annotations

import concurrent.futures
import os
from pathlib import Path
from typing import Any

import pytest

from handrail.contract import sandbox as wire
from tests.support.sandbox import Box, running_box
from tests.support.wait import until


@pytest.mark.req("SBX-40", "PF-B8")
def test_characters_split_between_writes_arrive_whole(box: Box) -> None:
    outcome = box.run(
        r"printf '\xe4\xb8'; sleep .15; printf '\xad\xe6\x96'; sleep .15; printf '\x87\n';"
        r" printf '\xf0\x9f' >&2; sleep .1; printf '\x98\x80' >&2"
    )
    assert (outcome["stdout"], outcome["stderr"]) == ("中文\n", "😀")


@pytest.mark.req("SBX-40")
def test_what_is_no_utf8_is_replaced_not_lost(box: Box) -> None:
    outcome = box.run(r"printf 'a\xff\xfeb\xe4'; printf 'nul\0end' >&2")
    assert (outcome["stdout"], outcome["stderr"]) == ("a\ufffd\ufffdb\ufffd", "nul\0end")


@pytest.mark.req("SBX-41", "D4", "PF-B4")
def test_a_late_reader_gets_everything_from_the_first_byte_then_what_comes(box: Box) -> None:
    exec_id = box.run("echo early; sleep .4; echo late; sleep .2; echo err >&2; exit 5", wait=False)["exec_id"]
    until(lambda: box.output(exec_id).json()["total"] > 0, "there is early output")
    page, pieces = box.read_all(exec_id)
    assert "".join(text for stream, text in pieces if stream == 0) == "early\nlate\n"
    assert "".join(text for stream, text in pieces if stream == 1) == "err\n"
    assert (page["exit_code"], page["state"]) == (5, "failed")
    again = box.read_all(exec_id)
    assert "".join(text for _, text in again[1]) == "early\nlate\nerr\n"  # and again: a replay is not used up


@pytest.mark.req("SBX-41", "D4")
def test_streams_stay_apart_and_in_order(box: Box) -> None:
    exec_id = box.run("for i in 1 2 3 4 5; do echo out$i; sleep .03; echo err$i >&2; sleep .03; done", wait=False)["exec_id"]
    _, pieces = box.read_all(exec_id)
    assert "".join(text for _, text in pieces) == "".join(f"out{i}\nerr{i}\n" for i in range(1, 6))
    assert "".join(text for stream, text in pieces if stream == 0) == "".join(f"out{i}\n" for i in range(1, 6))


@pytest.mark.req("SBX-41", "D4")
def test_pages_are_at_most_64_kib_never_split_a_character_and_cursors_are_byte_offsets(box: Box) -> None:
    outcome = box.run("python3 -c \"print('中文😀x' * 40000, end='')\"", wait=False)
    cursor, text = 0, ""
    while True:
        page = box.output(outcome["exec_id"], cursor, 5000).json()
        part = "".join(piece for _, piece in page["pieces"])
        assert len(part.encode()) <= wire.MAX_PAGE
        assert page["start"] == cursor
        assert page["next"] == cursor + len(part.encode())
        cursor, text = page["next"], text + part
        if page["exit_code"] is not None and not page["has_more"]:
            break
    assert text == "中文😀x" * 40000
    assert page["total"] == len(text.encode())
    middle = box.output(outcome["exec_id"], 11 * 1000, 0).json()
    assert middle["pieces"][0][1].startswith("中文😀x")
    assert box.output(outcome["exec_id"], 10**9).json()["next"] == page["total"]


@pytest.mark.req("SBX-42", "PF-C4")
def test_the_log_is_bounded_on_disk_and_says_what_was_dropped() -> None:
    with running_box(HANDRAIL_SANDBOX_RING=str(256 * 1024)) as box:
        exec_id = box.run("seq 1 400000", wait=False)["exec_id"]
        page, _ = box.read_all(exec_id)
        total = sum(len(str(i)) + 1 for i in range(1, 400001))
        assert page["total"] == total
        if os.geteuid() == 0:
            used = sum(file.stat().st_size for file in (box.data / "sandbox" / "exec" / exec_id).iterdir())
            assert used <= 256 * 1024 + 4096
        first = box.output(exec_id, 0).json()
        assert first["output_truncated"] is True
        assert first["start"] > 0
        assert first["truncated"] is True
        page, pieces = box.read_all(exec_id)
        text = "".join(piece for _, piece in pieces)
        assert text.endswith("399999\n400000\n")
        assert len(text.encode()) == total - first["start"]
        # alternating streams cost index entries: bounded all the same
        exec_id = box.run("for ((i=0; i<20000; i++)); do echo o; echo e >&2; done", wait=False, timeout_ms=60000)["exec_id"]
        page, pieces = box.read_all(exec_id)
        assert page["total"] == 80000
        if os.geteuid() == 0:
            assert sum(file.stat().st_size for file in (box.data / "sandbox" / "exec" / exec_id).iterdir()) <= 256 * 1024 + 4096


@pytest.mark.req("SBX-42", "PF-C4", "PF-C5")
def test_a_flood_costs_no_memory_when_nobody_reads(box: Box) -> None:
    assert box.process is not None
    before = rss(box.process.pid)
    exec_id = box.run("head -c 200M /dev/zero | tr '\\0' 'x' | fold -w 100", wait=False, timeout_ms=60000)["exec_id"]
    box.output(exec_id, 0, 1000)  # one page, then the reader stalls
    page: dict[str, Any] = {"exit_code": None}
    while page["exit_code"] is None:
        page = box.output(exec_id, 10**12, 5000).json()
        assert rss(box.process.pid) - before < 20 * 1024 * 1024
    assert page["exit_code"] == 0
    assert page["total"] > 200 * 1024 * 1024
    view, pieces = box.read_all(exec_id)
    assert sum(len(text) for _, text in pieces) == view["total"] - box.output(exec_id, 0).json()["start"]


def rss(pid: int) -> int:
    return int((Path("/proc") / str(pid) / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.req("SBX-43", "D1", "PF-C4")
def test_the_answer_of_a_waited_run_is_bounded_and_says_so(box: Box) -> None:
    outcome = box.run("head -c 6000000 /dev/zero | tr '\\0' 'a'; echo small >&2")
    assert len(outcome["stdout"]) == wire.WAIT_OUTPUT
    assert (outcome["stdout_truncated"], outcome["stderr_truncated"], outcome["truncated"]) == (True, False, True)
    assert (outcome["stderr"], outcome["exit_code"]) == ("small\n", 0)


@pytest.mark.req("SBX-44")
def test_sixty_commands_at_once_each_keep_their_own_output() -> None:
    with running_box(HANDRAIL_SANDBOX_COMMANDS="64") as box, concurrent.futures.ThreadPoolExecutor(60) as pool:
        results = list(pool.map(lambda n: box.run(f"for i in 1 2 3; do echo {n}-$i; sleep .05; done"), range(60)))
    assert [result["stdout"] for result in results] == ["".join(f"{n}-{i}\n" for i in (1, 2, 3)) for n in range(60)]


@pytest.mark.req("SBX-44", "D3")
def test_the_list_shows_running_commands_with_their_secrets_masked(box: Box) -> None:
    exec_id = box.run("API_TOKEN=hunter2-hunter2 sleep 20", wait=False)["exec_id"]
    row = next(row for row in box.list() if row["exec_id"] == exec_id)
    assert "hunter2" not in row["command"]
    assert "sleep 20" in row["command"]
    assert row["state"] == "running"
    box.stop(exec_id)
    assert exec_id not in [row["exec_id"] for row in box.list()]
