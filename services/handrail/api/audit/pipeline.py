"""The road of a record: journal -> table -> file of the day and terminal.

- `waiting`   in the journal, not in the table
- `volatile`  in the table, but not yet on the server's disk: a server that crashes now loses them, and they are appended again
- `unkept`    in the table, not in the file of the day

A record leaves the journal once it is in the file and on the server's disk. Commits do not wait for the disk (about 0.3 ms
instead of 1 to 4); once a second one question to the server tells how far its disk is.
"""

from __future__ import annotations

import asyncio
from collections import deque

import structlog

from handrail.api.audit.channels import Channels
from handrail.api.audit.record import timestamp
from handrail.contract.errors import HandrailError
from handrail.kit.clock import Clock
from handrail.kit.journal import Entry, Fields, Journal
from handrail.store.audit import Appender

log = structlog.get_logger("handrail.audit")
BATCH = 1000  # rows of one commit
LINGER_S = 0.1  # how long a record that nobody waits for may wait for company
RETRY_S = 0.5
HARDEN_S = 1.0
STOP_S = 10.0


class Pipeline:
    """One writer's records on their way. All methods belong to one event loop."""

    def __init__(self, journal: Journal, appender: Appender, channels: Channels, clock: Clock) -> None:
        self._journal = journal
        self._appender = appender
        self._channels = channels
        self._clock = clock
        self._waiting: deque[Entry] = deque()
        self._volatile: deque[Entry] = deque()
        self._unkept: deque[Entry] = deque()
        self._committed = 0  # every record up to here is in the table
        self._shown = 0  # every record up to here went on to file and terminal
        self._kept = 0
        self._hardened = 0
        self._commits: list[tuple[int, asyncio.Future[None]]] = []
        self._wake = asyncio.Event()
        self._urgent = asyncio.Event()
        self._stored = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._stopping = False
        self._written = False  # stopping, and the writer task has ended: nothing more comes to keep

    @property
    def backlog(self) -> int:
        """Records that are not in the table yet."""
        return len(self._waiting)

    def start(self) -> None:
        """Begin to move records."""
        self._tasks = [asyncio.create_task(job(), name=f"audit{job.__name__}") for job in (self._write, self._keep, self._harden)]

    async def stop(self) -> None:
        """Move everything on as far as it goes. What stays is in the journal."""
        self._stopping = True
        self._wake.set()
        self._urgent.set()
        if self._tasks:
            writer, keeper, hardener = self._tasks
            hardener.cancel()
            await asyncio.wait([writer], timeout=STOP_S)
            self._written = True
            self._stored.set()
            await asyncio.wait([keeper], timeout=STOP_S)
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def close(self, *, on_disk: bool) -> None:
        """Close the journal; with everything stored (`on_disk`: the server's disk has all that was committed) it is removed."""
        hardened = self._committed if on_disk else self._hardened
        self._journal.close(stored=min(hardened, self._kept))

    def append(self, fields: Fields) -> Entry:
        """One line in the journal. Raises OSError."""
        entry = self._journal.append(fields)
        self._waiting.append(entry)
        self._wake.set()
        return entry

    async def committed(self, seq: int) -> None:
        """Returns once the record is in the table. Raises StoreUnavailable when an attempt failed."""
        if seq <= self._committed:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._commits.append((seq, future))
        self._wake.set()
        self._urgent.set()
        await future

    async def flush(self) -> None:
        """Everything recorded so far is in the table. Raises StoreUnavailable."""
        await self.committed(self._journal.seq)

    async def _write(self) -> None:
        """The writer task: journal to table, in batches."""
        while not (self._stopping and not self._waiting):
            await self._wake.wait()
            if not self._urgent.is_set():
                await self._linger()
            self._wake.clear()
            self._urgent.clear()
            # up to here; what comes meanwhile waits for the next turn, so that a stream of reads makes large batches
            last = self._journal.seq
            while self._is_due(last) and await self._store_batch():
                pass
            if self._is_due(last):
                if self._stopping:
                    return
                await asyncio.sleep(RETRY_S)
            if self._waiting:
                self._wake.set()

    def _is_due(self, last: int) -> bool:
        return bool(self._waiting) and self._waiting[0].seq <= last

    async def _linger(self) -> None:
        try:
            async with asyncio.timeout(LINGER_S):
                await self._urgent.wait()
        except TimeoutError:
            return

    async def _store_batch(self) -> bool:
        """Put the oldest waiting records into the table; False when the database does not take them."""
        try:
            await self._append_once()
        except HandrailError:
            # most often the server was restarted since the last batch: a new connection finds it
            try:
                await self._append_once()
            except HandrailError as exc:
                self._fail_commits(exc)
                return False
        return True

    async def _append_once(self) -> None:
        batch = [self._waiting[index] for index in range(min(BATCH, len(self._waiting)))]
        try:
            await self._appender.append([entry.line for entry in batch])
        except HandrailError:
            self._take_back()
            raise
        for _ in batch:
            self._waiting.popleft()
        self._volatile.extend(batch)
        self._committed = batch[-1].seq
        self._resolve_commits()
        fresh = [entry for entry in batch if entry.seq > self._shown]
        self._shown = max(self._shown, self._committed)
        self._unkept.extend(fresh)
        self._stored.set()
        self._channels.show(fresh)

    def _take_back(self) -> None:
        """The connection broke: what the server had not put on its disk may be gone, so it is appended again."""
        if self._volatile:
            self._waiting.extendleft(reversed(self._volatile))
            self._volatile.clear()
            self._committed = self._waiting[0].seq - 1

    async def _keep(self) -> None:
        """The keeper task: table to file. A slow disk delays no commit."""
        while not (self._written and not self._unkept):
            await self._stored.wait()
            self._stored.clear()
            while self._unkept and await self._keep_batch():
                pass
            if self._unkept:
                if self._written:
                    return
                await asyncio.sleep(RETRY_S)
                self._stored.set()

    async def _keep_batch(self) -> bool:
        batch = list(self._unkept)
        today = timestamp(self._clock.now())[:10]
        try:
            await asyncio.to_thread(self._channels.keep, batch, today=today)
        except OSError as exc:
            log.error("the audit log file cannot be written", error=str(exc))  # noqa: TRY400 - the reason is in the text
            return False
        for _ in batch:
            self._unkept.popleft()
        self._kept = batch[-1].seq
        self._release()
        return True

    async def _harden(self) -> None:
        """The hardener task: find out what the server has on disk."""
        while True:
            await asyncio.sleep(HARDEN_S)
            if not self._volatile:
                continue
            try:
                await self._harden_once()
            except HandrailError:
                self._take_back()
                self._wake.set()

    async def _harden_once(self) -> None:
        # records committed before the question lie before the position that answers it
        last = self._volatile[-1].seq
        position = await self._appender.position()
        while not await self._appender.flushed(position):  # noqa: ASYNC110 - the server sends no event for it
            await asyncio.sleep(HARDEN_S / 4)
        while self._volatile and self._volatile[0].seq <= last:
            self._volatile.popleft()
        self._hardened = max(self._hardened, min(last, self._committed))
        self._release()

    def _release(self) -> None:
        self._journal.release(min(self._kept, self._hardened))

    def _resolve_commits(self) -> None:
        due = [future for seq, future in self._commits if seq <= self._committed]
        self._commits = [(seq, future) for seq, future in self._commits if seq > self._committed]
        for future in due:
            if not future.done():
                future.set_result(None)

    def _fail_commits(self, exc: HandrailError) -> None:
        failed, self._commits = self._commits, []
        for _, future in failed:
            if not future.done():
                future.set_exception(exc)
