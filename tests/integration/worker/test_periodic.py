from __future__ import annotations

import time
import uuid
from collections.abc import Generator
from pathlib import Path

import pytest

from handrail.store import jobs
from handrail.worker.alive import is_alive
from handrail.worker.app import PERIODIC
from handrail.worker.tasks import periodic_id
from tests.integration.worker.support import Bench, process
from tests.support.database import Prepared
from tests.support.wait import until

DAY_S = 86400.0


@pytest.fixture(scope="module", autouse=True)
def services(prepared: Prepared, shared_dir: Path) -> Generator[None]:
    """The product's own worker and beat."""
    log = shared_dir / "periodic.log"
    with process(prepared, log, "handrail.worker"), process(prepared, log, "handrail.worker.beat"):
        yield


@pytest.mark.req("JOB-7")
def test_worker_and_beat_give_signs_of_life_and_take_them_back(bench: Bench, prepared: Prepared, tmp_path: Path) -> None:
    broker = prepared.url("worker", "broker_url")
    until(lambda: is_alive(broker, "worker") and is_alive(broker, "beat"), "both gave a sign", 20)
    assert not is_alive(broker, "somebody")
    assert not is_alive("unix:///tmp/no-such-socket", "worker")


@pytest.mark.req("JOB-5")
def test_a_job_whose_message_was_lost_is_sent_again(bench: Bench) -> None:
    # a row without any message, older than the grace: as after a crash between insert and send, or a broker that lost its data
    job_id = str(uuid.uuid4())
    bench.loop.run(jobs.create(bench.pool, job_id=job_id, kind="retention", arguments={}, now=time.time() - 60))
    until(lambda: bench.row(job_id)["state"] == "succeeded", "it ran", 20)
    assert bench.row(job_id)["attempts"] == 1


@pytest.mark.req("JOB-8")
def test_retention_deletes_what_has_ended_long_ago_and_nothing_else(bench: Bench, prepared: Prepared) -> None:
    (user,) = prepared.query(b"select m.user_id::text as user_id, m.workspace_id::text as workspace_id from members m")
    now = time.time()
    for age_s, code in ((2 * 3600, "old"), (60, "young")):
        prepared.query(
            b"insert into pairings (user_id, workspace_id, code_hash, created_at, expires_at)"
            b" values (%(user_id)s, %(workspace_id)s, sha256(%(code)s), to_timestamp(%(at)s), to_timestamp(%(at)s))",
            {**user, "code": code.encode(), "at": now - age_s},
        )
        prepared.query(
            b"insert into sessions (user_id, cookie_hash, csrf, expires_at)"
            b" values (%(user_id)s, sha256(%(code)s), 'x', to_timestamp(%(at)s))",
            {**user, "code": code.encode(), "at": now - age_s if code == "old" else now + 60},
        )
    for days, kind in ((31, "old"), (29, "young")):
        prepared.query(
            b"insert into jobs (kind, state, finished_at) values (%(kind)s, 'succeeded', to_timestamp(%(at)s))",
            {"kind": kind, "at": now - days * DAY_S},
        )
    prepared.query(b"insert into jobs (kind, state, created_at) values ('unfinished', 'cancelled', 'epoch')")
    bench.app.send_task(PERIODIC, args=("retention", 1))
    job_id = periodic_id("retention", 1)
    until(lambda: prepared.query(b"select 1 from jobs where job_id = %(id)s and state = 'succeeded'", {"id": job_id}), "it ran", 20)
    assert bench.row(job_id)["result"] == {"pairings": 1, "sessions": 1, "jobs": 1, "approvals": 0}
    kinds = prepared.query(b"select kind from jobs where kind in ('old', 'young', 'unfinished') order by kind")
    assert [row["kind"] for row in kinds] == ["unfinished", "young"]
    assert prepared.query(b"select count(*)::int as n from pairings") == [{"n": 1}]


@pytest.mark.req("JOB-1")
def test_the_same_occurrence_of_a_periodic_job_is_one_job(bench: Bench, prepared: Prepared) -> None:
    for _ in range(3):
        bench.app.send_task(PERIODIC, args=("retention", 2))
    bench.app.send_task(PERIODIC, args=("retention", 3))
    last = periodic_id("retention", 3)
    until(lambda: prepared.query(b"select 1 from jobs where job_id = %(id)s and state = 'succeeded'", {"id": last}), "all ran", 20)
    assert bench.row(periodic_id("retention", 2))["attempts"] == 1
