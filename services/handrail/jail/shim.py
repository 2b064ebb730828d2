"""One shim a running command: it owns the pipes, the ring log, the time-out, the exit status and, as a subreaper, the whole tree.

Forked ahead of need by the zygote, with the command's process forked too and waiting for its job. The service talks to
it over one control socket (SOCK_SEQPACKET, JSON):
in:  the job first, then {"t": "stop"} or {"t": "arm", "cursor": n} (tell me once when more than n bytes are there);
out: {"t": "ready"}, then {"t": "grown", "total": n} and, last, the exit record, which goes into `exit.json` too; then
"ready" again: a shim whose tree is gone serves the next command.
When the service is gone the tree is killed (a later version waits here to be adopted). Standard library only.
"""

from __future__ import annotations

import _socket
import contextlib
import json
import os
import select
import signal
import time
from typing import Any, NoReturn

from handrail.jail import launch, syscalls, tree
from handrail.kit import ringlog

MAX_MESSAGE = 262144
CHUNK = 65536
EOF_GRACE_S = 0.3  # a background child may hold the pipes this long after the command itself has ended
ERROR_FD, JOB_FD = 3, 4
LAUNCH_FAILED = 126
MAX_COMMANDS = 256  # then a new shim takes over
READY = b'{"t": "ready"}'
EXIT_FILE = "exit.json"


def main(control: _socket.socket, base: launch.Base, tasks: int) -> NoReturn:
    """Be a shim until the command is over."""
    code = 1
    try:
        syscalls.set_name("handrail-shim")
        os.setsid()
        syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
        wake = _wake_pipe()
        for _ in range(MAX_COMMANDS):
            shim = Shim(control, wake, base, tasks)
            control.send(READY)
            job = control.recv(MAX_MESSAGE)
            if not job or not shim.run(job):
                break
            # all of the tree is gone: the next command gets a process of its own, the shim itself can serve again
        code = 0
    except Exception:  # noqa: BLE001 - the edge of a process: the trace goes to the service's log
        import traceback  # noqa: PLC0415 - not worth its memory in every shim

        traceback.print_exc()
    finally:
        os._exit(code)


class Shim:
    """The pipes and the process of one command."""

    def __init__(self, control: _socket.socket, wake: int, base: launch.Base, tasks: int) -> None:
        self._control = control
        self._wake = wake
        out_read, out_write = os.pipe2(os.O_CLOEXEC)
        err_read, err_write = os.pipe2(os.O_CLOEXEC)
        self._error_fd, error_write = os.pipe2(os.O_CLOEXEC)
        self._job, child_job = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        self._child = os.fork()
        if self._child == 0:
            _command(base, tasks, (out_write, err_write, error_write, child_job.fileno()))
        child_job.close()
        for handle in (out_write, err_write, error_write):
            os.close(handle)
        self._pipes = {out_read: (ringlog.STDOUT, ringlog.Utf8()), err_read: (ringlog.STDERR, ringlog.Utf8())}
        for handle in (*self._pipes, self._error_fd):
            os.set_blocking(handle, False)
        self._status: int | None = None
        self._ended = 0.0
        self._armed = -1
        self._reason = ""
        self._log_error = ""

    def run(self, raw: bytes) -> bool:
        """Hand the job to the waiting process and stay until all of it is over. True when nothing of it is left."""
        self._began = time.monotonic()
        with contextlib.suppress(OSError):  # it is gone when its preparation failed: the error pipe says why
            self._job.send(raw)
        job: dict[str, Any] = json.loads(raw)
        self._directory = str(job["directory"])
        os.mkdir(self._directory, 0o700)
        self._log = ringlog.Writer(self._directory, int(job["ring_bytes"]))
        self._deadline = self._began + int(job["timeout_ms"]) / 1000
        self._serve()
        clean = self._sweep()
        self._report()
        for handle in (*self._pipes, self._error_fd):
            os.close(handle)
        self._job.close()
        return clean and self._reason != "orphaned"

    def _serve(self) -> None:
        """Until the command has ended and its pipes are closed (or were held open too long)."""
        poller = select.poll()
        for handle in (self._control.fileno(), self._wake, *self._pipes):
            poller.register(handle, select.POLLIN)
        limit = self._deadline
        while self._status is None or self._pipes:
            left = limit - time.monotonic()
            events = poller.poll(max(0, int(left * 1000) + 1))
            if not events and time.monotonic() >= limit:
                if self._status is None:
                    self._end("timeout")
                return
            for handle, _mask in events:
                if handle == self._wake:
                    if signal.SIGTERM in os.read(self._wake, CHUNK):
                        self._end("stop")
                        return
                    self._reap()
                    if self._status is not None:
                        limit = min(limit, self._ended + EOF_GRACE_S)
                elif handle in self._pipes:
                    if self._read(handle):
                        poller.unregister(handle)
                        os.close(handle)
                        del self._pipes[handle]
                elif not self._listen():
                    return

    def _listen(self) -> bool:
        """One message of the service. False when the command has to end."""
        message = self._control.recv(MAX_MESSAGE)
        if not message:
            self._end("orphaned")
            return False
        order = json.loads(message)
        if order["t"] == "stop":
            self._end("stop")
            return False
        if order["t"] == "arm":
            self._armed = int(order["cursor"])
            self._tell()
        return True

    def _end(self, reason: str) -> None:
        """Kill the tree. The first reason counts, and none when the command had ended by itself."""
        if self._status is None and not self._reason:
            self._reason = reason
        tree.kill_below(os.getpid(), reap=self._between, main=self._child)

    def _between(self) -> None:
        """Between two rounds of killing: nobody may block on a full pipe, nobody may stay a zombie."""
        self._reap()
        for handle in tuple(self._pipes):
            self._read(handle)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self._child:
                self._status = status
                self._ended = time.monotonic()

    def _sweep(self) -> bool:
        """What the command left running in the background ends with it. False when something would not die."""
        clean = True
        with contextlib.suppress(ChildProcessError):
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == self._child:
                self._status, self._ended = status, time.monotonic()
            clean = tree.kill_below(os.getpid(), reap=self._between, main=self._child)
        self._between()
        for stream, decoder in self._pipes.values():
            self._append(stream, decoder.end())
        return clean

    def _read(self, handle: int) -> bool:
        """What the pipe holds now (one chunk while running). True at its end."""
        stream, decoder = self._pipes[handle]
        try:
            data = os.read(handle, CHUNK)
        except BlockingIOError:
            return False
        self._append(stream, decoder.feed(data) if data else decoder.end())
        return not data

    def _append(self, stream: int, data: bytes) -> None:
        if not data:
            return
        try:
            self._log.write(stream, data)
        except OSError as exc:
            # a full disk must not stop the command, and its output must not fill our memory: it is lost, and said so
            self._log_error = exc.strerror or "write failed"
        self._tell()

    def _tell(self) -> None:
        if self._armed < 0 or self._log.total <= self._armed:
            return
        with contextlib.suppress(OSError):
            self._control.send(json.dumps({"t": "grown", "total": self._log.total}).encode(), _socket.MSG_DONTWAIT)
            self._armed = -1

    def _report(self) -> None:
        self._log.close()
        record = json.dumps(self._record()).encode()
        with contextlib.suppress(OSError):
            self._control.send(record)
        path = os.path.join(self._directory, EXIT_FILE)
        with contextlib.suppress(OSError), open(path, "wb", buffering=0) as file:
            file.write(record)  # one write(2): a reader sees all of it or an empty file

    def _record(self) -> dict[str, object]:
        status = self._status
        code = os.waitstatus_to_exitcode(status) if status is not None else -signal.SIGKILL
        error = ""
        with contextlib.suppress(BlockingIOError):
            error = os.read(self._error_fd, 4096).decode("utf-8", "replace")
        return {
            "t": "exit",
            "code": code if code >= 0 else -1,
            "signal": signal.Signals(-code).name if code < 0 else "",
            "reason": self._reason,
            "error": error if code == LAUNCH_FAILED else "",
            "log_error": self._log_error,
            "total": self._log.total,
            "dropped": self._log.dropped,
            "duration_ms": round(((self._ended or time.monotonic()) - self._began) * 1000, 1),
            "ended_at": time.time(),
        }


def _wake_pipe() -> int:
    """SIGTERM to the shim means: end the command. Handlers do nothing: the signal's number arrives in this pipe."""
    wake_read, wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    for signum in (signal.SIGTERM, signal.SIGCHLD):
        signal.signal(signum, lambda _signum, _frame: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    return wake_read


def _command(base: launch.Base, tasks: int, handles: tuple[int, int, int, int]) -> NoReturn:
    """The command's process: get ready, wait for the job, become it."""
    try:
        os.setsid()
        null = os.open("/dev/null", os.O_RDONLY)
        # first out of the way of the numbers that they will get
        moved = [syscalls.move_up(handle) for handle in (null, *handles)]
        for number, handle in enumerate(moved):
            os.dup2(handle, number, inheritable=number < ERROR_FD)
        syscalls.set_name("handrail-spare")
        ruleset = launch.prepare(base, tasks)
        job = _socket.socket(fileno=JOB_FD)
        raw = job.recv(MAX_MESSAGE)
        if raw:
            launch.execute(ruleset, json.loads(raw), ERROR_FD)
    except Exception as exc:  # noqa: BLE001 - the edge of a process: whatever stopped the launch is reported, nothing runs
        with contextlib.suppress(OSError):
            os.write(ERROR_FD, f"{type(exc).__name__}: {exc}".encode()[:4096])
    finally:
        os._exit(LAUNCH_FAILED)
