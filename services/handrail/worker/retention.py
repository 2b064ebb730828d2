"""Retention: what has ended is deleted after a while, in bounded steps. Running it twice deletes nothing twice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from handrail.store import approvals, jobs
from handrail.worker.jobs import Run

KIND = "retention"
PAIRING_KEEP_S = 3600.0  # an old code gets "expired" and not "unknown" for an hour
What = Literal["jobs", "pairings", "sessions"]
TABLES: tuple[What, ...] = ("pairings", "sessions", "jobs")


def retention(run: Run) -> Mapping[str, object]:
    """{table: rows deleted}."""
    context = run.context
    deleted: dict[str, object] = {}
    for table in TABLES:
        count = 0
        while True:
            now = context.clock.now()
            some = context.loop.run(jobs.delete_old(context.pool, table, now=now, days=context.retention_days, keep_s=PAIRING_KEEP_S))
            count += some
            run.step({**deleted, table: count})
            if some < jobs.BATCH:
                break
        deleted[table] = count
    deleted["approvals"] = context.loop.run(approvals.delete_old(context.pool, now=context.clock.now(), days=context.retention_days))
    return deleted
