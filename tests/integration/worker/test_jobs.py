from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.integration.worker.support import LEASE_S, Bench, process, worker_process
from tests.support.database import Prepared
from tests.support.wait import until

FINISHED = ("succeeded", "failed", "cancelled")


@pytest.fixture(scope="module", autouse=True)
def worker(prepared: Prepared, shared_dir: Path) -> Generator[None]:
    with worker_process(prepared, shared_dir / "worker.log"):
        yield


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "notes"
    path.touch()
    return path


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines()


def finished(bench: Bench, job_id: str, timeout_s: float = 20) -> dict[str, object]:
    until(lambda: bench.row(job_id)["state"] in FINISHED, "the job has ended", timeout_s)
    return bench.row(job_id)


@pytest.mark.req("JOB-1")
def test_a_message_that_comes_three_times_runs_the_job_once(bench: Bench, file: Path) -> None:
    job_id = str(uuid.uuid4())
    bench.submit(job_id, "slow", {"file": str(file), "seconds": 3 * LEASE_S}, messages=3)
    row = finished(bench, job_id)
    assert (row["state"], row["attempts"], row["result"]) == ("succeeded", 1, {"fence": 1})
    assert lines(file) == ["start 1", "end 1"]


@pytest.mark.req("JOB-1")
def test_a_job_much_longer_than_the_visibility_timeout_keeps_its_lease(bench: Bench, file: Path, shared_dir: Path) -> None:
    job_id = str(uuid.uuid4())
    bench.submit(job_id, "slow", {"file": str(file), "seconds": 6 * LEASE_S})  # the message is redelivered after 2 s
    assert finished(bench, job_id)["attempts"] == 1
    assert lines(file) == ["start 1", "end 1"]
    # the message really came again, found the live lease and was only acknowledged
    assert f"job={job_id} outcome=taken" in (shared_dir / "worker.log").read_text()


@pytest.mark.req("JOB-2")
def test_what_a_job_raises_becomes_a_code_and_not_a_trace(bench: Bench, file: Path) -> None:
    job_id = str(uuid.uuid4())
    bench.submit(job_id, "broken", {"file": str(file)})
    row = finished(bench, job_id)
    assert (row["state"], row["error"]) == ("failed", {"code": "internal", "error": "RuntimeError"})


@pytest.mark.req("JOB-2")
def test_a_kind_that_nobody_knows_fails(bench: Bench) -> None:
    job_id = str(uuid.uuid4())
    bench.submit(job_id, "no-such-kind", {})
    row = finished(bench, job_id)
    assert row["state"] == "failed"
    assert row["error"] == {"code": "job.unknown_kind", "error": "There is no job of the kind no-such-kind."}


@pytest.mark.req("JOB-3")
def test_a_running_job_stops_at_its_next_step_when_it_is_cancelled(bench: Bench, file: Path) -> None:
    job_id = str(uuid.uuid4())
    bench.submit(job_id, "slow", {"file": str(file), "seconds": 60})
    until(lambda: lines(file), "the job has begun")
    assert bench.cancel(job_id) == "running"
    assert finished(bench, job_id)["state"] == "cancelled"
    assert lines(file) == ["start 1"]


@pytest.mark.req("JOB-4")
def test_a_killed_worker_loses_nothing_and_another_goes_on_from_the_saved_progress(
    bench: Bench, prepared: Prepared, file: Path, tmp_path: Path
) -> None:
    job_id = str(uuid.uuid4())
    # beat is part of it: a message that comes back while the dead worker's lease still lives is acknowledged, and then
    # only the row remembers the job
    with worker_process(prepared, tmp_path / "log"), process(prepared, tmp_path / "log", "handrail.worker.beat"):
        bench.submit(job_id, "resume", {"file": str(file), "count": 40})
        until(lambda: bench.row(job_id)["progress"].get("done", 0) > 3, "the job has saved progress")
        holder = prepared.query(b"select lease_owner from jobs where job_id = %(id)s", {"id": job_id})[0]["lease_owner"]
        victim = int(str(holder).rpartition(":")[2])
        os.kill(victim, signal.SIGKILL)  # the module's own worker or the second one: the other goes on
        row = finished(bench, job_id, 40)
    assert row["state"] == "succeeded"
    assert row["attempts"] == 2
    begins = [line.split() for line in lines(file)]
    assert begins[0] == ["from-0", "1"]
    assert begins[1][1] == "2"
    assert int(begins[1][0].removeprefix("from-")) > 3
