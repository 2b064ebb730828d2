"""Pairing: a code that a person reads off the server and types into a client becomes that client's token."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

import structlog
from redis.asyncio import Redis

from handrail.api.accounts import codes
from handrail.api.accounts.codes import Code
from handrail.api.accounts.errors import (
    DisplayPaused,
    MissingCode,
    NoWorkspace,
    PairingUnavailable,
    UnknownUser,
    UnknownWorkspace,
    WrongCode,
)
from handrail.api.accounts.labels import device_name
from handrail.api.accounts.pacing import Pacing, Try, peer_key
from handrail.api.audit.events import AuditEvent, Level
from handrail.contract.ids import new_token, new_uuid
from handrail.kit.clock import Clock
from handrail.store import accounts as store
from handrail.store import devices
from handrail.store.pool import Pool
from handrail.store.records import MembershipRow, UserRow

log = structlog.get_logger("handrail.accounts")


class AuditLog(Protocol):
    """What pairing needs of the audit log."""

    async def effect(self, event: AuditEvent) -> str: ...
    def read(self, event: AuditEvent) -> None: ...


@dataclass(frozen=True, slots=True)
class PairRequest:
    """One try. `peer` is the socket's address, `origin` the Origin header ("" when there is none)."""

    code: str
    extension_id: str
    origin: str
    user_agent: str
    peer: str
    request_id: str


@dataclass(frozen=True, slots=True)
class Paired:
    """The only time that the token is seen in clear."""

    token: str
    device_id: str
    device_name: str


class Pairing:
    """Issues codes and takes them."""

    def __init__(self, *, pool: Pool, redis: Redis, audit: AuditLog, pepper: bytes, ttl_s: int, clock: Clock) -> None:
        self._pool = pool
        self._pacing = Pacing(redis, clock)
        self._audit = audit
        self._pepper = pepper
        self._ttl_s = ttl_s
        self._clock = clock

    async def issue(self, user_name: str | None = None, *, workspace: str | None = None, display: bool = False) -> Code:
        """A new code for the user (None = the first administrator). It lives for the TTL and one more of grace.

        `display`: for a continuous display, which pauses (DisplayPaused) while somebody guesses.
        Raises UnknownUser, NoWorkspace, UnknownWorkspace, PairingUnavailable.
        """
        user = await store.user(self._pool, user_name)
        if user is None:
            raise UnknownUser(name=(user_name or "-")[:64])
        place = await self._place(user, workspace)
        hardened = await self._pacing.digits_spent()
        if hardened and display:
            raise DisplayPaused
        now = self._clock.now()
        text = codes.draw(hardened=hardened)
        expires_at = now + 2 * self._ttl_s
        code_id = await devices.add_pairing(
            self._pool,
            user_id=user.id,
            workspace_id=place.workspace.id,
            code_hash=codes.code_hash(self._pepper, text),
            hardened=hardened,
            now=now,
            expires_at=expires_at,
        )
        # counted before it is shown: a code that tries are not charged for must not exist
        await self._pacing.register(code_id, hardened=hardened, expires_at=expires_at)
        return Code(text, user.name, expires_at, self._ttl_s, hardened)

    async def pair(self, request: PairRequest) -> Paired:
        """See `Accounts.pair`."""
        if not request.code.strip():
            raise MissingCode
        peer = peer_key(request.origin, request.peer)
        attempt = await self._pacing.begin(peer)
        typed = codes.normalise(request.code)
        paired = await self._take(typed, attempt, request) if typed and (attempt.digits or attempt.hardened) else None
        if paired is None:
            self._audit.read(self._event("pair_failed", "warn", request))
            raise WrongCode
        return paired

    async def _take(self, typed: str, attempt: Try, request: PairRequest) -> Paired | None:
        code_hash = codes.code_hash(self._pepper, typed)
        now = self._clock.now()
        async with devices.used_pairing(self._pool, code_hash=code_hash, now=now, digits=attempt.digits, hardened=attempt.hardened) as used:
            if used is None:
                return None
            connection, pairing = used
            if not codes.same(pairing.code_hash, code_hash):
                return None
            token = new_token()
            name = device_name(request.extension_id, request.user_agent)
            device = devices.NewDevice(new_uuid(), name, request.origin, sha256(token.encode()).digest())
            await devices.add_device(connection, pairing, device)
            # the record first: when it cannot be written, this raises, and the code is unused again
            event = self._event("pair", "info", request, user_id=pairing.user_id, device_id=device.device_id, name=name)
            await self._audit.effect(event)
        await self._settle(pairing.id, attempt)
        return Paired(token, device.device_id, name)

    async def _settle(self, code_id: str, attempt: Try) -> None:
        try:
            await self._pacing.used(code_id)
            await self._pacing.refund(attempt)
        except PairingUnavailable:
            # the device is there; the try stays charged, which only makes guessing harder
            log.warning("a right pairing code could not be taken off the count")

    async def _place(self, user: UserRow, workspace: str | None) -> MembershipRow:
        places = await store.memberships(self._pool, user.id)
        if not places:
            raise NoWorkspace(name=user.name)
        if workspace is None:
            return places[0]
        for place in places:
            if place.workspace.name == workspace:
                return place
        raise UnknownWorkspace(name=workspace[:64])

    def _event(
        self, action: str, level: Level, request: PairRequest, *, user_id: str | None = None, device_id: str | None = None, name: str = ""
    ) -> AuditEvent:
        details: dict[str, object] = {"origin": request.origin[:100], "label": request.extension_id[:64]}
        if name:
            details["device"] = name
        return AuditEvent(
            category="auth",
            action=action,
            level=level,
            user_id=user_id,
            device_id=device_id,
            peer=request.peer,
            request_id=request.request_id,
            details=details,
        )
