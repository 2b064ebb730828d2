"""Transfers: pieces of at most about 1 MiB move between a socket and a descriptor, so memory does not depend on the size."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from starlette.requests import ClientDisconnect

from handrail.api.context import Actor
from handrail.api.files.transfer_errors import TooManyTransfers, UploadAborted, UploadQuota, UploadTooLarge
from handrail.kit.clock import Clock
from handrail.kit.errors import NoSpace
from handrail.kit.parts import Parts, every_part

THREADS = 4
PIECE = 1 << 20  # bytes gathered before they are written
SILENCE_S = 60.0  # a sender that sends nothing for so long is gone
AT_ONCE = 8  # transfers of one user
RESERVE = 64 << 20  # bytes of a disk that uploads leave free
T = TypeVar("T")
Body = AsyncIterator[bytes]


class Sink(Protocol):
    """Where an upload goes."""

    def write(self, data: bytes | memoryview, /) -> None: ...


@dataclass(frozen=True, slots=True)
class Limits:
    """In bytes: one upload, and the unfinished uploads of one user."""

    upload: int
    unfinished: int


class Transfers:
    """One a process."""

    def __init__(self, data_dir: Path, limits: Limits, clock: Clock) -> None:
        self.limits = limits
        self.clock = clock
        self._base = data_dir / "uploads"
        self._pool = ThreadPoolExecutor(THREADS, "transfer")
        self._running: Counter[str] = Counter()

    def parts(self, actor: Actor) -> Parts:
        """The actor's own unfinished uploads in the workspace."""
        return Parts(self._base, actor.workspace.id, actor.user_id, self.clock)

    def claim(self, user_id: str) -> None:
        """Take one of the AT_ONCE transfers of a user; `release` gives it back. Raises TooManyTransfers (429)."""
        if self._running[user_id] >= AT_ONCE:
            raise TooManyTransfers(limit=AT_ONCE, headers={"Retry-After": "1"})
        self._running[user_id] += 1

    def release(self, user_id: str) -> None:
        """The other half of `claim`."""
        self._running[user_id] -= 1
        if not self._running[user_id]:
            del self._running[user_id]

    @contextmanager
    def place(self, actor: Actor) -> Generator[None]:
        """`claim` for the time of a block."""
        self.claim(actor.user_id)
        try:
            yield
        finally:
            self.release(actor.user_id)

    async def run(self, work: Callable[[], T]) -> T:
        """Blocking work of a transfer; each has one at a time, so the queue is as long as there are transfers.

        When the caller is cancelled the work still ends before this does: what it uses may be closed then.
        """
        future = asyncio.get_running_loop().run_in_executor(self._pool, work)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            await asyncio.wait([future])
            raise

    # --- up ---

    def refuse_size(self, size: int | None) -> None:
        """Raises UploadTooLarge for an announced size over the limit."""
        if size is not None and size > self.limits.upload:
            raise UploadTooLarge(limit=self.limits.upload)

    async def receive(self, body: Body, sink: Sink, *, most: int, begun: int = 0, space: int | None = None) -> int:
        """All of the body into the sink; its bytes. `most` counts `begun` too; the disk of descriptor `space` keeps RESERVE free.

        Raises UploadTooLarge, NoSpace, UploadAborted (the client went away or fell silent; what came before is in the sink).
        """
        gathered = bytearray()
        total = 0
        try:
            while True:
                try:
                    async with asyncio.timeout(SILENCE_S):
                        chunk = await anext(body, None)
                except (ClientDisconnect, TimeoutError) as exc:
                    raise UploadAborted(received=begun + total) from exc
                if chunk is None:
                    return total
                total += len(chunk)
                if begun + total > most:
                    raise UploadTooLarge(limit=most)
                gathered += chunk
                if len(gathered) >= PIECE:
                    await self._flush(gathered, sink, space)
        finally:
            # what has come is kept, whatever ended it: a resumable upload goes on from there
            if gathered and total + begun <= most:
                await self._flush(gathered, sink, space)

    async def _flush(self, gathered: bytearray, sink: Sink, space: int | None) -> None:
        data = bytes(gathered)
        gathered.clear()

        def work() -> None:
            if space is not None:
                free = os.fstatvfs(space)
                if free.f_bavail * free.f_frsize < RESERVE + len(data):
                    raise NoSpace("")
            sink.write(data)

        await self.run(work)

    def refuse_unfinished(self, actor: Actor, more: int) -> None:
        """Raises UploadQuota when `more` bytes would be too many. Blocking."""
        if self.parts(actor).used() + more > self.limits.unfinished:
            raise UploadQuota(limit=self.limits.unfinished)

    # --- retention ---

    def sweep(self) -> int:
        """Remove unfinished uploads that got nothing for a day; how many. Blocking."""
        return sum(parts.sweep() for parts in every_part(self._base, self.clock))

    def close(self) -> None:
        """End the pool; work that has begun ends by itself."""
        self._pool.shutdown(wait=False, cancel_futures=True)
