from __future__ import annotations

import contextlib
import errno
import os
import threading
from pathlib import Path

import pytest

from handrail.kit.daylog import DayLog
from handrail.kit.droplines import DropLines
from tests.support.wait import until

DAY = "2026-03-01"


def numbered(count: int, day: str = DAY, size: int = 100) -> list[tuple[str, bytes]]:
    return [(day, f"{n:06d}".encode() + b"." * (size - 7) + b"\n") for n in range(count)]


@pytest.mark.req("N6", "PF-B21")
def test_a_full_file_becomes_a_part_and_nothing_is_lost(tmp_path: Path) -> None:
    log = DayLog(tmp_path, "agent", part_bytes=1000)
    written = numbered(95)
    for start in range(0, 95, 7):
        log.append(written[start : start + 7], today=DAY)
    assert list(log.lines(DAY)) == [line for _, line in written]
    files = sorted(path.name for path in tmp_path.glob("agent-*"))
    assert f"agent-{DAY}.log" in files
    assert len(files) == 10
    assert all(path.stat().st_size <= 1000 for path in tmp_path.glob("agent-*"))


@pytest.mark.req("N6", "PF-B21")
def test_thirty_days_are_kept_and_today_whatever_its_size(tmp_path: Path) -> None:
    log = DayLog(tmp_path, "agent", part_bytes=1000)
    for month, days in ((1, 31), (2, 28)):
        for day in range(1, days + 1):
            log.append(numbered(30, f"2026-{month:02d}-{day:02d}"), today=f"2026-{month:02d}-{day:02d}")
    log.append(numbered(500), today=DAY)
    days_left = log.days()
    assert days_left[0] == DAY
    assert days_left[-1] == "2026-01-31"
    assert len(days_left) == 30
    assert len(list(log.lines(DAY))) == 500


def test_other_files_in_the_directory_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "agent-1999-01-01.txt").write_text("mine")
    (tmp_path / "postgres.log").write_text("mine")
    DayLog(tmp_path, "agent").append(numbered(1), today=DAY)
    assert {path.name for path in tmp_path.iterdir()} >= {"agent-1999-01-01.txt", "postgres.log"}


def test_lines_of_two_days_in_one_batch_go_to_their_own_files(tmp_path: Path) -> None:
    log = DayLog(tmp_path, "agent")
    log.append([*numbered(2, "2026-02-28"), *numbered(3)], today=DAY)
    assert len(list(log.lines("2026-02-28"))) == 2
    assert len(list(log.lines(DAY))) == 3


def test_four_writers_at_once_tear_no_line(tmp_path: Path) -> None:
    def work(number: int) -> None:
        log = DayLog(tmp_path, "agent", part_bytes=5000)
        for n in range(60):
            log.append([(DAY, f"{number}-{n}-".encode() + bytes([97 + number]) * 90 + b"\n")] * 3, today=DAY)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = list(DayLog(tmp_path, "agent").lines(DAY))
    assert len(found) == 4 * 60 * 3
    assert all(line.endswith(b"\n") and len(set(line[line.rindex(b"-") + 1 : -1])) == 1 for line in found)


def test_a_full_disk_leaves_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = DayLog(tmp_path, "agent")
    log.append(numbered(2), today=DAY)
    real = os.write
    calls = 0

    def full(fd: int, data: bytes) -> int:
        nonlocal calls
        calls += 1
        if calls > 1:
            raise OSError(errno.ENOSPC, "full")
        return real(fd, data[:250])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="full"):
        log.append(numbered(5), today=DAY)
    monkeypatch.setattr(os, "write", real)
    assert [len(line) for line in log.lines(DAY)] == [100] * 4


def test_a_stuck_reader_never_blocks_and_is_told_how_much_it_missed() -> None:
    reader, writer = os.pipe()
    lines = DropLines(writer, capacity=50)
    for n in range(200):
        lines.put([f"{n:05d}".encode() + b"x" * 2000 + b"\n" for _ in range(10)])
    assert lines.dropped > 0
    received = b""
    os.set_blocking(reader, False)

    def read() -> bool:
        nonlocal received
        with contextlib.suppress(BlockingIOError):
            received += os.read(reader, 1 << 20)
        return b"were not shown" in received

    lines.put([b"again\n"])
    until(lambda: read() or (lines.put([b"more\n"]) or False), "the reader is told", 5)
    lines.close()
    os.close(writer)
    os.close(reader)


def test_a_closed_reader_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    lines = DropLines(writer)
    lines.put([b"x\n"])
    assert lines.drain(5)
    lines.close()
    os.close(writer)
