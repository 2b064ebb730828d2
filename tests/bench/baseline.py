"""What the figures are compared with: a bare Starlette route on the same uvicorn, a bare spawn, a bare directory listing."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import httpx
import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.demo.embedded import free_port

ROOT = Path(__file__).resolve().parents[2]
READY_S = 20.0
OK = 200


def serve(port: int, body: bytes) -> None:
    """One route that answers `body`, with the options that the api's own server has."""

    async def answer(_: Request) -> Response:
        return Response(body, media_type="application/json")

    app = Starlette(routes=[Route("/bare", answer, methods=["GET", "POST"])])
    uvicorn.run(
        app,
        host="127.0.0.1",
        port=port,
        loop="uvloop",
        http="httptools",
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        server_header=False,
        date_header=False,
        timeout_keep_alive=60,
        proxy_headers=False,
    )


@contextlib.contextmanager
def bare_server(body: bytes) -> Generator[int]:
    """The port of a running one."""
    port = free_port()
    child = subprocess.Popen([sys.executable, "-m", "tests.bench.baseline", str(port)], stdin=subprocess.PIPE, cwd=ROOT)
    try:
        if child.stdin is None:
            raise RuntimeError("no stdin")
        child.stdin.write(body)
        child.stdin.close()
        deadline = time.monotonic() + READY_S
        while time.monotonic() < deadline:
            with contextlib.suppress(httpx.HTTPError):
                if httpx.get(f"http://127.0.0.1:{port}/bare", trust_env=False).status_code == OK:
                    break
            time.sleep(0.05)
        yield port
    finally:
        child.terminate()
        child.wait(10)


def spawn_p50_ms(times: int) -> float:
    """Median of spawn-and-wait of a bash that does nothing, in milliseconds."""
    measured: list[float] = []
    for _ in range(times):
        begun = time.perf_counter()
        subprocess.Popen(["bash", "--noprofile", "--norc", "-c", "true"]).wait()
        measured.append(time.perf_counter() - begun)
    return 1000 * sorted(measured)[len(measured) // 2]


def listing_rate(path: Path, seconds: float) -> float:
    """Listings a second of os.scandir + stat + orjson in this process."""
    count = 0
    begun = time.perf_counter()
    until = begun + seconds
    while time.perf_counter() < until:
        entries: list[dict[str, object]] = []
        with os.scandir(path) as found:
            for entry in found:
                facts = entry.stat(follow_symlinks=False)
                kind = "directory" if entry.is_dir(follow_symlinks=False) else "file"
                entries.append({"name": entry.name, "type": kind, "size": facts.st_size, "mtime": facts.st_mtime_ns / 1e6})
        orjson.dumps({"success": True, "entries": entries, "path": str(path)})
        count += 1
    return count / (time.perf_counter() - begun)


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.stdin.buffer.read())
