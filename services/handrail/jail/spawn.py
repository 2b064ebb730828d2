"""The one spawn function: trusted children here (services, helper programs), jailed commands in `jail.jailer`.

Nothing else in the code base starts a process. `start` is for a service that lives, `run` and `run_async` are for
a helper program that answers: its output is bounded, its time is bounded, and its whole group dies with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, cast

from handrail.jail import privileges, procfs, tree
from handrail.jail.account import Account

PR_SET_PDEATHSIG = 1
DEATH_S = 2.0  # a killed process is given this long to be gone
CHUNK = 65536  # bytes a read
MAX_OUTPUT = 8 * 1024 * 1024  # bytes a stream that `run` keeps unless told otherwise
MINIMAL_ENV: Mapping[str, str] = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8"}
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Finished:
    """A helper program that ended. `code` is negative for a signal, as in `subprocess`."""

    code: int
    stdout: bytes
    stderr: bytes
    timed_out: bool
    truncated: bool  # more than `max_output` bytes came: the program was stopped and the rest is lost
    duration_ms: int


class Child:
    """A running trusted child. Use `stop` to end it together with everything it started."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        stat = procfs.read_stat(process.pid)
        self.pid = process.pid
        self.start = stat.start if stat else 0

    def poll(self) -> int | None:
        """Exit code, negative for a signal, or None while it runs."""
        return self._process.poll()

    def wait(self, timeout_s: float | None = None) -> int | None:
        """Wait for the end; None when `timeout_s` was not enough."""
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def signal(self, signum: int) -> None:
        """Signal the child only; one that has ended is never signalled."""
        self._process.send_signal(signum)

    def stop(self, grace_s: float = 5.0) -> int:
        """TERM to the child, after `grace_s` KILL to its whole tree and group. Returns the exit code."""
        below = procfs.descendants(self.pid)
        if self._process.poll() is None:
            self._process.terminate()
            self.wait(grace_s)
        left = {stat.pid: stat for stat in (*below, *procfs.descendants(self.pid))}
        for stat in left.values():
            tree.send(stat, signal.SIGKILL)
        if self._process.poll() is None:
            self._process.kill()
        # its group outlives it only if children ignored the end of their parent
        tree.kill_group(self.pid, signal.SIGKILL)
        code = self._process.wait()
        deadline = time.monotonic() + DEATH_S
        while time.monotonic() < deadline and any(procfs.is_same(stat.pid, stat.start) for stat in left.values()):
            time.sleep(tree.STEP_S)
        return code


def start(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str = "/",
    log: int | None = None,
    account: Account | None = None,
    pdeathsig: int = signal.SIGTERM,
    pass_fds: Sequence[int] = (),
    umask: int = 0o077,
) -> Child:
    """Start a trusted child in a session of its own; its stdout and stderr go to the descriptor `log` (else to ours).

    `account` drops to that user with its groups (needs root). The kernel sends `pdeathsig` when the *thread* that
    called this ends, so call it from a thread that lives (0 = none). Raises OSError when it cannot be started.
    """
    parent = os.getpid()

    def last_step() -> None:
        if account is not None:
            # here and not by Popen: the bounding set can only be emptied while we are still root
            privileges.drop_bounding_set()
            privileges.become(account.uid, account.gid, account.groups)
        # after the change of user: changing credentials clears the setting
        if pdeathsig and (_LIBC.prctl(PR_SET_PDEATHSIG, pdeathsig, 0, 0, 0) != 0 or os.getppid() != parent):
            os._exit(127)

    process = subprocess.Popen(
        list(argv),
        env=dict(env),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
        pass_fds=tuple(pass_fds),
        umask=umask,
        preexec_fn=last_step,  # noqa: PLW1509 - system calls only, nothing that could wait for another thread
    )
    return Child(process)


def run(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: str = "/",
    account: Account | None = None,
    stdin: bytes = b"",
    timeout_s: float = 30.0,
    max_output: int = MAX_OUTPUT,
) -> Finished:
    """Run a helper program to its end. `env` None means PATH and LANG only. Raises OSError when it cannot start.

    Output over `max_output` bytes a stream stops the program: `truncated`. `stdin` is for small inputs (<= 64 KiB).
    """
    began = time.monotonic()
    process = _popen(argv, env, cwd, account, stdin)
    gathered = _Gathered(max_output)
    with process:
        try:
            timed_out = _collect(process, gathered, began + timeout_s)
        finally:
            tree.kill_group(process.pid, signal.SIGKILL)
        code = process.wait()
    return gathered.finished(code, timed_out=timed_out, began=began)


def _collect(process: subprocess.Popen[bytes], gathered: _Gathered, deadline: float) -> bool:
    """Read until both pipes end and the program does. True when `deadline` came first."""
    with selectors.DefaultSelector() as selector:
        for number, pipe in enumerate((process.stdout, process.stderr)):
            selector.register(cast("IO[bytes]", pipe), selectors.EVENT_READ, number)
        while selector.get_map():
            events = selector.select(max(0.0, deadline - time.monotonic()))
            if not events and time.monotonic() >= deadline:
                return True
            for key, _mask in events:
                if not gathered.read(key.fd, key.data):
                    selector.unregister(key.fileobj)
            if gathered.truncated:
                return False
    # both pipes are closed; the program itself may still run
    try:
        process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return True
    return False


async def run_async(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: str = "/",
    stdin: bytes = b"",
    timeout_s: float = 30.0,
    max_output: int = MAX_OUTPUT,
    pass_fds: Sequence[int] = (),
) -> Finished:
    """`run` for the event loop; cancelling it kills the program's group. Raises OSError when it cannot start."""
    began = time.monotonic()
    process = _popen(argv, env, cwd, None, stdin, pass_fds)
    gathered = _Gathered(max_output)
    timed_out = False
    try:
        async with asyncio.timeout(timeout_s):
            await _gather(process, gathered)
    except TimeoutError:
        timed_out = True
    finally:
        tree.kill_group(process.pid, signal.SIGKILL)
        for pipe in (process.stdout, process.stderr):
            cast("IO[bytes]", pipe).close()
        code = process.wait()  # at once: it has ended or was just killed
    return gathered.finished(code, timed_out=timed_out, began=began)


async def _gather(process: subprocess.Popen[bytes], gathered: _Gathered) -> None:
    """Read both pipes to their end and see the program end, or return early when there was too much output."""
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    watched = {pipe.fileno(): number for number, pipe in enumerate((process.stdout, process.stderr)) if pipe}
    pidfd = os.pidfd_open(process.pid)
    open_fds = {*watched, pidfd}

    def ready(fd: int) -> None:
        ended = fd == pidfd or not gathered.read(fd, watched[fd])
        if ended:
            loop.remove_reader(fd)
            open_fds.discard(fd)
        if (gathered.truncated or not open_fds) and not done.done():
            done.set_result(None)

    for fd in (*watched, pidfd):
        loop.add_reader(fd, ready, fd)
    try:
        await done
    finally:
        for fd in (*watched, pidfd):
            loop.remove_reader(fd)
        os.close(pidfd)


def _popen(
    argv: Sequence[str], env: Mapping[str, str] | None, cwd: str, account: Account | None, stdin: bytes, pass_fds: Sequence[int] = ()
) -> subprocess.Popen[bytes]:
    if len(stdin) > CHUNK:
        raise ValueError("stdin of a helper program is limited to 64 KiB")
    process = subprocess.Popen(
        list(argv),
        env=dict(MINIMAL_ENV if env is None else env),
        cwd=cwd,
        stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        pass_fds=tuple(pass_fds),
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=list(account.groups) if account else None,
    )
    if process.stdin:
        # fits into the pipe, so this never blocks
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(stdin)
            process.stdin.close()
    return process


class _Gathered:
    """What came out of a helper program so far, bounded."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = (bytearray(), bytearray())
        self.truncated = False

    def read(self, fd: int, number: int) -> bool:
        """One read of a pipe that is ready. False at its end."""
        data = os.read(fd, CHUNK)
        buffer = self._kept[number]
        room = self._limit - len(buffer)
        buffer += data[:room]
        if len(data) > room:
            self.truncated = True
        return bool(data)

    def finished(self, code: int, *, timed_out: bool, began: float) -> Finished:
        """The result."""
        duration = int((time.monotonic() - began) * 1000)
        return Finished(code, bytes(self._kept[0]), bytes(self._kept[1]), timed_out, self.truncated, duration)
