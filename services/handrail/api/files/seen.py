"""What each caller has seen of which file: the base of read-before-write. In memory, bounded; forgetting only costs an automatic read."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

from handrail.api.context import Actor
from handrail.kit.paths import Location
from handrail.kit.versions import FileVersion

MOST = 20_000  # files of all callers
Key = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Sight:
    """The version that a caller saw last, and whether it saw all of it."""

    version: FileVersion
    whole: bool


class Seen:
    """By user, workspace, device and path. Safe to use from several threads."""

    def __init__(self) -> None:
        self._sights: OrderedDict[Key, Sight] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, actor: Actor, location: Location) -> Sight | None:
        """The last sight, None when there was none."""
        with self._lock:
            return self._sights.get(_key(actor, location.path))

    def put(self, actor: Actor, location: Location, version: FileVersion, *, whole: bool) -> None:
        """The caller saw this version; parts of one version that was seen whole do not make it partial."""
        key = _key(actor, location.path)
        with self._lock:
            old = self._sights.pop(key, None)
            whole = whole or (old is not None and old.whole and old.version.matches(version))
            self._sights[key] = Sight(version, whole)
            if len(self._sights) > MOST:
                self._sights.popitem(last=False)

    def forget(self, actor: Actor, location: Location, *, below: bool = False) -> None:
        """The file is not there any more; with `below`, nothing under it either."""
        with self._lock:
            self._sights.pop(_key(actor, location.path), None)
            if below:
                prefix = location.path + "/"
                for key in [key for key in self._sights if key[3].startswith(prefix)]:
                    del self._sights[key]


def _key(actor: Actor, path: str) -> Key:
    return actor.user_id, actor.workspace.id, actor.identity.device_id, path
