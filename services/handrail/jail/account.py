"""The system account that services and commands run as when Handrail was started by root."""

from __future__ import annotations

import os
import pwd
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Account:
    """A user to drop to. `groups` are its supplementary groups (initgroups)."""

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]


def look_up(name: str) -> Account | None:
    """The account called `name`, or None when the system has none."""
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        return None
    return Account(name, entry.pw_uid, entry.pw_gid, tuple(os.getgrouplist(name, entry.pw_gid)))
