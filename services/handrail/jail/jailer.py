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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from handrail.jail import landlock, spawn, syscalls, system
from handrail.jail.account import Account
from handrail.jail.errors import JailUnavailable
from handrail.jail.limits import DEFAULT
from handrail.jail.profile import Job

SPARES = 3  # shims kept ready
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

    def __init__(self, shim: Shim) -> None:
        self._shim = shim
        self.shim_pid = shim.pid
        self.exit: asyncio.Future[Exit] = asyncio.get_running_loop().create_future()
        self._waiters: set[asyncio.Future[None]] = set()
        self._armed: int | None = None

    async def wait_growth(self, cursor: int, timeout_s: float) -> None:
        """Return when more than `cursor` bytes are there, when the command has ended, or when time is up."""
        if self.exit.done():
            return
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        if self._armed is None or cursor < self._armed:
            self._armed = cursor
            self._shim.order({"t": "arm", "cursor": cursor})
        try:
            await asyncio.wait({waiter}, timeout=timeout_s)
        finally:
            self._waiters.discard(waiter)

    def stop(self) -> None:
        """Ask the shim to kill the tree; `exit` tells when it is dead."""
        if not self.exit.done():
            self._shim.order({"t": "stop"})

    def grown(self) -> None:
        """Wake everybody who waits for output."""
        self._armed = None
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    def ended(self, end: Exit) -> None:
        """The command is over."""
        if not self.exit.done():
            self.exit.set_result(end)
        self.grown()


class Shim:
    """The service's end of one shim: idle, or busy with one session."""

    def __init__(self, control: socket.socket, pid: int, idle: Callable[[Shim], None], gone: Callable[[Shim], None]) -> None:
        """`idle` is called when it can take a job, `gone` when it has ended."""
        self.pid = pid
        self._control = control
        self._idle = idle
        self._gone = gone
        self._session: Session | None = None
        asyncio.get_running_loop().add_reader(control, self._readable)

    def begin(self, job: Job) -> Session:
        """Send the job. Raises OSError when the shim is gone."""
        self._control.send(json.dumps(job.as_message(), ensure_ascii=False).encode())
        self._session = Session(self)
        return self._session

    def order(self, message: dict[str, object]) -> None:
        """Send an order; a shim that is gone needs none."""
        with contextlib.suppress(OSError):
            self._control.send(json.dumps(message).encode(), socket.MSG_DONTWAIT)

    def close(self) -> None:
        """Let it end: an idle shim goes at once, a busy one kills its tree first."""
        asyncio.get_running_loop().remove_reader(self._control)
        self._control.close()

    def _readable(self) -> None:
        try:
            message = self._control.recv(MAX_MESSAGE)
        except OSError:
            message = b""
        if not message:
            self.close()
            self._end(LOST)
            self._gone(self)
            return
        fields = json.loads(message)
        if fields["t"] == "grown" and self._session is not None:
            self._session.grown()
        elif fields["t"] == "exit":
            self._end(Exit(**{name: fields[name] for name in Exit.__slots__}))
        elif fields["t"] == "ready":
            self._idle(self)

    def _end(self, end: Exit) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.ended(end)


class Jailer:
    """Starts jailed commands. One instance a service; use it from one event loop."""

    def __init__(
        self,
        *,
        read_only: Sequence[str] = (),
        network: bool = False,
        account: Account | None = None,
        limits: Mapping[str, int] = DEFAULT,
        spares: int = SPARES,
    ) -> None:
        """All commands of one jailer have a `network` or none has. `read_only` come on top of the system's directories.

        `account` is needed when this process is root. Raises JailUnavailable.
        """
        self.mechanism = mechanism()
        if account is None and os.geteuid() == 0:
            raise JailUnavailable(detail="commands never run as root, and no account to drop to was given")
        self._config = {
            "abi": self.mechanism.abi,
            "read_only": [*system.system_paths(), *read_only],
            "devices": list(system.devices()),
            "limits": dict(limits),
            "network": network,
            "account": [account.uid, account.gid, list(account.groups)] if account else None,
        }
        self._wanted = spares
        self._spares: asyncio.Queue[Shim] = asyncio.Queue()
        self._coming = 0  # forks asked for and not seen yet
        self._waiting = 0  # callers that wait for a shim
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
        self._coming = 0
        self._started_at = time.monotonic()
        ours.send(json.dumps(self._config).encode())
        self._ask(max(self._wanted - self._spares.qsize(), 0))
        asyncio.get_running_loop().add_reader(ours, self._readable)

    async def launch(self, job: Job) -> Session:
        """Hand the job to a waiting shim. Raises JailUnavailable when none comes in time."""
        while True:
            shim = await self._take()
            with contextlib.suppress(OSError):  # this one died while it waited: the next
                return shim.begin(job)

    async def _take(self) -> Shim:
        if self._spares.qsize() + self._coming <= self._waiting:
            self._ask(1)
        self._waiting += 1
        try:
            async with asyncio.timeout(SPARE_WAIT_S):
                return await self._spares.get()
        except TimeoutError as exc:
            raise JailUnavailable(detail="the fork server does not answer") from exc
        finally:
            self._waiting -= 1

    async def close(self) -> None:
        """End the fork server. Sessions are ended by their own `stop`."""
        self._closing = True
        self._drop()
        while not self._spares.empty():
            self._spares.get_nowait().close()
        if self._child is not None:
            await asyncio.to_thread(self._child.stop, 1.0)

    def _ask(self, count: int) -> None:
        if self._control is not None and count:
            with contextlib.suppress(OSError):
                self._control.send(json.dumps({"t": "fork", "n": count}).encode())
                self._coming += count

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
        self._coming = max(self._coming - 1, 0)
        Shim(socket.socket(fileno=rights[0]), json.loads(message)["pid"], self._idle, self._gone)

    def _idle(self, shim: Shim) -> None:
        """A shim is ready: keep it, unless a burst has left more than are wanted."""
        if self._closing or self._spares.qsize() >= self._wanted + self._waiting:
            shim.close()
        else:
            self._spares.put_nowait(shim)

    def _gone(self, shim: Shim) -> None:
        """A shim ended by itself: after its last command, or killed."""
        if not self._closing:
            self._ask(1)

    def _drop(self) -> None:
        if self._control is not None:
            asyncio.get_running_loop().remove_reader(self._control)
            self._control.close()
            self._control = None

    def _lost(self) -> None:
        """The fork server died: shims and their commands go on, a new server forks the next ones."""
        self._drop()
        if self._child is not None:
            self._child.wait(0)
        if not self._closing:
            pause = RESTART_PAUSE_S if time.monotonic() - self._started_at < RESTART_PAUSE_S else 0
            asyncio.get_running_loop().call_later(pause, self._again)

    def _again(self) -> None:
        if not self._closing:
            self.start()
