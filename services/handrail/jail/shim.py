"""One shim a running command: it owns the pipes, the ring log, the time-out, the exit status and, as a subreaper, the whole tree.

Forked ahead of need by the zygote. The service talks to it over one control socket (SOCK_SEQPACKET, JSON):
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

from handrail.jail import launch, limits, syscalls, tree
from handrail.kit import ringlog

MAX_MESSAGE = 262144
CHUNK = 65536
EOF_GRACE_S = 0.3  # a background child may hold the pipes this long after the command itself has ended
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
        # limits are the process's: taken here, they hold for every command that this shim starts
        limits.apply(base.limits)
        limits.allow_processes(base.limits["processes"] + tasks)
        wake = _wake_pipe()
        launcher = launch.Launcher(base)
        for _ in range(MAX_COMMANDS):
            control.send(READY)
            job = _receive(control)
            if not job or not Shim(control, wake, launcher).run(job):
                break
            # all of the tree is gone: the shim can serve again
        code = 0
    except Exception:  # noqa: BLE001 - the edge of a process: the trace goes to the service's log
        import traceback  # noqa: PLC0415 - not worth its memory in every shim

        traceback.print_exc()
    finally:
        os._exit(code)


class Shim:
    """The pipes and the process of one command."""

    def __init__(self, control: _socket.socket, wake: int, launcher: launch.Launcher) -> None:
        self._control = control
        self._wake = wake
        self._launcher = launcher
        self._pipes: dict[int, tuple[int, ringlog.Utf8]] = {}
        self._child = 0
        self._status: int | None = None
        self._ended = 0.0
        self._armed = -1
        self._reason = ""
        self._error = ""
        self._log_error = ""

    def run(self, raw: bytes) -> bool:
        """Start the command and stay until all of it is over. True when nothing of it is left."""
        self._began = time.monotonic()
        job: dict[str, Any] = json.loads(raw)
        self._directory = str(job["directory"])
        self._deadline = self._began + int(job["timeout_ms"]) / 1000
        self._start(job)
        os.mkdir(self._directory, 0o700)
        self._log = ringlog.Writer(self._directory, int(job["ring_bytes"]))
        clean = True
        if self._child:
            self._serve()
            clean = self._sweep()
        self._report()
        for handle in self._pipes:
            os.close(handle)
        return clean and self._reason != "orphaned"

    def _start(self, job: dict[str, Any]) -> None:
        out_read, out_write = os.pipe2(os.O_CLOEXEC)
        err_read, err_write = os.pipe2(os.O_CLOEXEC)
        self._pipes = {out_read: (ringlog.STDOUT, ringlog.Utf8()), err_read: (ringlog.STDERR, ringlog.Utf8())}
        for handle in self._pipes:
            os.set_blocking(handle, False)
        try:
            self._child = self._launcher.start(job, out_write, err_write)
        except Exception as exc:  # noqa: BLE001 - whatever stopped the start is reported, and nothing runs
            self._error = f"{type(exc).__name__}: {exc}"
        finally:
            os.close(out_write)
            os.close(err_write)

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
        message = _receive(self._control)
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
        if self._error:
            code = LAUNCH_FAILED
        return {
            "t": "exit",
            "code": code if code >= 0 else -1,
            "signal": signal.Signals(-code).name if code < 0 else "",
            "reason": self._reason,
            "error": self._error,
            "log_error": self._log_error,
            "total": self._log.total,
            "dropped": self._log.dropped,
            "duration_ms": round(((self._ended or time.monotonic()) - self._began) * 1000, 1),
            "ended_at": time.time(),
        }


def _receive(control: _socket.socket) -> bytes:
    """One message; empty when the service is gone."""
    try:
        return control.recv(MAX_MESSAGE)
    except ConnectionError:
        return b""


def _wake_pipe() -> int:
    """SIGTERM to the shim means: end the command. Handlers do nothing: the signal's number arrives in this pipe."""
    wake_read, wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    for signum in (signal.SIGTERM, signal.SIGCHLD):
        signal.signal(signum, lambda _signum, _frame: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    return wake_read
