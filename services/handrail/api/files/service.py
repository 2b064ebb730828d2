"""What the file tools share: the scopes of workspaces, the thread pools, the trash."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol, TypeVar

import structlog

from handrail.api.context import Actor, Workspace
from handrail.api.files.errors import TooManyFileTasks
from handrail.api.files.search.engine import find_rg
from handrail.api.files.seen import Seen
from handrail.kit.clock import Clock
from handrail.kit.errors import FileError
from handrail.kit.paths import Location, Root, Scope
from handrail.kit.trash import Trash, every_trash

log = structlog.get_logger("handrail.files")
INLINE_MAX = 64 * 1024  # bytes of a regular file that may be read on the event loop: cheaper than a change of thread
FILE_THREADS = 8
SEARCH_THREADS = 2
MAX_WAITING = 256  # blocking operations running or waiting for a thread
SWEEP_EVERY_S = 6 * 3600.0
T = TypeVar("T")


class Checkpoints(Protocol):
    """Keeps what files were before a step of a tool."""

    def before(self, actor: Actor, locations: Sequence[Location]) -> None:
        """These entries (some may not exist yet) are about to change in one step. Blocking; raising prevents the change."""
        ...


class FileService:
    """One a process. Holds the opened roots: an allowed directory is opened at its first use and stays that very directory."""

    def __init__(self, data_dir: Path, *, file_max_size: int, clock: Clock, home: str | None = None) -> None:
        """`data_dir` is refused to everybody; the trash lies in it. `home` is what a leading `~` means (default: of this process)."""
        self.file_max_size = file_max_size
        self.home = home or str(Path.home())
        self.seen = Seen()
        self.checkpoints: Checkpoints | None = None
        self._data_dir = str(data_dir)
        self._trash_dir = data_dir / "trash"
        self._clock = clock
        self._scopes: dict[tuple[str, tuple[str, ...]], Scope] = {}
        self._roots: dict[str, Root] = {}
        self._pool = ThreadPoolExecutor(FILE_THREADS, "files")
        self._search_pool = ThreadPoolExecutor(SEARCH_THREADS, "search")
        self._waiting = 0
        self._sweeps: list[Callable[[], int]] = []

    # --- where ---

    def scope(self, actor: Actor) -> Scope:
        """What the actor's workspace may touch. Raises RootChanged when its work directory cannot be opened."""
        workspace = actor.workspace
        known = self._scopes.get((workspace.root, workspace.allowed_paths))
        return known if known is not None else self._open_scope(workspace)

    def _open_scope(self, workspace: Workspace) -> Scope:
        roots = [self._root(workspace.root)]
        complete = True
        for path in workspace.allowed_paths:
            if path == workspace.root:
                continue
            try:
                roots.append(self._root(path))
            except FileError as exc:  # gone for now: it is no part of the scope, the others are
                complete = False
                log.warning("allowed directory left out", path=path, reason=exc.code)
        scope = Scope(roots, home=self.home, protected=(self._data_dir, os.path.realpath(self._data_dir)))
        if complete:
            self._scopes[workspace.root, workspace.allowed_paths] = scope
        return scope

    def _root(self, path: str) -> Root:
        root = self._roots.get(path)
        if root is None:
            root = self._roots[path] = Root(path)
        return root

    def roots(self, actor: Actor) -> list[tuple[str, Root | None]]:
        """The actor's allowed directories as they were opened, the work root first; None for one that cannot be opened. Blocking."""
        out: list[tuple[str, Root | None]] = []
        for path in dict.fromkeys((actor.workspace.root, *actor.workspace.allowed_paths)):
            try:
                out.append((path, self._root(path)))
            except FileError:
                out.append((path, None))
        return out

    def confirm_root(self, path: str) -> None:
        """A person confirmed this directory (again): what is there now is the allowed one. The old one closes after its last use."""
        self._roots.pop(os.path.normpath(path), None)
        self._scopes.clear()

    def trash(self, actor: Actor) -> Trash:
        """The actor's own trash in the workspace."""
        return Trash(self._trash_dir, actor.workspace.id, actor.user_id, self._clock)

    def before_change(self, actor: Actor, locations: Sequence[Location]) -> None:
        """Called in the worker thread once a step, when nothing can refuse it any more and no byte has changed."""
        if self.checkpoints is not None:
            self.checkpoints.before(actor, locations)

    def rg(self) -> str | None:
        """The ripgrep program, if there is one now."""
        return find_rg()

    # --- threads ---

    async def run(self, work: Callable[[], T]) -> T:
        """Blocking work in the file pool. Raises TooManyFileTasks (429) instead of an endless queue.

        Work that has begun goes on when the caller is cancelled, so it must own what it uses.
        """
        return await self._in(self._pool, work)

    async def run_search(self, work: Callable[[], T]) -> T:
        """Long reading work, in a pool of its own so that it never holds up the others."""
        return await self._in(self._search_pool, work)

    async def _in(self, pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        if self._waiting >= MAX_WAITING:
            raise TooManyFileTasks
        self._waiting += 1
        future = asyncio.get_running_loop().run_in_executor(pool, work)
        future.add_done_callback(self._done)
        return await future

    def _done(self, _future: object) -> None:
        self._waiting -= 1

    # --- retention ---

    def sweep(self) -> int:
        """Remove what is older than the retention from every trash; how many entries went. Blocking."""
        return sum(trash.sweep() for trash in every_trash(self._trash_dir, self._clock)) + sum(sweep() for sweep in self._sweeps)

    def also_swept(self, sweep: Callable[[], int]) -> None:
        """Something else that is kept for a time: `sweep` is called with the trash, blocking."""
        self._sweeps.append(sweep)

    async def keep_swept(self) -> None:
        """Sweep now and each SWEEP_EVERY_S seconds until cancelled."""
        while True:
            gone = await self.run(self.sweep)
            if gone:
                log.info("trash swept", entries=gone)
            await asyncio.sleep(SWEEP_EVERY_S)

    def close(self) -> None:
        """End the pools; work that has begun ends by itself."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._search_pool.shutdown(wait=False, cancel_futures=True)
