"""What the supervisor runs: the environment and the command line of each part."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from handrail.cli.embedded import postgres, valkey
from handrail.cli.embedded.layout import Layout, write_private
from handrail.cli.options import Options
from handrail.contract.setting_names import BY_NAME

Command = Callable[[], tuple[list[str], dict[str, str]]]

# from the starter's own environment; everything else stays outside
PASSED = ("PATH", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")

# for the api alone, which opens files on the person's desktop when it is asked to
DESKTOP = ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")


@dataclass(frozen=True, slots=True)
class Part:
    """One supervised process. `phase` orders the stop: lower ends first; `death` is sent if the supervisor dies."""

    name: str
    command: Command
    phase: int
    stop_signal: int = signal.SIGTERM
    death: int = signal.SIGTERM
    echo: bool = False  # its log lines go to the terminal too
    late: bool = False  # not needed for the first answer: started when the others are ready


def parts(layout: Layout, options: Options, environ: Mapping[str, str]) -> tuple[Part, ...]:
    """The long-lived services of this start, in order of start."""

    def module(name: str, zone: str) -> Command:
        env = service_env(layout, options, environ, zone)
        return lambda: ([sys.executable, "-P", "-m", name], env)

    return (
        Part("sandbox", module("handrail.sandbox", "sandbox"), 1, echo=True),
        Part("api", module("handrail.api", "api"), 0, echo=True),
        # a task that is cut off comes back by its lease: no need to wait for it when nobody supervises any more
        Part("worker", module("handrail.worker", "worker"), 0, death=signal.SIGKILL, echo=True, late=True),
        Part("beat", module("handrail.worker.beat", "worker"), 0, death=signal.SIGKILL, echo=True, late=True),
    )


def servers(layout: Layout, environ: Mapping[str, str]) -> tuple[Part, ...]:
    """Postgres and Valkey, unless the environment names servers to use instead."""
    out: list[Part] = []
    if not environ.get("REDIS_URL"):
        out.append(Part("valkey", lambda: valkey.command(layout), 2))
    if not environ.get("DATABASE_URL"):
        out.append(Part("postgres", lambda: postgres.command(layout), 2, postgres.STOP_SIGNAL, postgres.STOP_SIGNAL))
    return tuple(out)


def init_command(layout: Layout, options: Options, environ: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """The one-shot that makes keys, roles, tables, the first owner and workspace."""
    env = service_env(layout, options, environ, "")
    # the embedded servers' addresses travel as files: an environment can be read by every process of the same user
    for name, url in (("DATABASE_URL", postgres.url), ("REDIS_URL", valkey.url)):
        if environ.get(name):
            env[name] = environ[name]
        else:
            write_private(layout.secrets("init") / name.lower(), url(layout).encode(), layout)
    return [sys.executable, "-P", "-m", "handrail.store.init"], env


def service_env(layout: Layout, options: Options, environ: Mapping[str, str], zone: str) -> dict[str, str]:
    """The whole environment of a service; `zone` picks its secrets directory ('' = all of them, for init)."""
    passed = PASSED + DESKTOP if zone == "api" else PASSED
    env = {name: environ[name] for name in passed if name in environ}
    env |= {name: value for name, value in environ.items() if name in BY_NAME}
    env |= options.env
    env |= {
        "HANDRAIL_DATA_DIR": str(layout.data),
        "HANDRAIL_RUN_DIR": str(layout.run),
        "HANDRAIL_SECRETS_DIR": str(layout.secrets(zone) if zone else layout.data / "secrets"),
        "HANDRAIL_LOG_DIR": str(layout.logs),
        "HANDRAIL_WORKDIR": options.workdir,
        "HANDRAIL_HOST": options.host,
        "HANDRAIL_PORT": str(options.port),
        "HANDRAIL_LANG": options.lang,
        "HANDRAIL_FORM": "embedded",
        "HANDRAIL_SANDBOX_SOCKET": str(layout.sandbox_socket),
        "HANDRAIL_ADMIN_SOCKET": str(layout.admin_socket),
        "HOME": str(layout.data),
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "MALLOC_ARENA_MAX": "2",  # glibc keeps an arena a thread: tens of MB for nothing
    }
    env.setdefault("PATH", os.defpath)
    return env
