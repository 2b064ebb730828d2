"""Where everything of one instance lies: the data directory, the run directory of its sockets, and who owns them."""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path

from handrail.cli.errors import DataDirUnusable, RunDirNotOurs
from handrail.jail.account import Account

MAX_SOCKET_PATH = 90  # bytes; the kernel's limit is 107, the rest is room for names that are still to come
LONGEST_SOCKET = "pg/.s.PGSQL.5432"
ZONES = ("api", "worker", "sandbox", "init")
# everything that a service writes lies in one of these: the data directory itself stays the starter's
OWNED = ("pg", "valkey", "secrets", *(f"secrets/{zone}" for zone in ZONES), "logs", "trash", "homes", "sandbox", "api", "worker")


@dataclass(frozen=True, slots=True)
class Layout:
    """Paths of one instance; `account` owns what the services write, None = the user who starts."""

    data: Path
    run: Path
    account: Account | None = None

    @property
    def uid(self) -> int:
        return self.account.uid if self.account else os.geteuid()

    @property
    def gid(self) -> int:
        return self.account.gid if self.account else os.getegid()

    @property
    def logs(self) -> Path:
        return self.data / "logs"

    @property
    def pid_file(self) -> Path:
        return self.data / "handrail.pid"

    @property
    def config_file(self) -> Path:
        return self.data / "config.json"

    @property
    def admin_socket(self) -> Path:
        return self.run / "admin.sock"

    @property
    def sandbox_socket(self) -> Path:
        return self.run / "sandbox.sock"

    @property
    def valkey_socket(self) -> Path:
        return self.run / "valkey.sock"

    def secrets(self, zone: str) -> Path:
        """The secrets directory of one zone: api, worker, sandbox or init."""
        return self.data / "secrets" / zone


def run_dir_for(data: Path) -> Path:
    """`<data>/run`; where a socket path would be too long, a directory named by hash in the runtime directory."""
    inside = data / "run"
    if len(os.fsencode(inside / LONGEST_SOCKET)) <= MAX_SOCKET_PATH:
        return inside
    name = "handrail-" + hashlib.sha256(os.fsencode(data)).hexdigest()[:16]
    if os.geteuid() == 0:
        return Path("/run") / name  # root's XDG_RUNTIME_DIR is closed to the account that services drop to
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    base = Path(runtime) if runtime.startswith("/") and len(runtime) < MAX_SOCKET_PATH // 2 else Path("/tmp")  # noqa: S108 - owner checked below
    return base / name


def prepare(layout: Layout) -> None:
    """Create what is missing with the right owner and mode. Never touches a parent directory's mode.

    Raises DataDirUnusable or RunDirNotOurs.
    """
    try:
        layout.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        _own_data_dir(layout)
        for name in OWNED:
            _own_dir(layout.data / name, layout)
    except OSError as exc:
        raise DataDirUnusable(data=layout.data, detail=exc.strerror or str(exc)) from exc
    for path in (layout.run, layout.run / "pg"):
        try:
            _own_dir(path, layout)
        except OSError as exc:
            raise RunDirNotOurs(path=path) from exc


def write_private(path: Path, data: bytes, layout: Layout) -> None:
    """Replace `path` by a 0600 file of the services' owner, in one step and through no link."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        if layout.account:
            os.fchown(fd, layout.uid, layout.gid)
        os.write(fd, data)
        os.fsync(fd)
    finally:
        os.close(fd)
    temporary.replace(path)


def _own_data_dir(layout: Layout) -> None:
    fd = os.open(layout.data, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        info = os.fstat(fd)
        if info.st_uid != os.geteuid():
            raise PermissionError(1, f"it belongs to user id {info.st_uid}")
        if layout.account:
            # sticky and root's: a service can add entries but cannot replace the PID file or config.json
            os.fchown(fd, 0, layout.gid)
            os.fchmod(fd, 0o1770)
        elif stat.S_IMODE(info.st_mode) & 0o077:
            os.fchmod(fd, 0o700)
    finally:
        os.close(fd)


def _own_dir(path: Path, layout: Layout) -> None:
    """One directory, 0700, of the services' owner. Raises OSError when something else is in its place."""
    path.mkdir(mode=0o700, exist_ok=True)
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        info = os.fstat(fd)
        if info.st_uid != layout.uid:
            if os.geteuid() != 0:
                raise PermissionError(1, f"{path} belongs to user id {info.st_uid}")
            if info.st_uid != 0:
                raise PermissionError(1, f"{path} belongs to user id {info.st_uid}; it was made by another user")
            os.fchown(fd, layout.uid, layout.gid)
        if stat.S_IMODE(info.st_mode) & 0o077:
            os.fchmod(fd, 0o700)
    finally:
        os.close(fd)
