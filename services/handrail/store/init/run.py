"""The steps of the set-up in their order. Each can run again; a run that is killed is finished by the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from redis.asyncio import Redis
from redis.exceptions import RedisError

from handrail.store.errors import InitFailed
from handrail.store.init import database as db
from handrail.store.init.files import Vault
from handrail.store.init.first import make_first
from handrail.store.init.keys import ROLES, make_keys, role_passwords
from handrail.store.migrate import migrate
from handrail.store.pool import connect
from handrail.store.urls import with_database, with_role

Say = Callable[[str, str], None]  # (step, outcome)
DATABASE = "handrail"
LOCK = 7263914419  # advisory: one set-up at a time
REDIS_TRIES = 300
STEP_S = 0.1


@dataclass(frozen=True, slots=True)
class Plan:
    """What to set up. `admin_url` may create roles and databases."""

    admin_url: str
    redis_url: str
    workdir: Path
    allowed: tuple[str, ...] = ()
    owner: str = "owner"
    database: str = DATABASE


async def set_up(plan: Plan, vault: Vault, say: Say) -> None:
    """Run every step. Raises InitFailed, and psycopg.Error or OSError for what the step's text does not foresee."""
    vault.prepare()
    say("keys", "created" if make_keys(vault) else "kept")
    passwords = role_passwords(vault)
    urls = {role: with_role(plan.admin_url, role=role, password=passwords[role], database=plan.database) for role in ROLES}
    admin = await db.wait_for(plan.admin_url)
    async with admin:
        await admin.execute(b"select pg_advisory_lock(%s)", (LOCK,))
        await db.make_roles(admin, passwords)
        say("roles", "ready")
        say("database", "created" if await db.make_database(admin, plan.database) else "kept")
        async with await connect(with_database(plan.admin_url, plan.database), name=db.NAME) as inside:
            say("vector", await db.make_extension(inside))
            await db.restrict(inside, plan.database, ROLES)
        async with await connect(urls["handrail_owner"], name=db.NAME) as owner:
            ran = await migrate(owner)
            say("migrations", ", ".join(ran) or "kept")
            say(
                "workspace",
                await make_first(owner, owner=plan.owner, root=real(plan.workdir), allowed=[real(path) for path in plan.allowed]),
            )
    await _ping(plan.redis_url)
    say("broker", "ready")
    say("secrets", "written" if _write_urls(vault, plan, urls) else "kept")


def real(path: str | Path) -> str:
    """Absolute, links followed; it need not exist."""
    return str(Path(path).resolve())


def _write_urls(vault: Vault, plan: Plan, urls: dict[str, str]) -> bool:
    """Each zone gets the addresses that it needs and no other."""
    wanted = (
        ("init", "owner_database_url", urls["handrail_owner"]),
        ("api", "database_url", urls["handrail_api"]),
        ("api", "audit_database_url", urls["handrail_audit"]),
        ("api", "broker_url", plan.redis_url),
        ("worker", "database_url", urls["handrail_worker"]),
        ("worker", "broker_url", plan.redis_url),
    )
    written = [vault.write(zone, name, text) for zone, name, text in wanted]
    return any(written)


async def _ping(url: str) -> None:
    client = cast("Any", Redis).from_url(url, socket_connect_timeout=2, socket_timeout=2)  # redis-py types it in part only
    try:
        for attempt in range(REDIS_TRIES):
            try:
                await client.ping()
            except (RedisError, OSError) as exc:
                if attempt == REDIS_TRIES - 1 or "WRONGPASS" in str(exc):
                    raise InitFailed(step="broker", detail=str(exc)) from exc
                await asyncio.sleep(STEP_S)
            else:
                return
    finally:
        await client.aclose()
