from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from handrail.cli import pidfile
from handrail.cli.pidfile import PidFile
from handrail.jail import procfs

RUN = Path("/run/x")


@pytest.mark.req("A11")
def test_one_holder_at_a_time_and_the_file_goes_with_it(tmp_path: Path) -> None:
    path = tmp_path / "pid"
    first = PidFile.take(path)
    assert first is not None
    owner = first.write("http://x", RUN)
    assert PidFile.take(path) is None
    assert pidfile.running(path) == owner
    assert path.stat().st_mode & 0o777 == 0o600
    first.release()
    assert not path.exists()
    second = PidFile.take(path)
    assert second is not None
    second.release()


@pytest.mark.req("A11")
@pytest.mark.parametrize("text", ["", "12345", "{", "[]", '{"pid": "x", "start": 1}', '{"pid": 1}', "\0" * 100])
def test_a_damaged_file_neither_blocks_nor_names_anybody(tmp_path: Path, text: str) -> None:
    path = tmp_path / "pid"
    path.write_text(text)
    assert pidfile.running(path) is None
    held = PidFile.take(path)
    assert held is not None
    held.release()


@pytest.mark.req("A11")
def test_a_process_that_got_the_pid_since_is_never_signalled(tmp_path: Path) -> None:
    stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        stat = procfs.read_stat(stranger.pid)
        assert stat is not None
        right = {"pid": stranger.pid, "start": stat.start, "boot": procfs.boot_id(), "address": "", "run": ""}
        path = tmp_path / "pid"
        for wrong in ({"start": stat.start - 1}, {"boot": "another-boot"}):
            path.write_text(json.dumps(right | wrong))
            assert pidfile.running(path) is None
            owner = pidfile.read(path)
            assert owner is not None
            assert owner.signal(signal.SIGKILL) is False
        assert stranger.poll() is None
        path.write_text(json.dumps(right))
        assert pidfile.running(path) is None  # nobody holds the lock: whoever that is, it is no instance of ours
        owner = pidfile.read(path)
        assert owner is not None
        assert owner.signal(signal.SIGKILL) is True
        assert stranger.wait(5) == -signal.SIGKILL
        assert pidfile.running(path) is None
    finally:
        stranger.kill()
        stranger.wait()


@pytest.mark.req("A11")
def test_the_lock_of_a_killed_holder_is_free_at_once(tmp_path: Path) -> None:
    path = tmp_path / "pid"
    code = f"""
import sys, time
from pathlib import Path
from handrail.cli.pidfile import PidFile
held = PidFile.take(Path({str(path)!r})); held.write("a", Path("/r")); print("held", flush=True); time.sleep(60)
"""
    holder = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    assert PidFile.take(path) is None
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    assert path.exists()  # the crash left it behind
    assert pidfile.running(path) is None
    held = PidFile.take(path)
    assert held is not None
    held.release()


def test_a_link_in_the_place_of_the_file_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("precious")
    (tmp_path / "pid").symlink_to(target)
    with pytest.raises(OSError, match="symbolic links"):
        PidFile.take(tmp_path / "pid")
    assert target.read_text() == "precious"
