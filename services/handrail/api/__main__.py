"""`python -m handrail.api`: serves the public application on TCP and the admin application on a 0600 socket."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import structlog
import uvicorn
import uvloop

from handrail.api.build import build
from handrail.api.settings import ApiSettings
from handrail.contract.errors import HandrailError
from handrail.kit import logs
from handrail.kit.corked import CorkedHttp

log = structlog.get_logger("handrail.api")
KEEP_ALIVE_S = 5
DRAIN_S = 5  # for answers that are on their way when the service stops
BACKLOG = 2048


class Server(uvicorn.Server):
    """A uvicorn server whose signals are handled by us: two servers share one process."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


async def serve(settings: ApiSettings) -> int:
    """Serve until a signal or a request ends it; the exit code."""
    servers: list[uvicorn.Server] = []

    def stop() -> None:
        for server in servers:
            server.should_exit = True

    async with build(settings, stop) as process:
        public = _listen(settings.host, settings.port)
        admin = _listen_unix(settings.admin_socket)
        # what was made at the start lives as long as the process: the collector need not look at it again and again
        gc.collect()
        gc.freeze()
        gc.set_threshold(20_000, 20, 50)
        servers += [Server(_config(process.public, ws=True)), Server(_config(process.admin, ws=False))]
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, process.lifecycle.signalled, number)
        try:
            await asyncio.gather(servers[0].serve([public]), servers[1].serve([admin]))
        finally:
            settings.admin_socket.unlink(missing_ok=True)
        return process.lifecycle.exit_code


def _config(app: object, *, ws: bool) -> uvicorn.Config:
    return uvicorn.Config(
        app,  # type: ignore[arg-type]  # uvicorn's own ASGI alias is narrower than starlette's
        loop="uvloop",
        http=CorkedHttp,
        ws="websockets-sansio" if ws else "none",
        lifespan="off",
        access_log=False,
        log_config=None,
        server_header=False,
        date_header=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=DRAIN_S,
        proxy_headers=False,  # the peer is the socket's address, never a header's
    )


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((host, port))
    sock.listen(BACKLOG)
    sock.set_inheritable(False)
    return sock


def _listen_unix(path: Path) -> socket.socket:
    path.unlink(missing_ok=True)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        sock.bind(str(path))
    finally:
        os.umask(before)
    sock.listen(BACKLOG)
    return sock


def main() -> int:
    """Start; a set-up that cannot work is one clear line on stderr and exit code 1."""
    logs.configure()
    # files that a client writes are as open as files that a command writes; our own are 0600 by their own mode
    os.umask(0o022)
    # threads that write logs give the lock back to the event loop after 1 ms, not 5
    sys.setswitchinterval(0.001)
    try:
        settings = ApiSettings.load()
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(serve(settings))
    except HandrailError as exc:
        log.error("cannot start", code=exc.code, detail=exc.text("en"))  # noqa: TRY400 - one line, no trace
        return 1
    except OSError as exc:
        log.error("cannot start", detail=str(exc))  # noqa: TRY400 - one line, no trace
        return 1


if __name__ == "__main__":
    sys.exit(main())
