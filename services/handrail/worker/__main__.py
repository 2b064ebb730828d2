"""`python -m handrail.worker`: takes jobs until a signal ends it. Threads, not processes: a job is I/O, and memory is for models."""

from __future__ import annotations

import os
import socket
import sys

import structlog

from handrail.contract.errors import HandrailError
from handrail.kit import logs
from handrail.kit.clock import SYSTEM
from handrail.store import guard
from handrail.store.pool import Pool, open_pool
from handrail.worker.alive import Alive
from handrail.worker.app import QUEUE, CeleryApp, make_app
from handrail.worker.jobs import Context
from handrail.worker.loop import Loop
from handrail.worker.settings import WorkerSettings
from handrail.worker.tasks import register

log = structlog.get_logger("handrail.worker")


async def open_database(settings: WorkerSettings) -> Pool:
    """The pool of role handrail_worker. Raises StoreUnavailable, UnsafeRole, WrongSchema, MissingSecret."""
    pool = await open_pool(settings.secret("database_url"), name="handrail-worker", max_size=settings.worker_concurrency + 2)
    try:
        await guard.check(pool)
    except BaseException:
        await pool.close()
        raise
    return pool


def serve(settings: WorkerSettings) -> int:
    """Work until stopped; the exit code."""
    app = make_app(settings)
    loop = Loop()
    pool = loop.run(open_database(settings))
    owner = f"{socket.gethostname()}:{os.getpid()}"
    register(app, Context(loop, pool, SYSTEM, owner, settings.worker_lease, settings.retention_days))
    alive = Alive(settings.secret("broker_url"), "worker")
    alive.start()
    try:
        return run_worker(app, settings)
    finally:
        alive.stop()
        loop.run(pool.close())
        loop.close()


def run_worker(app: CeleryApp, settings: WorkerSettings) -> int:
    """Celery's own worker in this process."""
    worker = app.Worker(
        pool="threads",
        concurrency=settings.worker_concurrency,
        queues=[QUEUE],
        hostname=f"handrail@{socket.gethostname()}",
        loglevel="WARNING",
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
        quiet=True,
    )
    worker.start()
    return int(worker.exitcode or 0)


def main() -> int:
    """A set-up that cannot work is one clear line on stderr and exit code 1."""
    logs.configure()
    try:
        return serve(WorkerSettings.load())
    except HandrailError as exc:
        log.error("cannot start", code=exc.code, detail=exc.text("en"))  # noqa: TRY400 - one line, no trace
        return 1


if __name__ == "__main__":
    sys.exit(main())
