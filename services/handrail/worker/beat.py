"""`python -m handrail.worker.beat`: sends the periodic messages. It keeps nothing on disk: an occurrence is named by the clock."""

from __future__ import annotations

import signal
import sys
from types import FrameType

import structlog
from celery.beat import Scheduler, Service

from handrail.contract.errors import HandrailError
from handrail.kit import logs
from handrail.worker.alive import Alive
from handrail.worker.app import make_app
from handrail.worker.settings import WorkerSettings

log = structlog.get_logger("handrail.beat")


def serve(settings: WorkerSettings) -> int:
    """Beat until stopped."""
    app = make_app(settings)
    service = Service(app, scheduler_cls=Scheduler)
    alive = Alive(settings.secret("broker_url"), "beat")

    def stop(signum: int, frame: FrameType | None) -> None:
        raise SystemExit(0)  # an exception wakes the service out of its sleep; a flag would wait for its end

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    alive.start()
    try:
        service.start()
    finally:
        alive.stop()
    return 0


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
