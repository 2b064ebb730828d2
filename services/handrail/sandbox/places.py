"""Directories: which roots and working directories a command may have, and the HOME and TMPDIR of its workspace."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable
from pathlib import Path

from handrail.sandbox.environment import Home
from handrail.sandbox.errors import BadDirectory

WORKSPACE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
# directories that no workspace may be, hold or lie in
SYSTEM = ("/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr", "/var/lib/dpkg")
PRIVATE = (".ssh", ".aws", ".gnupg", ".config/gh", ".kube", ".docker")


class Places:
    """Knows what is private on this machine."""

    def __init__(self, data_dir: Path, user_home: str, hidden: Iterable[Path] = ()) -> None:
        """`data_dir` and `hidden` are ours; `user_home` is the home of the account that we run as."""
        self._homes = data_dir / "homes"
        ours = [str(path) for path in (data_dir, *hidden)]
        private = [Path(user_home) / name for name in PRIVATE] if user_home not in ("", "/", "/nonexistent") else []
        # those that exist: a work root may well be an empty home directory
        found = [str(path) for path in private if path.exists()]
        self.private = tuple(dict.fromkeys(os.path.realpath(path) for path in (*ours, *found)))
        self._closed = tuple(dict.fromkeys((*self.private, *(os.path.realpath(path) for path in SYSTEM))))

    def check_root(self, root: str) -> str:
        """A directory that a command may write. Raises BadDirectory."""
        if not root.startswith("/") or "\0" in root or os.path.realpath(root) != root:
            raise BadDirectory(detail=f"{root!r} is not an absolute path without links")
        if root == "/" or any(_touches(root, other) for other in self._closed):
            raise BadDirectory(detail=f"{root!r} holds or lies in a protected directory")
        if not os.path.isdir(root) or not os.access(root, os.R_OK | os.W_OK | os.X_OK):
            raise BadDirectory(detail=f"{root!r} is not a directory that can be written")
        return root

    def grantable(self, roots: Iterable[str]) -> list[str]:
        """Those of `roots` that a command may write."""
        found: list[str] = []
        for root in roots:
            with contextlib.suppress(BadDirectory):
                found.append(self.check_root(root))
        return found

    def check_cwd(self, cwd: str, roots: Iterable[str]) -> str:
        """A directory below one of `roots`, links resolved. Raises BadDirectory. The child checks again where it really is."""
        if not cwd.startswith("/") or "\0" in cwd:
            raise BadDirectory(detail=f"{cwd!r} is not an absolute path")
        real = os.path.realpath(cwd)
        if not any(real == root or real.startswith(root + "/") for root in roots):
            raise BadDirectory(detail=f"{cwd!r} is outside the work root")
        if not os.path.isdir(real):  # False, where Path.is_dir() raises, for a name that is too long
            raise BadDirectory(detail=f"{cwd!r} is not a directory")
        return real

    def home_of(self, workspace: str) -> Home:
        """HOME and TMPDIR of a workspace, made when missing (0700). Raises BadDirectory for an id that is none."""
        if not WORKSPACE_ID.match(workspace):
            raise BadDirectory(detail="not a workspace id")
        base = self._homes / workspace
        home = Home(base / "home", base / "tmp")
        for path in (home.home, home.tmp):
            if not path.is_dir():
                path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return home


def _touches(path: str, other: str) -> bool:
    return path == other or path.startswith(other + "/") or other.startswith(path + "/")
