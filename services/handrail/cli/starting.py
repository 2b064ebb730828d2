"""`handrail start`: in the foreground this process becomes the supervisor, in the background it starts one and waits."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from handrail.cli import say
from handrail.cli.client import Admin, admin
from handrail.cli.embedded import announce
from handrail.cli.embedded.announce import Announcer
from handrail.cli.embedded.start import held, preflight
from handrail.cli.embedded.supervisor import Events, Supervisor
from handrail.cli.errors import StartFailed, StartTimedOut
from handrail.cli.options import Given, Options, decide, dumps, remember
from handrail.cli.say import t
from handrail.cli.settings import CliSettings
from handrail.jail import spawn
from handrail.kit.clock import SYSTEM

READY_TIMEOUT_S = 120.0
STEP_S = 0.05
TAIL_BYTES = 6000


def start(given: Given, *, background: bool) -> int:
    """The exit code. Raises CliError."""
    options = decide(given, CliSettings.load(), Path.cwd())
    if background:
        return _in_background(given, options)
    return foreground(given, options, terminal=True)


def foreground(given: Given, options: Options, *, terminal: bool) -> int:
    """Supervise until stopped. `terminal` False: logs stay in their files and no pairing code is printed."""
    environ = dict(os.environ)
    with held(options, environ) as layout:
        remember(layout.data, given, options)
        service = Admin(layout.admin_socket, layout.data)
        announcer = Announcer(service, options)
        events = Events(line=say.note, died=_died, ready=announcer.begin if terminal else _nothing, tick=_nothing)
        supervisor = Supervisor(layout, options, environ, SYSTEM, events, service.is_ready, show_logs=terminal)
        if terminal:
            say.note(t("Starting Handrail ...", "正在启动 Handrail ……"))
        try:
            return supervisor.run()
        finally:
            announcer.end()
            if terminal:
                say.note(t("Handrail has stopped.", "Handrail 已停止。"))


def _in_background(given: Given, options: Options) -> int:
    """0 when /readyz answers 200. Raises StartFailed, StartTimedOut; nothing is left running then."""
    preflight(options)
    data = Path(options.data)
    (data / "logs").mkdir(mode=0o700, parents=True, exist_ok=True)
    log = data / "logs" / "supervisor.log"
    fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    began = os.fstat(fd).st_size
    argv = [sys.executable, "-P", "-m", "handrail.cli.embedded", dumps(given, options)]
    try:
        child = spawn.start(argv, env=dict(os.environ), cwd="/", log=fd, pdeathsig=0)
    finally:
        os.close(fd)
    deadline = SYSTEM.monotonic() + READY_TIMEOUT_S
    while not admin(options.data).is_ready():
        code = child.wait(STEP_S)
        if code is not None:
            say.note(_tail(log, began))
            raise StartFailed(exit=code, logs=log.parent)
        if SYSTEM.monotonic() > deadline:
            child.signal(signal.SIGTERM)
            child.wait(10)
            child.stop(0)
            say.note(_tail(log, began))
            raise StartTimedOut(seconds=int(READY_TIMEOUT_S), logs=log.parent)
    announce.welcome(options, announce.code_of(admin(options.data))[0])
    return 0


def _tail(log: Path, begin: int) -> str:
    with log.open("rb") as file:
        file.seek(max(begin, log.stat().st_size - TAIL_BYTES))
        return file.read(TAIL_BYTES).decode("utf-8", "replace").strip()


def _died(name: str, code: int, delay_s: float) -> None:
    say.note(
        t(
            f"[supervisor] {name} ended (exit code {code}); it starts again in {delay_s:g} s",
            f"[supervisor] {name} 已退出（退出码 {code}），{delay_s:g} 秒后重新启动",
        )
    )


def _nothing() -> None:
    """An event that nobody waits for."""
