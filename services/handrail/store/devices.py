"""Devices and pairings: whose token this is, using up a code, adding and ending a device."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from handrail.store import records, session
from handrail.store.pool import Connection, Pool
from handrail.store.query import one, rows, run
from handrail.store.records import IdentityRow, PairingRow
from handrail.store.statements import load

SQL = load("accounts")


@dataclass(frozen=True, slots=True)
class NewDevice:
    """What a pairing adds."""

    device_id: str
    name: str
    origin: str
    token_hash: bytes


async def by_token(pool: Pool, token_hash: bytes) -> IdentityRow | None:
    """The identity behind a token; None when no device has it. Raises StoreUnavailable."""
    async with session.token_lookup(pool, token_hash) as connection:
        device = await one(connection, SQL["device_by_token"])
        if device is None:
            return None
        await session.bind_user(connection, device["user_id"])
        row = await one(connection, SQL["identity"], {"device_id": device["device_id"]})
    return records.identity(row) if row else None


async def touch(pool: Pool, user_id: str, device_id: str, now: float) -> None:
    """Note that the device was seen."""
    async with session.tenant(pool, user_id) as connection:
        await run(connection, SQL["touch_device"], {"device_id": device_id, "now": now})


async def of_user(pool: Pool, user_id: str) -> list[dict[str, object]]:
    """The user's own devices; times are seconds since the epoch."""
    async with session.tenant(pool, user_id) as connection:
        return await rows(connection, SQL["own_devices"])


async def rename(pool: Pool, user_id: str, device_id: str, name: str) -> bool:
    """False when the user has no such device."""
    async with session.tenant(pool, user_id) as connection:
        return await one(connection, SQL["rename_device"], {"device_id": device_id, "name": name}) is not None


async def remove(pool: Pool, user_id: str, device_id: str) -> bool:
    """End one of the user's own devices; False when there is none."""
    async with session.tenant(pool, user_id) as connection:
        return await one(connection, SQL["remove_device"], {"device_id": device_id}) is not None


async def add_pairing(
    pool: Pool, *, user_id: str, workspace_id: str, code_hash: bytes, hardened: bool, now: float, expires_at: float
) -> str:
    """Keep the hash of a code that was asked for; its id. Times are seconds since the epoch."""
    values = {
        "user_id": user_id,
        "workspace_id": workspace_id,
        "code_hash": code_hash,
        "hardened": hardened,
        "now": now,
        "expires_at": expires_at,
    }
    async with session.tenant(pool, user_id) as connection:
        row = await one(connection, SQL["add_pairing"], values)
    if row is None:
        raise LookupError("insert returned no row")
    return str(row["pairing_id"])


@asynccontextmanager
async def used_pairing(
    pool: Pool, *, code_hash: bytes, now: float, digits: bool, hardened: bool
) -> AsyncGenerator[tuple[Connection, PairingRow] | None]:
    """Use up the code with this hash for as long as the block lasts: an exception in it gives the code back.

    `digits` and `hardened` say which kinds of code are accepted. Yields None when there is no such code. The connection is
    bound to the code's user then, for `add_device`.
    """
    async with session.code_lookup(pool, code_hash) as connection:
        row = await one(connection, SQL["use_pairing"], {"now": now, "digits": digits, "hardened": hardened})
        if row is None:
            yield None
            return
        await session.bind_user(connection, row["user_id"])
        yield connection, PairingRow(row["pairing_id"], row["user_id"], row["workspace_id"], bytes(row["code_hash"]))


async def add_device(connection: Connection, pairing: PairingRow, device: NewDevice) -> None:
    """Inside `used_pairing`: the device that the code was for."""
    values = {
        "device_id": device.device_id,
        "user_id": pairing.user_id,
        "workspace_id": pairing.workspace_id,
        "name": device.name,
        "origin": device.origin,
        "token_hash": device.token_hash,
    }
    await run(connection, SQL["add_device"], values)
