"""Our own small starter of the embedded Valkey: Unix socket only, random password, append-only file."""

from __future__ import annotations

import contextlib
import secrets
import socket
from urllib.parse import quote

from handrail.cli.embedded import binaries
from handrail.cli.embedded.layout import Layout, write_private

PASSWORD_FILE = "valkey_password"  # noqa: S105 - the name of a file
PROBE_TIMEOUT_S = 1.0

# the password is in the file and not on the command line, where every process of the machine could read it
CONFIG = """\
port 0
unixsocket {socket}
unixsocketperm 700
requirepass {password}
dir {dir}
appendonly yes
appendfsync everysec
save ""
maxmemory-policy noeviction
daemonize no
databases 4
loglevel warning
crash-log-enabled yes
always-show-logo no
set-proc-title no
"""


def password(layout: Layout) -> str:
    """The random password; made at the first call."""
    path = layout.secrets("init") / PASSWORD_FILE
    if not path.exists():
        write_private(path, secrets.token_hex(24).encode(), layout)
    return path.read_text(encoding="ascii").strip()


def url(layout: Layout, database: int = 0) -> str:
    """URL for redis-py: `unix://:password@/path?db=n`."""
    return f"unix://:{password(layout)}@{quote(str(layout.valkey_socket))}?db={database}"


def command(layout: Layout) -> tuple[list[str], dict[str, str]]:
    """Argument vector and environment of the server; writes its configuration (0600) anew. Raises ComponentMissing."""
    path = layout.data / "valkey" / "valkey.conf"
    text = CONFIG.format(socket=_quoted(layout.valkey_socket), password=password(layout), dir=_quoted(layout.data / "valkey"))
    write_private(path, text.encode(), layout)
    return [str(binaries.valkey_server()), str(path)], {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}


def is_ready(layout: Layout) -> bool:
    """Whether it answers PING to our password: false while it loads its append-only file."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as client:
        client.settimeout(PROBE_TIMEOUT_S)
        client.connect(str(layout.valkey_socket))
        client.sendall(f"AUTH {password(layout)}\r\nPING\r\n".encode())
        answer = b""
        while answer.count(b"\r\n") < 2:  # noqa: PLR2004 - two commands, two answers
            data = client.recv(256)
            if not data:
                return False
            answer += data
        return answer == b"+OK\r\n+PONG\r\n"
    return False


def _quoted(path: object) -> str:
    return '"' + str(path).replace("\\", "\\\\").replace('"', '\\"') + '"'
