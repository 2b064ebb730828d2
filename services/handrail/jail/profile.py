"""What one command gets: a value, made by the sandbox service, sent to the shim as its job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Profile:
    """The jail of one command. All paths absolute and without links.

    `writable` are the work root, extra roots, HOME and TMPDIR; `read_only` comes on top of the system's directories.
    """

    writable: tuple[str, ...]
    read_only: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """One command: what to run, where, in which jail, and where its session's files go."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    directory: str  # of the session: ring log and exit record
    profile: Profile
    timeout_ms: int
    ring_bytes: int

    def as_message(self) -> dict[str, object]:
        """The job as the shim reads it."""
        return {
            "argv": list(self.argv),
            "env": dict(self.env),
            "cwd": self.cwd,
            "directory": self.directory,
            "timeout_ms": self.timeout_ms,
            "ring_bytes": self.ring_bytes,
            "writable": list(self.profile.writable),
            "read_only": list(self.profile.read_only),
        }
