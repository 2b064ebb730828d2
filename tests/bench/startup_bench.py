"""How long the second start takes until /readyz answers 200, what the idle processes hold, how long Ctrl-C takes."""

from __future__ import annotations

import contextlib
import signal
import time
from statistics import median
from typing import Any

import httpx
import psutil

from tests.support.instance import READY_S, Instance, instance
from tests.support.wait import until

ROUNDS = 5
READY_TARGET_S = 6.0
STOP_TARGET_S = 10.0
MEMORY_TARGET_MB = 450.0
PARTS = ("api", "sandbox", "worker", "beat", "postgres", "valkey")
SETTLED_MB = 2.0  # memory that moved less than this between two looks is idle
MB = 1_000_000

Row = dict[str, Any]


def run() -> list[Row]:
    """Rows of `make bench`."""
    with instance() as one:
        first = timed_start(one)
        timed_stop(one)
        starts: list[float] = []
        cpu: list[float] = []
        stops: list[float] = []
        memory = 0.0
        for number in range(ROUNDS):
            starts.append(timed_start(one))
            cpu.append(cpu_seconds(one))
            if number == 0:
                memory = idle_memory_mb(one)
            stops.append(timed_stop(one))
    return [
        row("first start until ready (makes the database)", first, "s", None, ok=None),
        row("second start until ready, median of 5", median(starts), "s", READY_TARGET_S, ok=median(starts) <= READY_TARGET_S),
        row("processor time of a second start (independent of load), median of 5", median(cpu), "s", None, ok=None),
        row("Ctrl-C until everything has ended, median of 5", median(stops), "s", STOP_TARGET_S, ok=max(stops) <= STOP_TARGET_S),
        row("idle memory of all processes (sum of PSS)", memory, "MB", MEMORY_TARGET_MB, ok=memory <= MEMORY_TARGET_MB),
    ]


def row(name: str, value: float, unit: str, target: float | None, *, ok: bool | None) -> Row:
    shown = None if target is None else f"<= {target:g} {unit}"
    return {"name": name, "value": value, "unit": unit, "baseline": None, "ratio": None, "target": shown, "ok": ok}


def timed_start(one: Instance) -> float:
    """Seconds from the command to the first 200 of /readyz."""
    began = time.monotonic()
    child = one.start(wait=False)
    with httpx.Client(base_url=one.url, trust_env=False, timeout=5) as http:
        until(lambda: _ready(http) or child.poll() is not None, "ready", READY_S)
    assert child.poll() is None, one.text()[-2000:]
    return time.monotonic() - began


def _ready(http: httpx.Client) -> bool:
    with contextlib.suppress(httpx.HTTPError):
        return http.get("/readyz").status_code == 200
    return False


def cpu_seconds(one: Instance) -> float:
    """Processor seconds that all processes have used so far, those that have ended included."""
    total = 0.0
    for pid in one.processes():
        with contextlib.suppress(psutil.NoSuchProcess):
            times = psutil.Process(pid).cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


def timed_stop(one: Instance) -> float:
    """Seconds from SIGINT to the end of the command, with no process left."""
    child = one.children[-1]
    began = time.monotonic()
    child.send_signal(signal.SIGINT)
    child.wait(30)
    until(lambda: not one.processes(), "nothing is left", 5)
    return time.monotonic() - began


def idle_memory_mb(one: Instance) -> float:
    """Sum of PSS once every part runs and the sum has come to rest."""

    def all_run() -> bool:
        try:
            return all(one.part(name) for name in PARTS)
        except AssertionError:
            return False

    until(all_run, "every part runs", 60)
    last = [0.0]

    def settled() -> float:
        time.sleep(0.5)
        before, last[0] = last[0], pss_mb(one)
        return last[0] if abs(last[0] - before) < SETTLED_MB else 0.0

    return until(settled, "memory has come to rest", 60)


def pss_mb(one: Instance) -> float:
    total = 0
    for pid in one.processes():
        with contextlib.suppress(psutil.NoSuchProcess):
            total += int(psutil.Process(pid).memory_full_info().pss)
    return total / MB
