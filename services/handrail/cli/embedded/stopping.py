"""The end: in order, bounded, nothing left."""

from __future__ import annotations

import os

from handrail.cli.embedded.member import Member, reap_orphans
from handrail.cli.embedded.signals import Signals
from handrail.jail import tree
from handrail.kit.clock import Clock

# the api drains for 5 s; together with the last sweep well under the promised 10 seconds
PHASES: dict[int, float] = {0: 5.6, 1: 1.5, 2: 2.0}  # phase -> seconds of patience before KILL
STEP_S = 0.05


def stop_all(members: list[Member], signals: Signals, clock: Clock) -> bool:
    """Stop every member phase by phase. False when some process could not be ended."""
    for phase, patience in sorted(PHASES.items()):
        group = [member for member in members if member.part.phase == phase]
        for member in group:
            member.ask_to_stop()
        deadline = clock.monotonic() + patience
        while any(member.running for member in group) and clock.monotonic() < deadline and not signals.force:
            signals.wait(STEP_S)
            reap_orphans(members)
        for member in group:
            member.kill()
    clean = tree.kill_below(os.getpid(), grace_s=0.0, reap=lambda: reap_orphans(members))
    reap_orphans(members)
    return clean
