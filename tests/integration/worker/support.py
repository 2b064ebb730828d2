"""A real worker process with job kinds for tests, and the same settings in this process."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any, cast

from handrail.kit import logs
from handrail.kit.clock import SYSTEM
from handrail.store import jobs
from handrail.store.pool import open_pool
from handrail.worker.__main__ import open_database, run_worker
from handrail.worker.app import RUN_JOB, make_app
from handrail.worker.jobs import Context, Run
from handrail.worker.loop import Loop
from handrail.worker.settings import WorkerSettings
from handrail.worker.tasks import HANDLERS, register
from tests.support.database import Prepared

LEASE_S = 1.0


def environment(prepared: Prepared) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HANDRAIL_")}
    return {
        **kept,
        "HANDRAIL_SECRETS_DIR": str(prepared.secrets / "worker"),
        "HANDRAIL_DATA_DIR": str(prepared.secrets.parent),
        "HANDRAIL_WORKER_LEASE": str(LEASE_S),
    }


def worker_process(prepared: Prepared, log: Path) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
    """`python -m tests.integration.worker.support`: the product's worker, with the kinds below added."""
    return process(prepared, log, "tests.integration.worker.support")


@contextlib.contextmanager
def process(prepared: Prepared, log: Path, module: str) -> Generator[subprocess.Popen[bytes]]:
    """A module of the worker room as a process of its own."""
    with log.open("ab") as sink:
        child = subprocess.Popen(
            [sys.executable, "-m", module],
            env=environment(prepared),
            stdout=sink,
            stderr=sink,
            cwd=Path(__file__).resolve().parents[3],
        )
    try:
        yield child
    finally:
        if child.poll() is None:
            child.send_signal(signal.SIGTERM)
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


# ---- job kinds: each writes what it does into a file, so that a test sees every start and every end


def note(run: Run, text: str) -> None:
    with Path(str(run.arguments["file"])).open("a", encoding="utf-8") as file:
        file.write(f"{text} {run.lease.fence}\n")


def slow(run: Run) -> Mapping[str, object]:
    """Works for `seconds` in small steps, longer than a lease."""
    note(run, "start")
    deadline = time.monotonic() + float(cast("float", run.arguments["seconds"]))
    while time.monotonic() < deadline:
        time.sleep(0.02)
        run.step()
    note(run, "end")
    return {"fence": run.lease.fence}


def resume(run: Run) -> Mapping[str, object]:
    """Counts to `count`, saving its progress; goes on from there when it is taken over."""
    begin = int(cast("int", run.lease.progress.get("done", 0)))
    note(run, f"from-{begin}")
    for number in range(begin, int(cast("int", run.arguments["count"]))):
        time.sleep(0.05)
        run.step({"done": number + 1})
    return {"from": begin}


def broken(run: Run) -> Mapping[str, object]:
    raise RuntimeError("a secret detail")


KINDS = {**HANDLERS, "slow": slow, "resume": resume, "broken": broken}


class Bench:
    """This process's way to the queue and the rows."""

    def __init__(self, prepared: Prepared, settings: WorkerSettings) -> None:
        self.app = make_app(settings)
        self.loop = Loop()
        self.pool = self.loop.run(open_pool(prepared.url("worker"), name="test"))
        self.clock = SYSTEM

    def submit(self, job_id: str, kind: str, arguments: Mapping[str, object], *, messages: int = 1) -> None:
        self.loop.run(jobs.create(self.pool, job_id=job_id, kind=kind, arguments=arguments, now=self.clock.now()))
        for _ in range(messages):
            self.app.send_task(RUN_JOB, args=(job_id, None))

    def row(self, job_id: str) -> dict[str, Any]:
        found = self.loop.run(jobs.get(self.pool, job_id=job_id, user_id=None))
        assert found is not None
        return found

    def cancel(self, job_id: str) -> str | None:
        return self.loop.run(jobs.cancel(self.pool, job_id=job_id, user_id=None, now=self.clock.now()))

    def close(self) -> None:
        self.app.close()
        self.loop.run(self.pool.close())
        self.loop.close()


def main() -> int:
    logs.configure()
    settings = WorkerSettings.load()
    app, loop = make_app(settings), Loop()
    pool = loop.run(open_database(settings))
    register(app, Context(loop, pool, SYSTEM, f"test:{os.getpid()}", settings.worker_lease, settings.retention_days), KINDS)
    return run_worker(app, settings)


if __name__ == "__main__":
    sys.exit(main())
