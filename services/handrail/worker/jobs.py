"""Running one job: lease, heartbeat, steps, end. Handlers know only `Run`.

A handler must be able to run again from the start or from its saved progress: the worker may be killed at any line.
It calls `run.step()` between pieces of work shorter than the lease; what it raises becomes the job's error.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import structlog

from handrail.contract.errors import HandrailError
from handrail.store import jobs
from handrail.store.jobs import Lease
from handrail.worker.errors import JobCancelled, LeaseLost, UnknownKind

if TYPE_CHECKING:
    from handrail.kit.clock import Clock
    from handrail.store.pool import Pool
    from handrail.worker.loop import Loop

log = structlog.get_logger("handrail.worker")
MAX_ATTEMPTS = 5  # a job that kills its worker each time is given up, else it would do so for ever


@dataclass(frozen=True, slots=True)
class Context:
    """What every handler may use."""

    loop: Loop
    pool: Pool
    clock: Clock
    owner: str  # names this worker in lease_owner
    lease_s: float
    retention_days: int


class Run:
    """One job while it runs. The lease is renewed by a thread of its own, so that a long piece of work keeps it."""

    def __init__(self, context: Context, lease: Lease) -> None:
        self.context = context
        self.lease = lease
        self._lost = threading.Event()
        self._cancelled = threading.Event()
        self._over = threading.Event()
        self._keeper = threading.Thread(target=self._keep, name=f"lease-{lease.job_id[:8]}", daemon=True)
        if lease.cancel_requested:
            self._cancelled.set()

    @property
    def arguments(self) -> Mapping[str, object]:
        return self.lease.arguments

    def step(self, progress: Mapping[str, object] | None = None) -> None:
        """Between two pieces of work; saves `progress`. Raises JobCancelled or LeaseLost."""
        if progress is not None:
            self._heard(self.context.loop.run(jobs.progress(self.context.pool, self.lease, progress)))
        if self._lost.is_set():
            raise LeaseLost
        if self._cancelled.is_set():
            raise JobCancelled

    def __enter__(self) -> Self:
        self._keeper.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._keeper.join()

    def _keep(self) -> None:
        while not self._over.wait(self.context.lease_s / 3):
            now = self.context.clock.now()
            try:
                answer = self.context.loop.run(jobs.renew(self.context.pool, self.lease, lease_s=self.context.lease_s, now=now))
            except HandrailError as exc:
                log.warning("lease not renewed", job=self.lease.job_id, error=exc.code)
                continue  # the database may be back before the lease runs out
            self._heard(answer)

    def _heard(self, cancel_requested: bool | None) -> None:  # noqa: FBT001 - the answer of the row
        if cancel_requested is None:
            self._lost.set()
        elif cancel_requested:
            self._cancelled.set()


Handler = Callable[[Run], Mapping[str, object]]


def run_job(context: Context, handlers: Mapping[str, Handler], job_id: str, user_id: str | None) -> str:
    """Do the job if nobody else does. Returns what became of it: taken | succeeded | failed | cancelled | lost."""
    now = context.clock.now()
    lease = context.loop.run(jobs.take(context.pool, job_id=job_id, user_id=user_id, owner=context.owner, lease_s=context.lease_s, now=now))
    if lease is None:
        return "taken"  # over, or somebody's live lease is on it: the message has nothing more to say
    with Run(context, lease) as run:
        outcome, result, error = _attempt(run, handlers)
    if outcome == "lost":
        return outcome
    written = context.loop.run(
        jobs.finish(context.pool, lease, outcome, now=context.clock.now(), result=result, error=error)  # type: ignore[arg-type]  # not "lost"
    )
    return outcome if written else "lost"


def _attempt(run: Run, handlers: Mapping[str, Handler]) -> tuple[str, Mapping[str, object] | None, Mapping[str, object] | None]:
    try:
        if run.lease.attempts > MAX_ATTEMPTS:
            return "failed", None, {"code": "job.attempts", "error": f"given up after {MAX_ATTEMPTS} attempts"}
        run.step()
        return "succeeded", _handler(handlers, run.lease.kind)(run), None
    except LeaseLost:
        return "lost", None, None
    except JobCancelled as exc:
        return "cancelled", None, {"code": exc.code, "error": exc.text("en")}
    except HandrailError as exc:
        return "failed", None, {"code": exc.code, "error": exc.text("en")}
    except Exception as exc:
        # the edge of a job: the trace goes to the log, the row gets a code
        log.exception("job failed", job=run.lease.job_id, kind=run.lease.kind)
        return "failed", None, {"code": "internal", "error": type(exc).__name__}


def _handler(handlers: Mapping[str, Handler], kind: str) -> Handler:
    if kind not in handlers:
        raise UnknownKind(kind=kind[:64])
    return handlers[kind]
