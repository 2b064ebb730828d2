"""What the file routes are compared with: routes that only read, or only write atomically with fsync, and answer the same JSON."""

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
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.demo.embedded import free_port

ROOT = Path(__file__).resolve().parents[2]
READY_S = 20.0


async def read(request: Request) -> Response:
    """The file as text in JSON."""
    path = orjson.loads(await request.body())["path"]

    def work() -> bytes:
        data = Path(path).read_bytes()
        return orjson.dumps({"success": True, "content": data.decode(), "size": len(data), "path": path, "encoding": "utf-8"})

    return Response(await run_in_threadpool(work), media_type="application/json")


async def write(request: Request) -> Response:
    """A file beside it, synced, renamed over it."""
    body = orjson.loads(await request.body())

    def work() -> bytes:
        temp = body["path"] + ".tmp"
        fd = os.open(temp, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o644)
        size = os.write(fd, body["content"].encode())
        os.fsync(fd)
        os.close(fd)
        os.rename(temp, body["path"])
        return orjson.dumps({"success": True, "size": size, "path": body["path"]})

    return Response(await run_in_threadpool(work), media_type="application/json")


@contextlib.contextmanager
def bare_files() -> Generator[int]:
    """The port of a running one."""
    port = free_port()
    child = subprocess.Popen([sys.executable, "-m", "tests.bench.bare_files", str(port)], cwd=ROOT)
    try:
        deadline = time.monotonic() + READY_S
        while time.monotonic() < deadline:
            with contextlib.suppress(httpx.HTTPError):
                httpx.get(f"http://127.0.0.1:{port}/", trust_env=False)
                break
            time.sleep(0.05)
        yield port
    finally:
        child.terminate()
        child.wait(10)


if __name__ == "__main__":
    routes = [Route("/read", read, methods=["POST"]), Route("/write", write, methods=["POST"])]
    uvicorn.run(
        Starlette(routes=routes), host="127.0.0.1", port=int(sys.argv[1]), loop="uvloop", http="httptools", ws="none", lifespan="off",
        access_log=False, log_config=None,
    )  # fmt: skip
