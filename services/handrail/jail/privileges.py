"""Giving up every privilege for good. Standard library only: the fork server imports this."""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
from collections.abc import Sequence

from handrail.jail import syscalls

CAPABILITY_VERSION_3 = 0x20080522


def drop_bounding_set() -> None:
    """Empty the bounding and ambient sets, so that no later exec can gain a capability.

    Needs CAP_SETPCAP; without it there is nothing to drop.
    """
    with contextlib.suppress(OSError):
        syscalls.prctl(syscalls.PR_CAP_AMBIENT, syscalls.PR_CAP_AMBIENT_CLEAR_ALL)
    for capability in range(64):
        try:
            if syscalls.prctl(syscalls.PR_CAPBSET_READ, capability) == 1:
                syscalls.prctl(syscalls.PR_CAPBSET_DROP, capability)
        except OSError:
            # EINVAL: past the last capability; EPERM: an ordinary user, whose own sets are empty anyway
            return


def become_in_thread(uid: int, gid: int, groups: Sequence[int]) -> None:
    """`become` for the calling thread alone: the C library's own functions would change every thread of the process."""
    if uid == 0 or gid == 0:
        raise ValueError("commands never run as root")
    setgroups, setresgid, setresuid = syscalls.NR_IDENTITY[syscalls.MACHINE]
    raw = ctypes.create_string_buffer(struct.pack(f"={len(groups)}I", *groups), 4 * len(groups) or 1)
    syscalls.syscall(setgroups, len(groups), raw)
    syscalls.syscall(setresgid, gid, gid, gid)
    syscalls.syscall(setresuid, uid, uid, uid)


def become(uid: int, gid: int, groups: Sequence[int]) -> None:
    """Switch to an ordinary user. Raises OSError; refuses uid 0 (ValueError)."""
    if uid == 0 or gid == 0:
        raise ValueError("commands never run as root")
    os.setgroups(groups)
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


def drop_capabilities() -> None:
    """Empty the effective, permitted and inheritable sets. Raises OSError."""
    header = ctypes.create_string_buffer(struct.pack("=Ii", CAPABILITY_VERSION_3, 0), 8)
    data = ctypes.create_string_buffer(struct.pack("=6I", *([0] * 6)), 24)
    syscalls.syscall(syscalls.NR_CAPSET[syscalls.MACHINE], header, data)


def no_new_privileges() -> None:
    """Programs with a setuid bit and or file capabilities gain nothing from here on. Raises OSError."""
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
