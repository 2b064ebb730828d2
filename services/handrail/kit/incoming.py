"""A file that arrives in pieces: nothing of it is seen before its last byte, and what it replaces stays whole until then."""

from __future__ import annotations

import hashlib
import os
from typing import Self

from handrail.kit.component_walk import Spot
from handrail.kit.errors import AlreadyExists, NotAFile, RootChanged, from_os
from handrail.kit.files import Version, Written, existing, make_parents
from handrail.kit.locks import entry_lock
from handrail.kit.paths import Location, Scope
from handrail.kit.pending import Pending


class Incoming:
    """A write of unknown length to one place. Blocking; not for two threads at once. `close` it in any case."""

    def __init__(self, scope: Scope, location: Location) -> None:
        """Missing directories are created. Raises NotAFile, UnsupportedTarget, OutOfBounds, ... before a byte is taken."""
        self._scope = scope
        self._location = location
        self._hash = hashlib.sha256()
        self.size = 0
        make_parents(scope, location)
        with scope.entry(location, follow=True) as spot:
            if spot.name == b".":
                raise NotAFile(location.path)
            existing(spot, location.path)
            self._dir = os.dup(spot.dir_fd)
        try:
            self._pending = Pending(self._dir)
        except OSError as exc:
            os.close(self._dir)
            raise from_os(exc, location.path) from exc

    def write(self, data: bytes | memoryview) -> None:
        """Append. Raises NoSpace, ..."""
        try:
            self._pending.write(data)
        except OSError as exc:
            raise from_os(exc, self._location.path) from exc
        self._hash.update(data)
        self.size += len(data)

    @property
    def directory(self) -> int:
        """The open directory that it will lie in."""
        return self._dir

    @property
    def sha256(self) -> str:
        """Of what has arrived, as hex."""
        return self._hash.hexdigest()

    def commit(self, *, exclusive: bool = False) -> Written:
        """Put it in its place. With `exclusive` AlreadyExists when something is there; `commit_as` may try another name then.

        RootChanged when the directory was replaced meanwhile.
        """
        return self.commit_as(self._location, exclusive=exclusive)

    def commit_as(self, location: Location, *, exclusive: bool) -> Written:
        """`commit` to another name in the same directory."""
        try:
            with self._scope.entry(location, follow=not exclusive) as spot, entry_lock(spot):
                self._same_directory(spot)
                old = None if exclusive else existing(spot, location.path)
                self._pending.settle(old)
                info = self._pending.publish(spot, new=old is None, exclusive=exclusive)
        except FileExistsError as exc:
            raise AlreadyExists(location.path) from exc
        except OSError as exc:
            raise from_os(exc, location.path) from exc
        return Written(self.size, old is None, Version.of(info))

    def _same_directory(self, spot: Spot) -> None:
        """The bytes lie in the directory that was resolved at the start: another one now means that somebody moved it."""
        now, then = os.fstat(spot.dir_fd), os.fstat(self._dir)
        if (now.st_dev, now.st_ino) != (then.st_dev, then.st_ino):
            raise RootChanged(self._location.path)

    def close(self) -> None:
        """Let go; what was not committed is gone."""
        self._pending.close()
        os.close(self._dir)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
