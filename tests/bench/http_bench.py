"""The main job's figures against a baseline of the same run: reads, commands, listings, memory."""

from __future__ import annotations

import json
from statistics import median
from typing import Any
from urllib.parse import urlsplit

import psutil

from tests.bench.baseline import bare_server, listing_rate, spawn_p50_ms
from tests.bench.load import http_request, load
from tests.demo.client import Client
from tests.demo.embedded import Running, running_handrail

ROUNDS = 5
SECONDS = 1.5  # of each measurement of a rate
SPAWNS = 150  # commands of each measurement of a latency
ENTRIES = 1000
CONNECTIONS = (1, 8)
READ_SHARE, LIST_SHARE, EXEC_TIMES, MEMORY_TIMES = 0.5, 0.4, 5.0, 1.2
NO_LIMITS = {"HANDRAIL_RATE_LIMIT": "0"}

Row = dict[str, Any]


def run() -> list[Row]:
    """All of it on one Handrail."""
    with running_handrail(**NO_LIMITS) as running, Client(running.url) as client:
        client.pair(running.paircode(), "bench")
        _prepare(running, client)
        _exercise(running, client)  # warm, so that memory is compared between two steady states
        before = resident_mb(running)
        rows = [*_reads(running, client), _commands(running, client), _listings(running, client)]
        after = resident_mb(running)
    rows.append(_row("resident memory after / before (MB, all services)", after, "MB", before, after / before, MEMORY_TIMES, most=True))
    return rows


def resident_mb(running: Running) -> float:
    """Resident memory of the supervisor and everything below it but Postgres and Valkey, whose caches grow on purpose."""
    top = psutil.Process(running.pid)
    every = [top, *top.children(recursive=True)]
    return sum(process.memory_info().rss for process in every if process.name().startswith(("python", "handrail"))) / 1e6


def _row(name: str, value: float, unit: str, baseline: float, ratio: float, limit: float, *, most: bool) -> Row:
    target = f"<= {limit:g} x" if most else f">= {limit:g} x"
    ok = ratio <= limit if most else ratio >= limit
    return {"name": name, "value": value, "unit": unit, "baseline": baseline, "ratio": ratio, "target": target, "ok": ok}


def _prepare(running: Running, client: Client) -> None:
    client.post("/api/fs/write", path=f"{running.workdir}/one.txt", content="x" * 1023 + "\n")
    client.post("/api/fs/mkdir", path=f"{running.workdir}/many")
    client.run(f"touch many/entry-{{0001..{ENTRIES}}}.txt", str(running.workdir))
    listed = client.post("/api/fs/list", path=f"{running.workdir}/many")
    if len(listed["entries"]) != ENTRIES:
        raise RuntimeError(f"the directory has {len(listed['entries'])} entries")


def _port(running: Running) -> int:
    return urlsplit(running.url).port or 0


def _body(**fields: object) -> bytes:
    return json.dumps(fields).encode()


def _exercise(running: Running, client: Client) -> None:
    for path, body in (
        ("/api/fs/read", _body(path=f"{running.workdir}/one.txt")),
        ("/api/fs/list", _body(path=f"{running.workdir}/many")),
        ("/api/exec", _body(command="true", cwd=str(running.workdir), wait=True)),
    ):
        load(_port(running), http_request(path, client.token, body), 8, seconds=1.0)


def _reads(running: Running, client: Client) -> list[Row]:
    body = _body(path=f"{running.workdir}/one.txt")
    answer = client.raw("POST", "/api/fs/read", path=f"{running.workdir}/one.txt").content
    ours: dict[int, list[float]] = {count: [] for count in CONNECTIONS}
    bare: dict[int, list[float]] = {count: [] for count in CONNECTIONS}
    with bare_server(answer) as port:
        for _ in range(ROUNDS):
            for connections in CONNECTIONS:
                bare[connections].append(load(port, http_request("/bare", client.token, body), connections, seconds=SECONDS)["rate"])
                request = http_request("/api/fs/read", client.token, body)
                ours[connections].append(load(_port(running), request, connections, seconds=SECONDS)["rate"])
    return [
        _row(
            f"fs/read 1 KB, {connections} connection{'s' if connections > 1 else ''}",
            median(ours[connections]),
            "requests/s",
            median(bare[connections]),
            median(ours[connections]) / median(bare[connections]),
            READ_SHARE,
            most=False,
        )
        for connections in CONNECTIONS
    ]


def _commands(running: Running, client: Client) -> Row:
    request = http_request("/api/exec", client.token, _body(command="true", cwd=str(running.workdir), wait=True))
    ours: list[float] = []
    bare: list[float] = []
    for _ in range(ROUNDS):
        bare.append(spawn_p50_ms(SPAWNS))
        ours.append(load(_port(running), request, 1, requests=SPAWNS)["p50_ms"])
    return _row("exec true, wait: p50", median(ours), "ms", median(bare), median(ours) / median(bare), EXEC_TIMES, most=True)


def _listings(running: Running, client: Client) -> Row:
    request = http_request("/api/fs/list", client.token, _body(path=f"{running.workdir}/many"))
    ours: list[float] = []
    bare: list[float] = []
    for _ in range(ROUNDS):
        bare.append(listing_rate(running.workdir / "many", SECONDS))
        ours.append(load(_port(running), request, 1, seconds=SECONDS)["rate"])
    return _row(
        f"fs/list of {ENTRIES:,} entries", median(ours), "listings/s", median(bare), median(ours) / median(bare), LIST_SHARE, most=False
    )
