"""The warm fork server: a small process that forks shims, so that the service itself never forks.

Started by `jail.jailer` as `python -I -S zygote.py <fd>`. A few shims wait ready: the service writes a job to one of them.
Standard library only, few imports: what is here is in every shim.

Messages on `<fd>` (SOCK_SEQPACKET, JSON): in: the configuration first, then {"t": "fork", "n": 1};
out: {"t": "spare", "pid": ...} with the descriptor of the shim's control socket.
"""

from __future__ import annotations

import _socket
import array
import gc
import json
import os
import select
import signal
import sys

sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from handrail.jail import launch, limits, privileges, procfs, seccomp, shim, syscalls, tree

MAX_MESSAGE = 262144
TASKS_REFRESH = 32  # forks between two counts of the user's tasks


class Zygote:
    """The fork server's state."""

    def __init__(self, control: _socket.socket, config: dict[str, object]) -> None:
        self._control = control
        self._base = _base(config)
        self._shims: set[int] = set()
        self._tasks = 0
        self._forks = 0

    def fork(self) -> None:
        """One more spare, handed to the service."""
        if self._forks % TASKS_REFRESH == 0:
            uid = self._base.account[0] if self._base.account else os.getuid()
            self._tasks = limits.tasks_of(uid)
        self._forks += 1
        ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        pid = os.fork()
        if pid == 0:
            self._control.close()
            ours.close()
            signal.set_wakeup_fd(-1)
            shim.main(theirs, self._base, self._tasks)  # never returns
        theirs.close()
        self._shims.add(pid)
        message = json.dumps({"t": "spare", "pid": pid}).encode()
        rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", [ours.fileno()]))]
        self._control.sendmsg([message], rights)
        ours.close()

    def reap(self) -> None:
        """Collect shims that ended; what a shim that died badly left behind came to us (subreaper) and is killed."""
        orphaned = False
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            if pid in self._shims:
                self._shims.discard(pid)
                orphaned = orphaned or status != 0
        if orphaned:
            self._sweep()

    def _sweep(self) -> None:
        for pid in procfs.children(os.getpid()):
            stat = procfs.read_stat(pid)
            if stat is None or pid in self._shims:
                continue
            for below in (*procfs.descendants(pid), stat):
                tree.send(below, signal.SIGKILL)


def _base(config: dict[str, object]) -> launch.Base:
    account = config["account"]
    abi = int(str(config["abi"]))
    network = config["network"] is True
    truncate = abi >= 3  # noqa: PLR2004 - the ABI that mediates truncate(2)
    return launch.Base(
        abi=abi,
        read_only=tuple(str(path) for path in _items(config["read_only"])),
        devices=tuple(str(path) for path in _items(config["devices"])),
        account=None if account is None else _account(_items(account)),
        limits={str(name): int(str(value)) for name, value in _table(config["limits"]).items()},
        network=network,
        program=seccomp.build(syscalls.MACHINE, inet=network, truncate=truncate),
    )


def _items(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError("a list was expected")
    return value  # pyright: ignore[reportUnknownVariableType] - JSON


def _table(value: object) -> dict[object, object]:
    if not isinstance(value, dict):
        raise TypeError("an object was expected")
    return value  # pyright: ignore[reportUnknownVariableType] - JSON


def _account(fields: list[object]) -> tuple[int, int, tuple[int, ...]]:
    uid, gid, groups = fields
    return int(str(uid)), int(str(gid)), tuple(int(str(group)) for group in _items(groups))


def main(fd: int) -> None:
    """Serve until the service closes its end."""
    syscalls.set_name("handrail-zygote")
    syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
    control = _socket.socket(fileno=fd)
    zygote = Zygote(control, json.loads(control.recv(MAX_MESSAGE)))
    # inherited by every fork; needs the privilege that each command's process gives up
    privileges.drop_bounding_set()
    # what is here now stays: a collection in a fork would only copy its pages
    gc.freeze()
    gc.disable()
    wake_read, wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda _signum, _frame: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the supervisor
    poller = select.poll()
    poller.register(control, select.POLLIN)
    poller.register(wake_read, select.POLLIN)
    while True:
        for ready, _events in poller.poll():
            if ready == wake_read:
                os.read(wake_read, 4096)
                zygote.reap()
                continue
            try:
                message = control.recv(MAX_MESSAGE)
                if not message:
                    return
                for _ in range(json.loads(message)["n"]):
                    zygote.fork()
            except ConnectionError:
                return  # the service is gone


if __name__ == "__main__":
    main(int(sys.argv[1]))
