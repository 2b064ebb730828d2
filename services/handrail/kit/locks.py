"""Locks by directory entry within this process: a check of a file's version and its replacement are one step."""

from __future__ import annotations

import os
import threading

from handrail.kit.component_walk import Spot

STRIPES = 64
_LOCKS = tuple(threading.Lock() for _ in range(STRIPES))


def entry_lock(spot: Spot) -> threading.Lock:
    """The lock of the entry. Two entries may share one; nobody holds two at a time."""
    info = os.fstat(spot.dir_fd)
    return _LOCKS[hash((info.st_dev, info.st_ino, spot.name)) % STRIPES]
