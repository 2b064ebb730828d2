"""One supervised process through its lives: started, died, waiting, started again."""

from __future__ import annotations

import contextlib
import os
import signal

from handrail.cli.embedded.backoff import Backoff
from handrail.cli.embedded.layout import Layout
from handrail.cli.embedded.logfile import LogFile
from handrail.cli.embedded.services import Part
from handrail.jail import spawn
from handrail.kit.clock import Clock


class Member:
    """A Part with its child, if it has one now."""

    def __init__(self, part: Part, layout: Layout, clock: Clock) -> None:
        self.part = part
        self.log = LogFile(layout, part.name)
        self.child: spawn.Child | None = None
        self.due = 0.0  # monotonic seconds: when to start it next
        self._layout = layout
        self._clock = clock
        self._backoff = Backoff()
        self._born = 0.0

    def start(self) -> None:
        """Start it now. Raises OSError or CliError."""
        argv, env = self.part.command()
        self._born = self._clock.monotonic()
        self.child = spawn.start(
            argv, env=env, cwd=str(self._layout.data), log=self.log.fd, account=self._layout.account, pdeathsig=self.part.death
        )

    def ended(self) -> int | None:
        """Exit code when it has just ended (its tree is cleared away then), else None."""
        if self.child is None or self.child.poll() is None:
            return None
        code = self.child.stop(0.0)
        self.child = None
        return code

    def schedule(self, *, at_once: bool) -> float:
        """Set when it starts again; the delay in seconds."""
        now = self._clock.monotonic()
        delay = 0.0 if at_once else self._backoff.after(now - self._born)
        self.due = now + delay
        return delay

    def is_due(self) -> bool:
        return self.child is None and self._clock.monotonic() >= self.due

    def ask_to_stop(self) -> None:
        if self.child is not None:
            with contextlib.suppress(ProcessLookupError):
                self.child.signal(self.part.stop_signal)

    def kill(self) -> None:
        """End it and everything below it, now."""
        if self.child is not None:
            if self.child.poll() is None:
                self.child.signal(signal.SIGKILL)
            self.child.stop(0.0)
            self.child = None

    @property
    def running(self) -> bool:
        return self.child is not None and self.child.poll() is None

    def reap(self, pid: int) -> bool:
        """Whether `pid` is this child (whose exit status is then its own to collect)."""
        return self.child is not None and self.child.pid == pid


def reap_orphans(members: list[Member]) -> None:
    """Collect dead grandchildren that came to us as subreaper, never a child that a Member still asks about."""
    while True:
        try:
            info = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        if info is None or any(member.reap(info.si_pid) for member in members):
            return
        with contextlib.suppress(ChildProcessError):
            os.waitpid(info.si_pid, os.WNOHANG)
