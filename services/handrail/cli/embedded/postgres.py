"""Our own small starter of the embedded Postgres: Unix socket only, scram, fsync on, little memory."""

from __future__ import annotations

import secrets
import signal
import time
from pathlib import Path
from urllib.parse import quote

from handrail.cli.embedded import binaries
from handrail.cli.embedded.layout import Layout, write_private
from handrail.cli.errors import ComponentFailed
from handrail.jail import procfs, spawn, tree
from handrail.kit.clock import SYSTEM

SUPERUSER = "postgres"
PASSWORD_FILE = "postgres_password"  # noqa: S105 - the name of a file
INITDB_TIMEOUT_S = 120.0
OLD_SERVER_S = 10.0
STEP_S = 0.05
PID_LINE, STATUS_LINE, LINES = 0, 7, 8  # of postmaster.pid (pidfile.h: LOCK_FILE_LINE_PM_STATUS)
# fast shutdown: TERM would wait for every client to leave
STOP_SIGNAL = signal.SIGINT

# what differs from a server install: one small tenant on a laptop. Durability is not given up (fsync, full_page_writes stay on)
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "shared_buffers": "32MB",
    "max_connections": "60",
    "work_mem": "4MB",
    "maintenance_work_mem": "64MB",
    "max_wal_size": "256MB",
    "min_wal_size": "32MB",
    "wal_buffers": "1MB",
    "io_method": "sync",  # no I/O worker processes: they cost memory and gain nothing here
    "max_worker_processes": "4",
    "max_parallel_workers": "2",
    "max_parallel_maintenance_workers": "0",  # parallel HNSW builds are unsafe before pgvector 0.8.2 and big on memory
    "max_logical_replication_workers": "0",
    "max_wal_senders": "0",
    "wal_level": "minimal",
    "autovacuum_max_workers": "1",
    "jit": "off",
    "password_encryption": "scram-sha-256",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_min_messages": "warning",
    "log_checkpoints": "off",
    "logging_collector": "off",
    "log_line_prefix": "[%t] [postgres] ",
    "update_process_title": "off",
    "restart_after_crash": "on",
}


def password(layout: Layout) -> str:
    """The superuser's random password; made at the first call."""
    path = layout.secrets("init") / PASSWORD_FILE
    if not path.exists():
        write_private(path, secrets.token_hex(24).encode(), layout)
    return path.read_text(encoding="ascii").strip()


def url(layout: Layout, database: str = SUPERUSER) -> str:
    """URL for libpq: the superuser on the Unix socket."""
    return f"postgresql://{SUPERUSER}:{password(layout)}@/{database}?host={quote(str(layout.run / 'pg'), safe='/')}"


def init_database(layout: Layout) -> bool:
    """Run initdb when there is no cluster yet; True when it did. A half-made one of a killed start is made anew.

    Raises ComponentFailed, ComponentMissing.
    """
    data = layout.data / "pg" / "data"
    fresh = layout.data / "pg" / "data.new"
    if (data / "PG_VERSION").exists():
        return False
    password(layout)
    folder = binaries.postgres_bin()
    argv = [
        # initdb wants an empty directory; it is renamed when complete, so that a kill in between leaves no half cluster
        "/bin/sh",
        "-c",
        'rm -rf "$2" && "$1" -D "$2" -U "$3" -A scram-sha-256 --pwfile="$4" -E UTF8 --locale=C.UTF-8 --no-instructions && mv "$2" "$5"',
        "initdb",
        str(folder / "initdb"),
        str(fresh),
        SUPERUSER,
        str(layout.secrets("init") / PASSWORD_FILE),
        str(data),
    ]
    done = spawn.run(argv, env=_env(), cwd=str(layout.data), account=layout.account, timeout_s=INITDB_TIMEOUT_S)
    if done.code != 0:
        lines = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
        raise ComponentFailed(component="initdb", detail=" ".join(lines[-3:]))
    return True


def command(layout: Layout) -> tuple[list[str], dict[str, str]]:
    """Argument vector and environment of the server. Clears the lock file of a server that is gone."""
    data = layout.data / "pg" / "data"
    _clear_stale_lock(data / "postmaster.pid")
    argv = [str(binaries.postgres_bin() / "postgres"), "-D", str(data), "-k", str(layout.run / "pg")]
    for name, value in SETTINGS.items():
        argv += ["-c", f"{name}={value}"]
    return argv, _env()


def is_ready(layout: Layout, pid: int) -> bool:
    """Whether the server process `pid` says in its own lock file that it takes connections."""
    try:
        lines = (layout.data / "pg" / "data" / "postmaster.pid").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    return len(lines) >= LINES and lines[PID_LINE].strip() == str(pid) and lines[STATUS_LINE].strip() == "ready"


def _clear_stale_lock(path: Path) -> None:
    """Remove postmaster.pid when its process is no postgres of this directory: pids are reused, above all in containers.

    One that is (its supervisor was killed just now) is on its way out: it is asked again and waited for.
    """
    deadline = SYSTEM.monotonic() + OLD_SERVER_S
    while (pid := _holder(path)) is not None:
        stat = procfs.read_stat(pid)
        if stat is None or SYSTEM.monotonic() > deadline:
            return
        tree.send(stat, STOP_SIGNAL)
        time.sleep(STEP_S)
    path.unlink(missing_ok=True)


def _holder(path: Path) -> int | None:
    """The postgres of this directory that holds the file, or None."""
    try:
        pid = int(path.read_text(encoding="utf-8", errors="replace").splitlines()[0])
    except (OSError, ValueError, IndexError):
        return None
    stat = procfs.read_stat(pid)
    alive = stat is not None and stat.state not in ("Z", "X")
    return pid if alive and str(path.parent).encode() in _cmdline(pid) else None


def _cmdline(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _env() -> dict[str, str]:
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
