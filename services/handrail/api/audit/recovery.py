"""Bring over what killed writers left: journal to table (idempotent) and to the files (each line once)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import structlog

from handrail.api.audit.channels import Channels
from handrail.kit.journal import Entry, Orphan, orphans
from handrail.store.audit import Appender

log = structlog.get_logger("handrail.audit")
BATCH = 1000


async def recover(journal_dir: Path, database_url: str, channels: Channels, today: str) -> int:
    """Take over every orphaned journal; how many records were in them. Raises StoreUnavailable, OSError.

    Records that a killed process had already put into the table or a file are recognised by writer and seq.
    """
    total = 0
    for orphan in orphans(journal_dir):
        try:
            total += await _take_over(orphan, database_url, channels, today)
        except BaseException:
            orphan.close()
            raise
        orphan.discard()
    return total


async def _take_over(orphan: Orphan, database_url: str, channels: Channels, today: str) -> int:
    entries = await asyncio.to_thread(lambda: list(orphan.entries()))
    if not entries:
        return 0
    appender = Appender(database_url, orphan.writer)
    try:
        for start in range(0, len(entries), BATCH):
            await appender.append([entry.line for entry in entries[start : start + BATCH]])
    finally:
        await appender.close()
    await asyncio.to_thread(_keep, orphan.writer, entries, channels, today)
    log.info("audit records of an interrupted process were taken over", writer=orphan.writer, records=len(entries))
    return len(entries)


def _keep(writer: str, entries: list[Entry], channels: Channels, today: str) -> None:
    days = sorted({entry.fields["ts"][:10] for entry in entries})
    kept = channels.last_kept(writer, days)
    channels.keep([entry for entry in entries if entry.seq > kept], today=today)
