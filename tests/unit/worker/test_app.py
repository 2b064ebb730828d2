from __future__ import annotations

from pathlib import Path

import pytest

from handrail.worker import app as worker_app
from handrail.worker.app import make_app
from handrail.worker.settings import WorkerSettings
from handrail.worker.tasks import periodic_id


@pytest.fixture
def settings(tmp_path: Path) -> WorkerSettings:
    (tmp_path / "broker_url").write_text("unix://:pw@/run/x/valkey.sock?db=0")
    return WorkerSettings(secrets_dir=tmp_path, worker_lease=20)


@pytest.mark.req("JOB-1")
def test_messages_are_acknowledged_after_the_work_and_come_back_in_time(settings: WorkerSettings) -> None:
    conf = make_app(settings).conf
    assert (conf.task_acks_late, conf.worker_prefetch_multiplier, conf.task_ignore_result) == (True, 1, True)
    options = conf.broker_transport_options
    # kombu looks for lost messages each interval x throttle: its defaults would make 100 s of it
    assert options["unacked_restore_interval"] * options["unacked_restore_throttle"] < settings.worker_lease
    assert options["visibility_timeout"] == 2 * settings.worker_lease
    assert conf.accept_content == ["json"]
    assert conf.broker_url == "redis+socket://:pw@/run/x/valkey.sock?virtual_host=0"


@pytest.mark.req("JOB-1")
def test_an_occurrence_is_named_by_the_clock_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    class At:
        at = 0.0

        def now(self) -> float:
            return self.at

        def monotonic(self) -> float:
            return self.at

    clock = At()
    monkeypatch.setattr(worker_app, "SYSTEM", clock)
    seen: list[int] = []
    for clock.at in (299.9, 300.0, 599.9, 600.0):
        seen.append(worker_app.occurrence(300))
    assert seen == [0, 1, 1, 2]
    assert periodic_id("x", 1) == periodic_id("x", 1) != periodic_id("x", 2)
    assert periodic_id("x", 1) != periodic_id("y", 1)
