"""The audit log of one process.

Every record takes the same road (`pipeline`): one line in the local journal, hash-chained and safe from SIGKILL, then in
batches the table, then the file of the day and the terminal. `effect` waits until its row is committed, and all effects
that wait at the same moment share one commit. `read` and `outcome` return once the line is in the journal.

What a killed process left in its journal is brought to the table and the files by the next one that starts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import structlog

from handrail.api.audit.channels import Channels
from handrail.api.audit.checkpoints import Checkpoints
from handrail.api.audit.events import AuditEvent
from handrail.api.audit.pipeline import Pipeline
from handrail.api.audit.query import Logs
from handrail.api.audit.record import fields_of, timestamp
from handrail.api.audit.recovery import recover
from handrail.api.audit.shapes import record_id
from handrail.api.audit.verify import Report, verify
from handrail.contract.errors import AuditUnavailable, HandrailError, Lang
from handrail.kit.clock import SYSTEM, Clock
from handrail.kit.droplines import DropLines
from handrail.kit.journal import Entry, Journal
from handrail.store.audit import Appender
from handrail.store.pool import Pool

log = structlog.get_logger("handrail.audit")
EFFECT_S = 10.0  # patience for a commit
MAX_BACKLOG = 20_000  # records not yet in the table (about 2 KB of memory each); then reads are refused too
CHECKPOINT_S = 60.0


class Audit:
    """One instance a process. `start` takes over orphaned journals and begins to write; `stop` leaves nothing behind."""

    def __init__(  # noqa: PLR0913 - all by keyword, each one a place or a part
        self,
        *,
        database_url: str,
        pool: Pool,
        audit_pool: Pool,
        journal_dir: Path,
        log_dir: Path,
        keys: Mapping[str, object],
        lang: Lang = "en",
        clock: Clock = SYSTEM,
        terminal: DropLines | None = None,
    ) -> None:
        """`database_url` is the writing role's, `keys` the parsed `audit.json`.

        Raises OSError when the journal cannot be opened, ValueError when the keys are not Ed25519.
        """
        self._database_url = database_url
        self._journal_dir = journal_dir
        self._clock = clock
        self._audit_pool = audit_pool
        journal = Journal(journal_dir)
        self.writer = journal.writer
        self._appender = Appender(database_url, journal.writer)
        self._channels = Channels(log_dir, lang=lang, terminal=terminal)
        self._pipeline = Pipeline(journal, self._appender, self._channels, clock)
        self.logs = Logs(flush=self.flush, pool=pool, audit_pool=audit_pool, clock=clock)
        self.checkpoints = Checkpoints(journal.writer, keys, audit_pool, self._appender, self._channels, clock)
        self._signer: asyncio.Task[None] | None = None
        self._closed = False

    async def start(self) -> None:
        """Bring over what killed processes left, then begin. Raises StoreUnavailable, OSError."""
        today = timestamp(self._clock.now())[:10]
        await recover(self._journal_dir, self._database_url, self._channels, today)
        self._pipeline.start()
        self._signer = asyncio.create_task(self._sign(), name="audit-checkpoints")

    async def stop(self) -> None:
        """Write everything, sign a last checkpoint, close. What cannot be written stays in the journal for the next start."""
        if self._signer is not None:
            self._signer.cancel()
            await asyncio.gather(self._signer, return_exceptions=True)
        await self._pipeline.stop()
        self._closed = True
        on_disk = self._pipeline.backlog == 0 and await self._checkpoint()
        await self._appender.close()
        self._pipeline.close(on_disk=on_disk)
        self._channels.close()

    async def effect(self, event: AuditEvent) -> str:
        """Commit the record before its effect; its id. Raises AuditUnavailable, and then the effect must not happen."""
        entry = self._append(event)
        try:
            async with asyncio.timeout(EFFECT_S):
                await self._pipeline.committed(entry.seq)
        except (TimeoutError, HandrailError) as exc:
            # the line is in the journal and will reach the table one day: say that nothing came of it
            self._abandon(event, entry)
            raise AuditUnavailable from exc
        return record_id(self.writer, entry.seq)

    def read(self, event: AuditEvent) -> None:
        """Append the record to the journal. Raises AuditUnavailable, and then nothing may be answered."""
        if self._pipeline.backlog >= MAX_BACKLOG:
            raise AuditUnavailable
        self._append(event)

    async def outcome(self, event: AuditEvent) -> None:
        """What came of an effect: in the journal when this returns. Raises AuditUnavailable."""
        self._append(event)

    async def flush(self) -> None:
        """Everything recorded so far is in the table. Raises StoreUnavailable."""
        await self._pipeline.flush()

    async def verify(self) -> Report:
        """Whether the whole log is as it was written, by all writers. Raises StoreUnavailable."""
        await self.flush()
        return await verify(self._audit_pool, self.checkpoints.public_keys, self._channels)

    async def ready(self) -> None:
        """Health: raises StoreUnavailable when records do not reach the table."""
        await self.flush()

    def _append(self, event: AuditEvent) -> Entry:
        if self._closed:
            raise AuditUnavailable
        try:
            return self._pipeline.append(fields_of(event, self._clock.now()))
        except OSError as exc:
            log.error("the audit journal cannot be written", error=str(exc))  # noqa: TRY400 - the reason is in the text
            raise AuditUnavailable from exc

    def _abandon(self, event: AuditEvent, entry: Entry) -> None:
        details: dict[str, object] = {"record": record_id(self.writer, entry.seq), "status": "not_done"}
        try:
            self._append(replace(event, action="abandoned", level="error", details=details))
        except AuditUnavailable:
            log.warning("an abandoned effect could not be recorded", record=details["record"])

    async def _sign(self) -> None:
        while True:
            await asyncio.sleep(CHECKPOINT_S)
            await self._checkpoint()

    async def _checkpoint(self) -> bool:
        """Sign one. True when everything that was committed before is on the server's disk."""
        try:
            return await self.checkpoints.sign() > 0
        except (HandrailError, OSError) as exc:
            log.warning("an audit checkpoint could not be written", error=str(exc)[:200])
            return False
