"""The service's side of the jail: keeps the fork server running and hands jobs to waiting shims."""

from __future__ import annotations

import array
import asyncio
import contextlib
import json
import os
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from handrail.jail import landlock, spawn, syscalls, system
from handrail.jail.account import Account
from handrail.jail.errors import JailUnavailable
from handrail.jail.limits import DEFAULT
from handrail.jail.profile import Job

SPARES = 3  # shims kept ready
REFILL_DELAY_S = 0.004
SPARE_WAIT_S = 10.0
RESTART_PAUSE_S = 0.5
MAX_MESSAGE = 262144


@dataclass(frozen=True, slots=True)
class Mechanism:
    """What confines commands here. `name` stands in every reply."""

    name: str
    abi: int


@dataclass(frozen=True, slots=True)
class Exit:
    """How a command ended. `reason`: "" by itself, "stop", "timeout", "orphaned" (its service went), "lost" (its shim died)."""

    code: int  # -1 when a signal ended it
    signal: str
    reason: str
    error: str  # why it could not be started
    total: int  # bytes of output, ever
    dropped: int
    duration_ms: float
    log_error: str


LOST = Exit(-1, "SIGKILL", "lost", "", 0, 0, 0.0, "")


def mechanism() -> Mechanism:
    """What this kernel offers. Raises JailUnavailable when it is not enough: a command never runs outside."""
    if syscalls.MACHINE not in syscalls.SUPPORTED:
        raise JailUnavailable(detail=f"no system-call filter for {syscalls.MACHINE}")
    version = landlock.abi()
    if version < landlock.MIN_ABI:
        raise JailUnavailable(detail=f"Landlock ABI {version}, needed is {landlock.MIN_ABI} (Linux 5.19 or later)")
    return Mechanism(f"landlock-v{version}+seccomp", version)


class Session:
    """One command that was handed to a shim."""

    def __init__(self, control: socket.socket, shim_pid: int, shim_start: int) -> None:
        self._control = control
        self.shim_pid = shim_pid
        self.shim_start = shim_start
        self._loop = asyncio.get_running_loop()
        self.exit: asyncio.Future[Exit] = self._loop.create_future()
        self._waiters: set[asyncio.Future[None]] = set()
        self._armed: int | None = None

    def begin(self, job: Job) -> None:
        """Send the job. Raises OSError when the shim is gone."""
        self._control.send(json.dumps(job.as_message(), ensure_ascii=False).encode())
        self._loop.add_reader(self._control, self._readable)

    async def wait_growth(self, cursor: int, timeout_s: float) -> None:
        """Return when more than `cursor` bytes are there, when the command has ended, or when time is up."""
        if self.exit.done():
            return
        waiter = self._loop.create_future()
        self._waiters.add(waiter)
        if self._armed is None or cursor < self._armed:
            self._armed = cursor
            self._order({"t": "arm", "cursor": cursor})
        try:
            await asyncio.wait({waiter}, timeout=timeout_s)
        finally:
            self._waiters.discard(waiter)

    def stop(self) -> None:
        """Ask the shim to kill the tree; `exit` tells when it is dead."""
        if not self.exit.done():
            self._order({"t": "stop"})

    def discard(self) -> None:
        """Give up a shim that got no job."""
        self._control.close()

    def _order(self, message: dict[str, object]) -> None:
        with contextlib.suppress(OSError):
            self._control.send(json.dumps(message).encode(), socket.MSG_DONTWAIT)

    def _readable(self) -> None:
        try:
            message = self._control.recv(MAX_MESSAGE)
        except OSError:
            message = b""
        fields = json.loads(message) if message else None
        if fields is not None and fields["t"] == "grown":
            self._wake()
            return
        self._loop.remove_reader(self._control)
        self._control.close()
        if not self.exit.done():
            self.exit.set_result(LOST if fields is None else Exit(**{name: fields[name] for name in Exit.__slots__}))
        self._wake()

    def _wake(self) -> None:
        self._armed = None
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)


class Jailer:
    """Starts jailed commands. One instance a service; use it from one event loop."""

    def __init__(
        self, *, read_only: Sequence[str] = (), account: Account | None = None, limits: Mapping[str, int] = DEFAULT, spares: int = SPARES
    ) -> None:
        """`read_only` come on top of the system's directories. `account` is needed when this process is root."""
        self.mechanism = mechanism()
        if account is None and os.geteuid() == 0:
            raise JailUnavailable(detail="commands never run as root, and no account to drop to was given")
        self._config = {
            "abi": self.mechanism.abi,
            "read_only": [*system.system_paths(), *read_only],
            "devices": list(system.devices()),
            "limits": dict(limits),
            "account": [account.uid, account.gid, list(account.groups)] if account else None,
        }
        self._spares_wanted = spares
        self._spares: asyncio.Queue[Session] = asyncio.Queue()
        self._control: socket.socket | None = None
        self._child: spawn.Child | None = None
        self._closing = False
        self._started_at = 0.0

    def start(self) -> None:
        """Start the fork server. Call it from the event loop's own thread. Raises OSError."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        script = str(Path(__file__).with_name("zygote.py"))
        with theirs:
            self._child = spawn.start(
                [sys.executable, "-I", "-S", script, str(theirs.fileno())],
                env=spawn.MINIMAL_ENV,
                pass_fds=(theirs.fileno(),),
            )
        self._control = ours
        self._started_at = time.monotonic()
        ours.send(json.dumps(self._config).encode())
        self._ask(self._spares_wanted)
        asyncio.get_running_loop().add_reader(ours, self._readable)

    async def launch(self, job: Job) -> Session:
        """Hand the job to a waiting shim. Raises JailUnavailable when none comes in time."""
        for _ in range(self._spares_wanted + 1):
            try:
                async with asyncio.timeout(SPARE_WAIT_S):
                    session = await self._spares.get()
            except TimeoutError as exc:
                raise JailUnavailable(detail="the fork server does not answer") from exc
            try:
                session.begin(job)
            except OSError:
                # this shim died while it waited: take the next
                session.discard()
                self._ask(1)
                continue
            # after the job: the next shim's forks must not compete with this command's start
            asyncio.get_running_loop().call_later(REFILL_DELAY_S, self._ask, 1)
            return session
        raise JailUnavailable(detail="no shim could take the command")

    async def close(self) -> None:
        """End the fork server. Sessions are ended by their own `stop`."""
        self._closing = True
        self._drop()
        if self._child is not None:
            await asyncio.to_thread(self._child.stop, 1.0)

    def _ask(self, count: int) -> None:
        if self._control is not None:
            with contextlib.suppress(OSError):
                self._control.send(json.dumps({"t": "fork", "n": count}).encode())

    def _readable(self) -> None:
        if self._control is None:
            return
        rights = array.array("i")
        try:
            message, ancillary, _flags, _address = self._control.recvmsg(MAX_MESSAGE, socket.CMSG_SPACE(rights.itemsize))
        except OSError:
            message, ancillary = b"", []
        if not message:
            self._lost()
            return
        for level, kind, data in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                rights.frombytes(data[: rights.itemsize])
        fields = json.loads(message)
        self._spares.put_nowait(Session(socket.socket(fileno=rights[0]), fields["pid"], fields["start"]))

    def _drop(self) -> None:
        if self._control is not None:
            asyncio.get_running_loop().remove_reader(self._control)
            self._control.close()
            self._control = None
        while not self._spares.empty():
            self._spares.get_nowait().discard()

    def _lost(self) -> None:
        """The fork server died: running commands go on with their shims, a new server takes the next ones."""
        self._drop()
        if self._child is not None:
            self._child.wait(0)
        if not self._closing:
            pause = RESTART_PAUSE_S if time.monotonic() - self._started_at < RESTART_PAUSE_S else 0
            asyncio.get_running_loop().call_later(pause, self._again)

    def _again(self) -> None:
        if not self._closing:
            self.start()
