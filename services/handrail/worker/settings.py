"""Settings of worker and beat."""

from __future__ import annotations

from pydantic import Field

from handrail.contract.settings import Settings


class WorkerSettings(Settings):
    """Environment of `python -m handrail.worker` and `python -m handrail.worker.beat`."""

    worker_concurrency: int = Field(default=2, ge=1, le=64)
    worker_lease: float = Field(default=20.0, ge=0.5, le=600)  # seconds
    retention_days: int = Field(default=30, ge=1, le=3650)
