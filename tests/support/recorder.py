"""Real bash in an empty directory, with a PATH of programs that only write down that they were started."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

from tests.support.shellgen import NAMES

REAL = ("bash", "sh", "env", "timeout", "nice", "nohup", "stdbuf", "setsid", "xargs", "find", "cat")
LIMIT_S = 5


class Recorder:
    """`started(text)`: the names of the programs that bash started for it."""

    def __init__(self, root: Path) -> None:
        self._path, self._log, self._work = root / "bin", root / "log", root / "work"
        self._path.mkdir()
        self._work.mkdir()
        stub = self._path / "stub"
        stub.write_text(f'#!/bin/sh\nprintf "%s\\n" "${{0##*/}}" >> {self._log}\n', encoding="utf-8")
        stub.chmod(0o755)
        for number in range(1, NAMES + 1):
            (self._path / f"c{number}").symlink_to(stub)
        for name in REAL:
            found = shutil.which(name)
            if found is None:
                raise RuntimeError(f"{name} is not installed")
            (self._path / name).symlink_to(found)

    def started(self, text: str) -> set[str]:
        """Runs `text`; what takes longer than LIMIT_S is stopped."""
        self._log.write_text("", encoding="utf-8")
        environment = {"PATH": str(self._path), "HOME": str(self._work), "LC_ALL": "C.UTF-8"}
        child = subprocess.Popen(
            [str(self._path / "bash"), "--noprofile", "--norc", "-c", text],
            cwd=self._work,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            child.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
        return set(self._log.read_text(encoding="utf-8").split())
