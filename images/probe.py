"""Healthcheck of the containers: one GET, over TCP or a Unix socket, with the standard library only.

usage: probe.py http://host:port/path | unix:/path/to.sock:/path
"""

# ruff: noqa: INP001 - a script of an image, not part of a package
from __future__ import annotations

import http.client
import socket
import sys
from urllib.parse import urlsplit

TIMEOUT_S = 4
OK = 200


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=TIMEOUT_S)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(TIMEOUT_S)
        self.sock.connect(self._path)


def main(target: str) -> int:
    """0 when the answer is 200, else 1 with the reason on stderr (the engine keeps it for `docker inspect`)."""
    if target.startswith("unix:"):
        _, path, resource = target.split(":", 2)
        connection: http.client.HTTPConnection = UnixConnection(path)
    else:
        url = urlsplit(target)
        connection = http.client.HTTPConnection(str(url.hostname), url.port, timeout=TIMEOUT_S)
        resource = url.path
    try:
        connection.request("GET", resource, headers={"Host": "localhost"})
        answer = connection.getresponse()
        body = answer.read(2000)
    except (OSError, http.client.HTTPException) as exc:
        sys.stderr.write(f"{target}: {exc}\n")
        return 1
    if answer.status != OK:
        sys.stderr.write(f"{target}: {answer.status} {body.decode(errors='replace')}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
