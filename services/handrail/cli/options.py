"""Options of a start: command line before environment before config.json before default, and what may not be combined."""

from __future__ import annotations

import ipaddress
import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from handrail.cli import config
from handrail.cli.errors import DataInsideWorkRoot, RemoteHostRefused
from handrail.cli.settings import CliSettings
from handrail.contract.errors import Lang
from handrail.kit.canonical import loads

START_FILE = "start.json"  # options of the last start, for restart


@dataclass(frozen=True, slots=True)
class Given:
    """What was typed. None = not given. Paths may be relative to the directory of the start."""

    data: str | None = None
    host: str | None = None
    port: int | None = None
    workdir: str | None = None
    lang: Lang | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """A start, decided. Paths are absolute strings; `env` holds settings that services read by the same name."""

    data: str
    host: str
    port: int
    workdir: str
    lang: Lang
    env: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def address(self) -> str:
        """Base URL as a user of this machine types it."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::", "") else self.host  # noqa: S104 - compared, not bound
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"


def dumps(given: Given, options: Options) -> str:
    """Both as the one argument of a supervisor in the background."""
    return json.dumps({"given": asdict(given), "options": asdict(options)})


def undump(text: str) -> tuple[Given, Options]:
    """What `dumps` wrote."""
    value = cast("dict[str, dict[str, Any]]", loads(text))
    return Given(**value["given"]), Options(**value["options"])


def data_dir(given: str | None, settings: CliSettings) -> Path:
    """The data directory of this invocation, absolute; links are followed so that one directory has one name."""
    return Path(given).expanduser().resolve() if given else settings.data_dir.resolve()


def decide(given: Given, settings: CliSettings, cwd: Path) -> Options:
    """Put the sources together. Raises ConfigUnreadable, UnknownConfigKey, RemoteHostRefused, DataInsideWorkRoot."""
    data = data_dir(given.data, settings)
    file = config.load(data / "config.json")
    host = given.host or settings.host or file.host or "127.0.0.1"
    port = given.port or settings.port or file.port or 18910
    chosen = given.workdir or (str(settings.workdir) if settings.workdir else file.workdir) or str(cwd)
    # resolve, not realpath of the last part only: the services compare real paths
    workdir = (cwd / Path(chosen).expanduser()).resolve()
    if not is_loopback(host) and not settings.allow_remote:
        raise RemoteHostRefused(host=host, port=port)
    if data.is_relative_to(workdir) or workdir.is_relative_to(data):
        raise DataInsideWorkRoot(data=data, workdir=workdir)
    env = _tunables(settings, file)
    return Options(str(data), host, port, str(workdir), given.lang or settings.lang, env)


def is_loopback(host: str) -> bool:
    """Whether listening on `host` is reachable from this machine only. A name other than localhost is not trusted to be."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def remember(data: Path, given: Given, options: Options) -> None:
    """Keep what was typed (and the work root that was meant) for `restart`."""
    kept = {"host": given.host, "port": given.port, "workdir": options.workdir, "lang": given.lang}
    path = data / START_FILE
    temporary = path.with_name(f".{START_FILE}.{os.getpid()}")
    temporary.write_text(json.dumps(kept), encoding="utf-8")
    temporary.replace(path)


def remembered(data: Path) -> Given:
    """The last start's options; empty when there was none or the file is damaged."""
    try:
        kept = loads((data / START_FILE).read_bytes())
        return Given(str(data), kept["host"], kept["port"], kept["workdir"], kept["lang"])
    except (OSError, ValueError, KeyError, TypeError):
        return Given(str(data))


def _tunables(settings: CliSettings, file: config.ConfigFile) -> dict[str, str]:
    pairs = {
        "HANDRAIL_PAIR_CODE_TTL": settings.pair_code_ttl or file.pairCodeTTL,
        "HANDRAIL_COMMAND_TIMEOUT": settings.command_timeout or file.commandTimeout,
        "HANDRAIL_FILE_MAX_SIZE": settings.file_max_size or file.fileMaxSize,
    }
    env = {name: str(value) for name, value in pairs.items() if value is not None}
    paths = settings.allowed_paths if settings.allowed_paths is not None else file.allowedPaths
    if paths:
        env["HANDRAIL_ALLOWED_PATHS"] = ",".join(str(Path(path).expanduser()) for path in paths)
    return env
