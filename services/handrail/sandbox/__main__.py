"""`python -m handrail.sandbox`: serves the sandbox on its Unix socket until a signal ends it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pwd
import signal
import socket
import sys
from collections.abc import Generator
from pathlib import Path

import structlog
import uvicorn
import uvloop

from handrail.contract.errors import HandrailError
from handrail.jail import jailer, system
from handrail.jail.limits import DEFAULT
from handrail.kit import logs
from handrail.kit.clock import SYSTEM
from handrail.kit.corked import CorkedHttp
from handrail.kit.spent import SpentTokens
from handrail.sandbox.app import create_app
from handrail.sandbox.environment import GIT_IDENTITY, Environments
from handrail.sandbox.guard import Guard, parse_keys
from handrail.sandbox.places import Places
from handrail.sandbox.records import Records
from handrail.sandbox.service import Parts, Sandbox
from handrail.sandbox.sessions import Commands
from handrail.sandbox.settings import SandboxSettings

log = structlog.get_logger("handrail.sandbox")
DRAIN_S = 1
BACKLOG = 1024


class Server(uvicorn.Server):
    """A uvicorn server whose signals are handled by us: the trees die first, then the server drains."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


def build(settings: SandboxSettings) -> Sandbox:
    """The sandbox of these settings. Raises HandrailError, OSError or ValueError when it cannot work here."""
    own = settings.data_dir / "sandbox"
    own.mkdir(mode=0o700, parents=True, exist_ok=True)
    git_config = own / "gitconfig"
    git_config.write_text(GIT_IDENTITY, encoding="utf-8")
    user_home = pwd.getpwuid(os.getuid()).pw_dir if _has_name() else ""
    hidden = (settings.run_dir, settings.secrets_dir, settings.log_dir, settings.sandbox_socket.parent)
    places = Places(settings.data_dir, user_home, hidden)
    toolchains = system.find_toolchains(os.environ.get("PATH", ""), user_home or "/nonexistent", places.private)
    limits = {
        **DEFAULT,
        "processes": settings.sandbox_processes,
        "memory_mib": settings.sandbox_process_memory,
        "file_mib": settings.sandbox_file_size,
    }
    network = settings.sandbox_network == "on"
    parts = Parts(
        guard=Guard(parse_keys(settings.secret("public.json")), SpentTokens(own / "jti.sqlite", now=SYSTEM.now()), SYSTEM),
        records=Records(own / "records.jsonl", SYSTEM),
        places=places,
        environments=Environments(os.environ, toolchains, git_config, network=network),
        jailer=jailer.Jailer(read_only=[*toolchains.read_only, str(git_config)], limits=limits, network=network),
        commands=Commands(own / "exec", SYSTEM, per_user=settings.sandbox_commands),
        clock=SYSTEM,
    )
    return Sandbox(
        parts, data_dir=settings.data_dir, network=network, ring_bytes=settings.sandbox_ring, timeout_ms=settings.command_timeout
    )


def _has_name() -> bool:
    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        return False
    return True


async def serve(settings: SandboxSettings) -> None:
    """Serve until SIGTERM or SIGINT; then no process is left."""
    sandbox = build(settings)
    await sandbox.start()
    config = uvicorn.Config(
        create_app(sandbox),
        loop="uvloop",
        http=CorkedHttp,
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=DRAIN_S,
        proxy_headers=False,
    )
    server = Server(config)
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    serving = loop.create_task(server.serve([listen(settings.sandbox_socket)]))
    stop = loop.create_task(stopping.wait())
    await asyncio.wait({serving, stop}, return_when=asyncio.FIRST_COMPLETED)
    stop.cancel()
    # first no new command, then the trees (callers that wait get their answer), then the server
    await sandbox.close()
    server.should_exit = True
    await serving
    settings.sandbox_socket.unlink(missing_ok=True)


def listen(path: Path) -> socket.socket:
    """A 0600 Unix socket at `path`; one that a killed service left is replaced. Raises OSError."""
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
    try:
        settings = SandboxSettings.load()
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serve(settings))
    except HandrailError as exc:
        log.error("cannot start", code=exc.code, detail=exc.text("en"))  # noqa: TRY400 - the text says it all, a trace would not help
        return 1
    except (OSError, ValueError) as exc:
        log.error("cannot start", detail=str(exc))  # noqa: TRY400 - the text says it all, a trace would not help
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
