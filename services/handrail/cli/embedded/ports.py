"""Is the port free? Asked before anything else is touched."""

from __future__ import annotations

import errno
import socket
import time

from handrail.cli.errors import CannotListen, PortInUse
from handrail.kit.clock import SYSTEM

STEP_S = 0.1


def check_free(host: str, port: int, *, patience_s: float = 0.0) -> None:
    """Bind once and let go; a port in use is tried again for `patience_s`. Raises PortInUse or CannotListen."""
    deadline = SYSTEM.monotonic() + patience_s
    while True:
        try:
            _bind(host, port)
        except PortInUse:
            if SYSTEM.monotonic() >= deadline:
                raise
            time.sleep(STEP_S)
        else:
            return


def _bind(host: str, port: int) -> None:
    try:
        family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        with socket.socket(family, kind, proto) as probe:
            # as the server itself: a port whose old connections linger (TIME_WAIT) is free
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            # two sockets may be bound with the option set; only one may listen
            probe.listen(1)
    except OSError as exc:
        if exc.errno == errno.EADDRINUSE:
            raise PortInUse(host=host, port=port) from exc
        raise CannotListen(host=host, port=port, detail=exc.strerror or str(exc)) from exc
