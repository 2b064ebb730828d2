"""The three messages and what they do. Everything else is a job."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

import structlog

from handrail.store import jobs
from handrail.worker.app import PERIODIC, REQUEUE, RUN_JOB, CeleryApp
from handrail.worker.jobs import Context, Handler, run_job
from handrail.worker.retention import KIND, retention

log = structlog.get_logger("handrail.worker")
HANDLERS: Mapping[str, Handler] = {KIND: retention}
NAMESPACE = uuid.UUID("6f1c9d1e-5b7a-4c55-9f0e-0d1b1f4b6a10")  # of the ids of periodic jobs
QUEUED_GRACE_LEASES = 3  # a message may wait this many leases before it counts as lost


def register(app: CeleryApp, context: Context, handlers: Mapping[str, Handler] = HANDLERS) -> None:
    """Bind the tasks to `app`."""

    def run(job_id: str, user_id: str | None = None) -> None:
        outcome = run_job(context, handlers, job_id, user_id)
        log.info("job", job=job_id, outcome=outcome)

    def periodic(kind: str, occurrence: int) -> None:
        job_id = periodic_id(kind, occurrence)
        arguments = {"occurrence": occurrence}
        context.loop.run(jobs.create(context.pool, job_id=job_id, kind=kind, arguments=arguments, now=context.clock.now()))
        run(job_id)

    def requeue() -> None:
        grace_s = QUEUED_GRACE_LEASES * context.lease_s
        for job_id, user_id in context.loop.run(jobs.stranded(context.pool, grace_s=grace_s, now=context.clock.now())):
            log.warning("job without a worker: sent again", job=job_id)
            app.send_task(RUN_JOB, args=(job_id, user_id))

    for name, task in ((RUN_JOB, run), (PERIODIC, periodic), (REQUEUE, requeue)):
        app.task(name=name, ignore_result=True)(task)


def periodic_id(kind: str, occurrence: int) -> str:
    """The one id of this occurrence: the message may come twice, the job is one."""
    return str(uuid.uuid5(NAMESPACE, f"{kind}:{occurrence}"))
