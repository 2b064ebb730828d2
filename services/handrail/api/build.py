"""Builds one api process out of its settings: the only place that knows how the parts fit together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import structlog
from redis.asyncio import Redis
from starlette.types import ASGIApp

from handrail import __version__
from handrail.api.accounts.service import Accounts
from handrail.api.app import admin_app, fast_table, methods_table, public_app
from handrail.api.audit.events import AuditEvent
from handrail.api.audit.service import Audit
from handrail.api.edge.app import Edge, EdgeParts, EdgeRules
from handrail.api.edge.limits import RateLimits
from handrail.api.edge.metrics import Metrics
from handrail.api.edge.refusals import Refusals
from handrail.api.files.service import FileService
from handrail.api.files.tools import tools as file_tools
from handrail.api.files.transfer_tools import tools as transfer_tools
from handrail.api.files.transfers import Limits, Transfers
from handrail.api.gate.approvals import Approvals
from handrail.api.gate.mint import Mint
from handrail.api.gate.permit import Permits
from handrail.api.gate.rows import ApprovalRows
from handrail.api.gate.service import Gate
from handrail.api.lifecycle import Lifecycle
from handrail.api.processes.client import SandboxClient
from handrail.api.processes.service import Processes
from handrail.api.processes.tools import tools as process_tools
from handrail.api.services import Services
from handrail.api.settings import ApiSettings
from handrail.api.system.health import Health, Probe
from handrail.api.tools.registry import Registry
from handrail.api.tools.repeats import Repeats
from handrail.api.undo.service import Undo
from handrail.api.undo.tools import tools as undo_tools
from handrail.contract import alive
from handrail.contract.errors import ServiceUnavailable
from handrail.kit.canonical import loads
from handrail.kit.clock import SYSTEM, Clock
from handrail.kit.droplines import DropLines
from handrail.kit.spent import SpentTokens
from handrail.store import guard
from handrail.store.pool import Pool, open_pool

log = structlog.get_logger("handrail.api")
REDIS_PATIENCE_S = 2.0


@dataclass(frozen=True, slots=True)
class Process:
    """What `__main__` serves, and how it was asked to end."""

    public: ASGIApp
    admin: ASGIApp
    lifecycle: Lifecycle


@asynccontextmanager
async def build(settings: ApiSettings, stop: Callable[[], None]) -> AsyncGenerator[Process]:
    """Open everything, in order; close it in the opposite order. Raises HandrailError or OSError when a part cannot start."""
    clock = SYSTEM
    directory = settings.data_dir / "api"
    spent = SpentTokens(directory / "jti.sqlite", now=clock.now())
    async with AsyncExitStack() as stack:
        pool = await _pool(stack, settings.secret("database_url"), "handrail-api", size=8)
        audit_pool = await _pool(stack, settings.secret("audit_database_url"), "handrail-audit", size=2)
        await guard.check(pool)
        redis = _redis(settings.secret("broker_url"))
        stack.push_async_callback(redis.aclose)
        audit = Audit(
            database_url=settings.secret("database_url"),
            pool=pool,
            audit_pool=audit_pool,
            journal_dir=directory / "journal",
            log_dir=settings.log_dir,
            keys=_json(settings, "audit.json"),
            lang=settings.lang,
            clock=clock,
            terminal=DropLines(2),
        )
        await audit.start()
        stack.push_async_callback(audit.stop)
        accounts = Accounts(
            pool=pool,
            redis=redis,
            audit=audit,
            pepper=bytes.fromhex(settings.secret("pepper")),
            code_ttl_s=settings.pair_code_ttl,
            clock=clock,
        )
        await accounts.start()
        stack.push_async_callback(accounts.stop)
        services = _services(settings, stop, clock, spent, pool=pool, redis=redis, audit=audit, accounts=accounts)
        stack.push_async_callback(services.sandbox.close)
        stack.callback(services.files.close)
        stack.callback(services.transfers.close)
        stack.push_async_callback(services.gate.close)
        refusals = Refusals(audit)
        for job in (refusals.run(), services.files.keep_swept()):
            stack.callback(asyncio.create_task(job).cancel)
        await audit.effect(_event("server_start", {"version": __version__, "form": settings.form, "port": settings.port}))
        yield Process(_edge(settings, services, refusals), admin_app(services), services.lifecycle)
        await audit.effect(_event("server_stop", {"by_request": services.lifecycle.by_request}))


def _services(
    settings: ApiSettings,
    stop: Callable[[], None],
    clock: Clock,
    spent: SpentTokens,
    *,
    pool: Pool,
    redis: Redis,
    audit: Audit,
    accounts: Accounts,
) -> Services:
    mint = Mint(_json(settings, "signing.json"), clock)
    permits = Permits(mint.public_keys, spent, clock)
    files = FileService(settings.data_dir, file_max_size=settings.file_max_size, clock=clock)
    transfers = Transfers(settings.data_dir, Limits(settings.upload_max_size, settings.upload_quota), clock)
    files.also_swept(transfers.sweep)
    undo = Undo(settings.data_dir, files, clock)
    files.also_swept(undo.sweep)
    sandbox = SandboxClient(settings.sandbox_socket)
    registry = Registry()
    registry.add(*file_tools(files), *transfer_tools(files, transfers), *undo_tools(undo, files), *process_tools(sandbox, settings))
    gate = Gate(
        registry=registry,
        approvals=Approvals(ApprovalRows(pool, clock), human_only=settings.confirm == "human"),
        audit=audit,
        mint=mint,
        permits=permits,
        keep=undo.run,
    )

    async def database() -> None:
        async with pool.connection() as connection:
            await guard.check_schema(connection)

    async def broker() -> None:
        await cast("Any", redis).ping()

    def sign_of(part: str) -> Probe:
        async def probe() -> None:
            if not await redis.exists(alive.key(part)):
                raise ServiceUnavailable(service=part)

        return probe

    probes: dict[str, Probe] = {"database": database, "broker": broker, "audit": audit.ready, "sandbox": sandbox.ready}
    probes |= {part: sign_of(part) for part in alive.PARTS}
    return Services(
        settings=settings,
        clock=clock,
        registry=registry,
        gate=gate,
        accounts=accounts,
        audit=audit,
        sandbox=sandbox,
        processes=Processes(gate, sandbox, accounts),
        files=files,
        repeats=Repeats(clock),
        transfers=transfers,
        lifecycle=Lifecycle(clock, stop),
        health=Health(probes, clock),
        metrics=Metrics(methods_table()),
        started=clock.monotonic(),
    )


def _edge(settings: ApiSettings, services: Services, refusals: Refusals) -> Edge:
    services.metrics.info.labels(__version__).set(1)
    return Edge(
        public_app(),
        EdgeParts(
            fast=fast_table(),
            methods=methods_table(),
            services=services,
            accounts=services.accounts,
            limits=RateLimits(
                services.clock,
                device_per_minute=settings.rate_limit,
                anonymous_per_minute=settings.anonymous_rate_limit,
                failures_per_minute=settings.failure_rate_limit,
            ),
            metrics=services.metrics,
            refused=refusals,
        ),
        EdgeRules(
            allowed_hosts=frozenset(name.lower() for name in settings.allowed_hosts),
            body_limit=settings.body_max_size,
            lang=settings.lang,
        ),
    )


async def _pool(stack: AsyncExitStack, url: str, name: str, *, size: int) -> Pool:
    pool = await open_pool(url, name=name, max_size=size)
    stack.push_async_callback(pool.close)
    return pool


def _redis(url: str) -> Redis:
    # redis-py types its own keywords in part only
    return cast("Any", Redis).from_url(url, socket_timeout=REDIS_PATIENCE_S, socket_connect_timeout=REDIS_PATIENCE_S)


def _json(settings: ApiSettings, name: str) -> dict[str, Any]:
    return cast("dict[str, Any]", loads(settings.secret(name)))


def _event(action: str, details: dict[str, object]) -> AuditEvent:
    return AuditEvent(category="system", action=action, details=details)
