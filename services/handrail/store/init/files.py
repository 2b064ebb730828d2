"""Secret files: written whole or not at all, 0600, in a 0700 directory of the zone that may read them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

ZONES = ("init", "api", "worker", "sandbox")


@dataclass(frozen=True, slots=True)
class Vault:
    """The zones' directories below `root`. `owner` (uid, gid) gets every file when the writer may give files away."""

    root: Path
    owner: tuple[int, int] | None = None

    def prepare(self) -> None:
        """Create the zone directories. Raises OSError."""
        for zone in ZONES:
            path = self.root / zone
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if path.stat().st_uid == os.geteuid():
                path.chmod(0o700)
            self._give(path)

    def read(self, zone: str, name: str) -> str | None:
        """The stripped text, or None when there is no such file."""
        try:
            return (self.root / zone / name).read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            return None

    def write(self, zone: str, name: str, text: str) -> bool:
        """Put `text` there if it is not there already; True when the file changed. Raises OSError."""
        if self.read(zone, name) == text.strip():
            return False
        path = self.root / zone / name
        part = path.with_name(f".{name}.{os.getpid()}")
        fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            with os.fdopen(fd, "w", encoding="utf-8") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            self._give(part)
            part.rename(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        self._sync(path.parent)
        return True

    def _give(self, path: Path) -> None:
        if self.owner is not None and os.geteuid() == 0:
            os.chown(path, *self.owner)

    @staticmethod
    def _sync(directory: Path) -> None:
        fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
