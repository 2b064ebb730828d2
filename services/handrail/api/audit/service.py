"""The audit log of one process.

Every record takes the same road: one line in the local journal (durable, chained), then in batches the table, then the
file of the day and the terminal. `effect` waits for the table's commit; all effects that wait at the same moment share
one. `read` and `outcome` return once the line is in the journal.

What a killed process left in its journal is brought to the table and the files by the next one that starts.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from handrail.api.audit.channels import Channels
from handrail.api.audit.checkpoints import Checkpoints
from handrail.api.audit.events import AuditEvent
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

if TYPE_CHECKING:
    from collections.abc import Mapping

log = structlog.get_logger("handrail.audit")
BATCH = 1000  # rows of one commit
LINGER_S = 0.1  # how long a read's record may wait for company
EFFECT_S = 10.0  # patience for a commit
RETRY_S = 0.5
MAX_WAITING = 100_000  # records not yet in the table; then reads are refused too
CHECKPOINT_S = 60.0


class Audit:
    """One instance a process. `start` takes over orphaned journals and begins to write; `stop` leaves nothing behind."""

    def __init__(
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
        """`keys` is the parsed `audit.json`. Raises OSError when the journal cannot be opened."""
        self._clock = clock
        self._database_url = database_url
        self._journal_dir = journal_dir
        self._audit_pool = audit_pool
        self._journal = Journal(journal_dir)
        self._appender = Appender(database_url, self._journal.writer)
        self._channels = Channels(log_dir, lang=lang, terminal=terminal)
        self.logs = Logs(flush=self.flush, pool=pool, audit_pool=audit_pool, clock=clock)
        self.checkpoints = Checkpoints(self._journal.writer, keys, audit_pool, self._appender, self._channels, clock)
        self._waiting: deque[Entry] = deque()  # in the journal, not in the table
        self._unkept: deque[Entry] = deque()  # in the table, not in the file of the day
        self._committed = 0
        self._commits: list[tuple[int, asyncio.Future[None]]] = []
        self._wake = asyncio.Event()
        self._urgent = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._stored = asyncio.Event()
        self._stopping = False
        self._closed = False

    @property
    def writer(self) -> str:
        """This process's chain."""
        return self._journal.writer

    async def start(self) -> None:
        """Bring over what killed processes left. Raises StoreUnavailable, OSError."""
        await recover(self._journal_dir, self._database_url, self._channels, self._today())
        self._tasks = [asyncio.create_task(job(), name=f"audit{job.__name__}") for job in (self._write, self._keep, self._sign)]

    async def stop(self) -> None:
        """Write everything, sign a last checkpoint, close. What cannot be written stays in the journal for the next start."""
        self._stopping = True
        for event in (self._wake, self._urgent):
            event.set()
        if self._tasks:
            writer, keeper, signer = self._tasks
            signer.cancel()
            await asyncio.wait([writer], timeout=EFFECT_S)
            self._stored.set()
            await asyncio.wait([keeper], timeout=EFFECT_S)
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
        self._closed = True
        if not self._waiting:
            await self._checkpoint()
        await self._appender.close()
        self._journal.close(stored=self._committed - len(self._unkept))
        self._channels.close()

    async def effect(self, event: AuditEvent) -> str:
        """Commit the record before its effect; its id. Raises AuditUnavailable, and then the effect must not happen."""
        entry = self._append(event)
        try:
            async with asyncio.timeout(EFFECT_S):
                await self._commit(entry.seq)
        except (TimeoutError, HandrailError) as exc:
            # the line is in the journal and will reach the table one day: say that nothing came of it
            self._abandon(event, entry)
            raise AuditUnavailable from exc
        return record_id(self._journal.writer, entry.seq)

    def read(self, event: AuditEvent) -> None:
        """Append the record to the journal. Raises AuditUnavailable, and then nothing may be answered."""
        if len(self._waiting) >= MAX_WAITING:
            raise AuditUnavailable
        self._append(event)

    async def outcome(self, event: AuditEvent) -> None:
        """What came of an effect: in the journal when this returns. Raises AuditUnavailable."""
        self._append(event)

    async def flush(self) -> None:
        """Everything recorded so far is in the table. Raises StoreUnavailable."""
        if self._journal.seq > self._committed:
            await self._commit(self._journal.seq)

    async def verify(self) -> Report:
        """Whether the whole log is as it was written, by all writers. Raises StoreUnavailable."""
        await self.flush()
        return await verify(self._audit_pool, self.checkpoints.public_keys, self._channels)

    async def ready(self) -> None:
        """Health: raises StoreUnavailable or OSError when a record could not be written now."""
        await self.flush()
        self._journal.sync()

    def _append(self, event: AuditEvent) -> Entry:
        if self._closed:
            raise AuditUnavailable
        try:
            entry = self._journal.append(fields_of(event, self._clock.now()))
        except OSError as exc:
            log.error("the audit journal cannot be written", error=str(exc))  # noqa: TRY400 - the reason is in the text
            raise AuditUnavailable from exc
        self._waiting.append(entry)
        if not self._wake.is_set():
            self._wake.set()
        return entry

    def _abandon(self, event: AuditEvent, entry: Entry) -> None:
        details: dict[str, object] = {"record": record_id(self._journal.writer, entry.seq), "status": "not_done"}
        try:
            self._append(replace(event, action="abandoned", level="error", details=details))
        except AuditUnavailable:
            log.warning("an abandoned effect could not be recorded", record=details["record"])

    async def _commit(self, seq: int) -> None:
        if seq <= self._committed:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._commits.append((seq, future))
        self._wake.set()
        self._urgent.set()
        await future

    async def _write(self) -> None:
        """The writer task: journal to table, in batches."""
        while not (self._stopping and not self._waiting):
            await self._wake.wait()
            if not self._urgent.is_set():
                await self._linger()
            self._wake.clear()
            self._urgent.clear()
            while self._waiting and await self._store_batch():
                pass
            if self._waiting:
                if self._stopping:
                    return
                await asyncio.sleep(RETRY_S)
                self._wake.set()

    async def _linger(self) -> None:
        try:
            async with asyncio.timeout(LINGER_S):
                await self._urgent.wait()
        except TimeoutError:
            return

    async def _store_batch(self) -> bool:
        batch = [self._waiting[index] for index in range(min(BATCH, len(self._waiting)))]
        try:
            await self._appender.append([entry.line for entry in batch])
        except HandrailError as exc:
            self._fail_commits(exc)
            return False
        for _ in batch:
            self._waiting.popleft()
        self._unkept.extend(batch)
        self._committed = batch[-1].seq
        self._resolve_commits()
        self._stored.set()
        self._channels.show(batch)
        return True

    async def _keep(self) -> None:
        """The keeper task: what is in the table goes to the file of its day. A slow disk delays no commit."""
        while not (self._stopping and not self._unkept):
            await self._stored.wait()
            self._stored.clear()
            while self._unkept and await self._keep_batch():
                pass
            if self._unkept:
                if self._stopping:
                    return
                await asyncio.sleep(RETRY_S)
                self._stored.set()

    async def _keep_batch(self) -> bool:
        batch = list(self._unkept)
        try:
            await asyncio.to_thread(self._channels.keep, batch, today=self._today())
        except OSError as exc:
            log.error("the audit log file cannot be written", error=str(exc))  # noqa: TRY400 - the reason is in the text
            return False
        for _ in batch:
            self._unkept.popleft()
        self._journal.release(batch[-1].seq)
        return True

    def _resolve_commits(self) -> None:
        due = [(seq, future) for seq, future in self._commits if seq <= self._committed]
        self._commits = [(seq, future) for seq, future in self._commits if seq > self._committed]
        for _, future in due:
            if not future.done():
                future.set_result(None)

    def _fail_commits(self, exc: HandrailError) -> None:
        failed, self._commits = self._commits, []
        for _, future in failed:
            if not future.done():
                future.set_exception(exc)

    async def _sign(self) -> None:
        while True:
            await asyncio.sleep(CHECKPOINT_S)
            await self._checkpoint()

    async def _checkpoint(self) -> None:
        try:
            await self.checkpoints.sign()
        except (HandrailError, OSError) as exc:
            log.warning("an audit checkpoint could not be written", error=str(exc)[:200])

    def _today(self) -> str:
        return timestamp(self._clock.now())[:10]
