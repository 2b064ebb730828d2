"""A real bash whose PATH holds only stubs that write down their name: what a command string really starts."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Self

from handrail.jail import spawn
from tests.support.places import account, reachable_dir

# these do their work, so that what they start is seen
REAL = ("env", "xargs", "timeout", "nice", "nohup", "bash", "sh", "find", "stdbuf", "setsid")
STUB = '#!/bin/dash\ncase "$0" in *bash) ;; *) printf "%s\\0" "${0##*/}" >> "$RECORD" ;; esac\n'  # sourced, it is nobody's program
NOT_FOUND = '() { printf "%s\\0" "${1##*/}" >> "$RECORD"; }'
LIMIT_S = 3.0
PROGRAM = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")


class RecordingShell:
    """`started(command)`: the base names of everything that bash tried to start. Use as a context manager."""

    def __init__(self, programs: set[str]) -> None:
        self._programs = {name for name in programs if PROGRAM.fullmatch(name)} - set(REAL)
        self._count = 0

    def __enter__(self) -> Self:
        self._place = reachable_dir("hr-record-")
        self._base = self._place.__enter__()
        for name in ("path", "work", "log"):
            (self._base / name).mkdir(mode=0o777)
            (self._base / name).chmod(0o777)
        stub = self._base / "stub"
        stub.write_text(STUB, encoding="utf-8")
        stub.chmod(0o755)
        for name in self._programs:
            (self._base / "path" / name).symlink_to(stub)
        for name in REAL:
            (self._base / "path" / name).symlink_to(shutil.which(name) or f"/usr/bin/{name}")
        (self._base / "path").chmod(0o755)
        return self

    def __exit__(self, *args: object) -> None:
        self._place.__exit__(None, None, None)

    @property
    def directory(self) -> str:
        """Where the commands run."""
        return str(self._base / "work")

    def started(self, command: str) -> set[str] | None:
        """What ran; None when it did not come to an end in time."""
        self._count += 1
        log = self._base / "log" / str(self._count)
        log.touch()
        log.chmod(0o666)
        env = {
            "PATH": str(self._base / "path"),
            "HOME": self.directory,
            "RECORD": str(log),
            "LANG": "C.UTF-8",
            "BASH_FUNC_command_not_found_handle%%": NOT_FOUND,
        }
        done = spawn.run(
            ["/bin/bash", "--noprofile", "--norc", "-c", command], env=env, cwd=self.directory, account=account(), timeout_s=LIMIT_S
        )
        names = set(log.read_text(encoding="utf-8", errors="replace").split("\0")) - {""}
        log.unlink()
        self._clear()
        return None if done.timed_out else names

    def _clear(self) -> None:
        with os.scandir(self.directory) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    Path(entry.path).unlink()
