# ruff: noqa: E501 - rows of a table
"""Search against raw ripgrep, reads and writes against bare routes, all in one run."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from handrail.api.files.search.engine import find_rg
from tests.bench.bare_files import bare_files
from tests.bench.load import http_request, load
from tests.demo.client import Client
from tests.demo.embedded import running_handrail
from tests.support.filecalls import Calls, actor_in, calls_in

ROUNDS = 5
SECONDS = 1.5
FILES = 5000
LINES = 60  # of each file
NEEDLE = "needle_42"
RG_TIMES, RG_PLUS_MS, FALLBACK_TIMES, SHARE = 1.15, 5.0, 12.0, 0.6

Row = dict[str, Any]


def run() -> list[Row]:
    """All of it on one Handrail."""
    with running_handrail(HANDRAIL_RATE_LIMIT="0") as running, Client(running.url) as client, bare_files() as bare:
        client.pair(running.paircode(), "bench")
        tree(running.workdir / "tree")
        big, small = str(running.workdir / "big.txt"), str(running.workdir / "small.txt")
        (running.workdir / "big.txt").write_text(("x" * 63 + "\n") * (1 << 14))
        port = urlsplit(running.url).port or 0
        rows = search(
            running.workdir / "tree", lambda: client.post("/api/fs/search_content", path=str(running.workdir / "tree"), pattern=NEEDLE)
        )
        rows.append(rate("fs/read 1 MB", port, "/api/fs/read", bare, "/read", client.token, {"path": big}))
        rows.append(
            rate("fs/write 1 KB", port, "/api/fs/write", bare, "/write", client.token, {"path": small, "content": "x" * 1023 + "\n"})
        )
    return rows


def tree(root: Path) -> None:
    """FILES small files in 100 directories; one in fifty holds the needle."""
    rng = random.Random(5)
    words = [f"word{number}" for number in range(500)]
    for number in range(FILES):
        path = root / f"d{number % 100:02}" / f"f{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [" ".join(rng.choices(words, k=8)) for _ in range(LINES)]
        if number % 50 == 0:
            lines[LINES // 2] = f"a {NEEDLE} b"
        path.write_text("\n".join(lines) + "\n")


def search(root: Path, by_http: Callable[[], Any]) -> list[Row]:
    """`search_content` over the tree, with ripgrep and without, in milliseconds."""
    rg = find_rg()
    if rg is None:
        raise RuntimeError("no ripgrep")
    raw: list[float] = []
    ours: list[float] = []
    for _ in range(2 * ROUNDS):
        raw.append(milliseconds(lambda: subprocess.run([rg, "-Fin", NEEDLE, str(root)], capture_output=True, check=True)))
        ours.append(milliseconds(by_http))
    fallback = without_rg(root)
    base = median(raw)
    limit = base * RG_TIMES + RG_PLUS_MS
    return [
        {
            "name": f"search_content, {FILES:,} files, ripgrep", "value": median(ours), "unit": "ms", "baseline": base, "ratio": median(ours) / base,
            "target": f"<= {RG_TIMES:g} x + {RG_PLUS_MS:g} ms", "ok": median(ours) <= limit,
        },
        {
            "name": f"search_content, {FILES:,} files, fallback", "value": fallback, "unit": "ms", "baseline": base, "ratio": fallback / base,
            "target": f"<= {FALLBACK_TIMES:g} x", "ok": fallback <= base * FALLBACK_TIMES,
        },
    ]  # fmt: skip


def without_rg(root: Path) -> float:
    """The same search by the fallback, in this process."""
    with tempfile.TemporaryDirectory() as base:
        return asyncio.run(_without_rg(calls_in(Path(base)), root))


async def _without_rg(calls: Calls, root: Path) -> float:
    calls.actor = actor_in(root)
    calls.service.rg = lambda: None
    measured: list[float] = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        found = await calls("SearchContent", pattern=NEEDLE, path=".")
        measured.append(1000 * (time.perf_counter() - begun))
        if found["total"] != FILES // 50:
            raise RuntimeError(f"{found['total']} hits")
    calls.service.close()
    return median(measured)


def milliseconds(work: Callable[[], Any]) -> float:
    """How long it takes."""
    begun = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - begun)


def rate(name: str, port: int, path: str, bare_port: int, bare_path: str, token: str, body: dict[str, object]) -> Row:
    """Requests a second on one connection, against the bare route."""
    raw = json.dumps(body).encode()
    ours: list[float] = []
    bare: list[float] = []
    for _ in range(ROUNDS):
        bare.append(load(bare_port, http_request(bare_path, token, raw), 1, seconds=SECONDS)["rate"])
        ours.append(load(port, http_request(path, token, raw), 1, seconds=SECONDS)["rate"])
    ratio = median(ours) / median(bare)
    return {
        "name": name, "value": median(ours), "unit": "requests/s", "baseline": median(bare), "ratio": ratio, "target": f">= {SHARE:g} x",
        "ok": ratio >= SHARE,
    }  # fmt: skip
