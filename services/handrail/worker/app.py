"""The Celery application: what travels in a message and when it is sent again.

A message only names a job; the `jobs` row is the truth. So a message may be lost, come twice or come late:
`worker.jobs` takes a lease in the row or leaves it alone, and `worker.requeue` sends again what nobody works on.
"""

from __future__ import annotations

from typing import Any, cast

from celery import Celery
from celery.beat import BeatLazyFunc

from handrail.kit.clock import SYSTEM
from handrail.store.urls import celery_url
from handrail.worker.settings import WorkerSettings

QUEUE = "handrail"
RUN_JOB = "handrail.job"  # (job_id, user_id or None)
PERIODIC = "handrail.periodic"  # (kind, occurrence)
REQUEUE = "handrail.requeue"  # ()
RETENTION_EVERY_S = 300.0

CeleryApp = Any  # celery ships no types: its application is what make_app returns


def make_app(settings: WorkerSettings) -> CeleryApp:
    """The application of this process. Raises MissingSecret."""
    app = cast("CeleryApp", Celery("handrail", broker=celery_url(settings.secret("broker_url")), set_as_current=False))
    visibility_s = max(2, round(2 * settings.worker_lease))
    app.conf.update(
        task_default_queue=QUEUE,
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,  # results are in the jobs row: a second copy in the broker could disagree with it
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_send_task_events=False,
        worker_enable_remote_control=False,  # nobody talks to it: one less thing to listen to and to poll
        broker_connection_retry_on_startup=True,
        broker_transport_options={
            "visibility_timeout": visibility_s,
            # kombu looks for lost messages each interval x throttle seconds; its defaults make that 100 s
            "unacked_restore_interval": max(1, round(settings.worker_lease / 4)),
            "unacked_restore_throttle": 1,
            "health_check_interval": 10,
            "socket_keepalive": True,
        },
        beat_schedule={
            "requeue": {"task": REQUEUE, "schedule": settings.worker_lease, "args": ()},
            "retention": {
                "task": PERIODIC,
                "schedule": RETENTION_EVERY_S,
                "args": ("retention", BeatLazyFunc(occurrence, RETENTION_EVERY_S)),
            },
        },
        beat_max_loop_interval=5,
        timezone="UTC",
    )
    return app


def occurrence(every_s: float) -> int:
    """Which period it is now, counted from the epoch: two beats, or one that restarts, name the same occurrence."""
    return int(SYSTEM.now() // every_s)
