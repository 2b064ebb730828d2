"""What /proc says about processes: identity that survives pid reuse, and who descends from whom. Standard library only."""

from __future__ import annotations

import os
from dataclasses import dataclass

# fields of /proc/<pid>/stat counted from the one after the command name (man 5 proc: state is field 3)
_STATE, _PPID, _PGRP, _SESSION, _START = 0, 1, 2, 3, 19


@dataclass(frozen=True, slots=True)
class Stat:
    """One process at one moment. `start` is clock ticks since boot: pid + start (+ boot id) names a process for good."""

    pid: int
    ppid: int
    pgrp: int
    session: int
    start: int
    state: str  # R, S, D, T, Z ...


def read_stat(pid: int) -> Stat | None:
    """The process, or None when it is gone. A zombie still has a stat (state Z)."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            raw = file.read(4096)
    except OSError:
        return None
    # the command name may hold anything, blanks and brackets too: it ends at the last ")"
    fields = raw[raw.rfind(b")") + 2 :].split()
    if len(fields) <= _START:
        return None
    state = fields[_STATE].decode("ascii", "replace")
    return Stat(pid, int(fields[_PPID]), int(fields[_PGRP]), int(fields[_SESSION]), int(fields[_START]), state)


def is_same(pid: int, start: int) -> bool:
    """Whether `pid` still is the live process that started at `start`. A zombie is not alive."""
    stat = read_stat(pid)
    return stat is not None and stat.start == start and stat.state not in ("Z", "X")


def boot_id() -> str:
    """The kernel's id of this boot; with pid and start ticks it names a process across restarts."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def snapshot() -> dict[int, Stat]:
    """Every process that can be seen now, by pid."""
    out: dict[int, Stat] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            stat = read_stat(int(name))
            if stat is not None:
                out[stat.pid] = stat
    return out


def children(pid: int) -> tuple[int, ...]:
    """Direct children by the kernel's own list; falls back to a walk where the kernel has no such file."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb", buffering=0) as file:
            return tuple(int(word) for word in file.read(65536).split())
    except OSError:
        return tuple(stat.pid for stat in snapshot().values() if stat.ppid == pid)


def descendants(root: int) -> tuple[Stat, ...]:
    """All live or stopped processes below `root` (not `root` itself), parents before their children."""
    table = snapshot()
    below: dict[int, list[Stat]] = {}
    for stat in table.values():
        below.setdefault(stat.ppid, []).append(stat)
    found: list[Stat] = []
    queue = [root]
    seen = {root}
    while queue:
        for stat in below.get(queue.pop(), ()):
            if stat.pid not in seen:
                seen.add(stat.pid)
                found.append(stat)
                queue.append(stat.pid)
    return tuple(found)
