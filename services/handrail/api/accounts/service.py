"""Accounts: who a token belongs to, pairing, devices, users and workspaces."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from hashlib import sha256
from typing import Protocol, cast

import structlog
from redis.asyncio import Redis

from handrail.api.accounts.cache import Entry, IdentityCache
from handrail.api.accounts.errors import UnknownWorkspace
from handrail.api.accounts.management import Management
from handrail.api.accounts.news import Channel, News
from handrail.api.accounts.pairing import Paired, Pairing, PairRequest
from handrail.api.audit.events import AuditEvent
from handrail.api.context import Identity, Role, Workspace
from handrail.contract.errors import HandrailError
from handrail.kit.clock import SYSTEM, Clock
from handrail.store import accounts as store
from handrail.store import devices
from handrail.store.pool import Pool
from handrail.store.records import IdentityRow, WorkspaceRow

log = structlog.get_logger("handrail.accounts")
TOUCH_S = 60.0
MAX_TOKEN = 512  # characters; what is longer is no token of ours

Revoked = Callable[[str], None]  # device id


class AuditLog(Protocol):
    """What accounts need of the audit log."""

    async def effect(self, event: AuditEvent) -> str: ...
    def read(self, event: AuditEvent) -> None: ...


class Accounts:
    """One instance a process. `start` subscribes to the news of the other processes."""

    def __init__(self, *, pool: Pool, redis: Redis, audit: AuditLog, pepper: bytes, code_ttl_s: int, clock: Clock = SYSTEM) -> None:
        self._pool = pool
        self._clock = clock
        self._cache = IdentityCache()
        self._channel = Channel(redis, on_news=self._on_news, on_state=self._on_state)
        self._callbacks: list[Revoked] = []
        self._touches: set[asyncio.Task[None]] = set()
        self.pairing = Pairing(pool=pool, redis=redis, audit=audit, pepper=pepper, ttl_s=code_ttl_s, clock=clock)
        self.manage = Management(pool=pool, audit=audit, publish=self._channel.publish)

    async def start(self) -> None:
        await self._channel.start()

    async def stop(self) -> None:
        await self._channel.stop()
        self._cache.disable()
        await asyncio.gather(*self._touches, return_exceptions=True)

    async def authenticate(self, token: str) -> Identity | None:
        """Whose token this is; None when it is unknown or revoked. Raises StoreUnavailable."""
        token_hash = sha256(token.encode("utf-8", "replace")).digest()
        entry = self._cache.get(token_hash)
        if entry is None:
            entry = await self._look_up(token, token_hash)
            if entry is None:
                return None
        if self._clock.monotonic() >= entry.touch_at:
            self._touch(entry)
        return entry.identity

    async def pair(self, request: PairRequest) -> Paired:
        """Exchange a code for a token. Raises MissingCode, WrongCode (400), TooManyTries (429), PairingUnavailable (503)."""
        return await self.pairing.pair(request)

    def on_revoked(self, callback: Revoked) -> None:
        """Be told the id of each device whose token ended, in this process: to close its sockets."""
        self._callbacks.append(callback)

    async def devices(self, user_id: str) -> list[dict[str, object]]:
        """The user's own devices."""
        return await devices.of_user(self._pool, user_id)

    async def update_workspace(self, workspace_id: str, *, by: str, root: str, allowed_paths: tuple[str, ...]) -> Workspace:
        """Change where a workspace works, as its owner `by`. Raises UnknownWorkspace for anybody else."""
        row = await store.update_workspace(self._pool, by, workspace_id, root=root, allowed_paths=list(allowed_paths))
        if row is None:
            raise UnknownWorkspace(name=workspace_id)
        await self._channel.publish(News("workspace", (workspace_id,), ended=False))
        return as_workspace(row)

    async def _look_up(self, token: str, token_hash: bytes) -> Entry | None:
        if not token or len(token) > MAX_TOKEN:
            return None
        generation = self._cache.generation
        row = await devices.by_token(self._pool, token_hash)
        if row is None:
            return None
        entry = Entry(as_identity(row), touch_at=self._clock.monotonic())
        self._cache.put(token_hash, entry, generation=generation)
        return entry

    def _touch(self, entry: Entry) -> None:
        entry.touch_at = self._clock.monotonic() + TOUCH_S
        task = asyncio.create_task(self._note_seen(entry.identity))
        self._touches.add(task)
        task.add_done_callback(self._touches.discard)

    async def _note_seen(self, identity: Identity) -> None:
        try:
            await devices.touch(self._pool, identity.user_id, identity.device_id, self._clock.now())
        except HandrailError as exc:
            log.info("last_seen was not written", code=exc.code)

    def _on_news(self, news: News) -> None:
        gone = self._cache.drop(_about(news))
        if not news.ended:
            return
        ended = set(news.ids) if news.kind == "device" else {identity.device_id for identity in gone}
        for device_id in ended:
            for callback in self._callbacks:
                callback(device_id)

    def _on_state(self, up: bool) -> None:  # noqa: FBT001 - the state itself
        if up:
            self._cache.enable()
        else:
            self._cache.disable()


def _about(news: News) -> Callable[[Identity], bool]:
    ids = frozenset(news.ids)
    if news.kind == "device":
        return lambda identity: identity.device_id in ids
    if news.kind == "user":
        return lambda identity: identity.user_id in ids
    if news.kind == "workspace":
        return lambda identity: identity.workspace.id in ids
    return lambda identity: identity.user_id in ids or identity.workspace.id in ids


def as_identity(row: IdentityRow) -> Identity:
    """A row as the value that a request carries. An auditor of the whole installation is one in every workspace."""
    role = "auditor" if row.is_auditor else row.role
    return Identity(
        user_id=row.user_id,
        user_name=row.user_name,
        is_admin=row.is_admin,
        device_id=row.device_id,
        device_name=row.device_name,
        role=cast("Role", role),
        workspace=as_workspace(row.workspace),
        origin=row.origin,
    )


def as_workspace(row: WorkspaceRow) -> Workspace:
    """A row as the value that a request carries."""
    return Workspace(row.id, row.name, row.root, row.allowed_paths)
