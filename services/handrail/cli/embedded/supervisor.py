"""The supervisor of the embedded form: starts the parts in order, keeps them alive, ends them in order.

It is one thread without a lock: signals and dead children wake its loop by a pipe. The kernel ends the parts when
that thread ends in whatever way, so a SIGKILL of the supervisor leaves nothing behind either.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from handrail.cli.embedded import postgres, services, stopping, valkey
from handrail.cli.embedded.layout import Layout
from handrail.cli.embedded.logfile import echo
from handrail.cli.embedded.member import Member, reap_orphans
from handrail.cli.embedded.services import Part
from handrail.cli.embedded.signals import Signals
from handrail.cli.errors import ComponentFailed
from handrail.cli.options import Options
from handrail.contract.errors import HandrailError
from handrail.jail import procfs, syscalls, tree
from handrail.kit.clock import Clock

STEP_S = 0.03  # while a server is starting
PROBE_S = 0.1  # between two looks at /readyz: each costs the starting api a little
LATE_S = 20.0  # the late parts start then, ready or not
IDLE_S = 1.0  # between two looks when nothing happens: logs are passed on and rotated
ECHO_S = 0.2  # between two looks at the logs when a terminal shows them
SERVER_TIMEOUT_S = 60.0
INIT_TIMEOUT_S = 120.0
RESTART_EXIT = 75  # of the api: a restart was asked over HTTP
TAIL_LINES = 12


class Stopped(Exception):
    """A signal came while starting."""


@dataclass(slots=True)
class Events:
    """What the supervisor reports. Each may print; none may block for long."""

    line: Callable[[str], None]  # a log line of a service
    died: Callable[[str, int, float], None]  # part, exit code, seconds until it starts again
    ready: Callable[[], None]
    tick: Callable[[], None]


@dataclass(slots=True)
class Supervisor:
    """One instance. `run` returns when everything has ended."""

    layout: Layout
    options: Options
    environ: Mapping[str, str]
    clock: Clock
    events: Events
    is_ready: Callable[[], bool]  # asks /readyz
    show_logs: bool = True
    members: list[Member] = field(default_factory=list[Member])

    def run(self) -> int:
        """Start, supervise, stop. 0 after an asked-for stop; raises CliError when the start fails (all is stopped then)."""
        syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
        signals = Signals()
        try:
            self._start(signals)
            self._supervise(signals)
        except Stopped:
            pass
        finally:
            clean = stopping.stop_all(self.members, signals, self.clock)
            for member in self.members:
                echo(member.log, self.events.line) if self._shown(member) else None
                member.log.close()
            signals.close()
        return 0 if clean else 1

    # ---- start

    def _start(self, signals: Signals) -> None:
        for part in services.servers(self.layout, self.environ):
            if part.name == "postgres":
                postgres.init_database(self.layout)
            self._add(part)
        for member in list(self.members):
            self._await_server(member, signals)
        first, *others = (part for part in services.parts(self.layout, self.options, self.environ) if not part.late)
        if (self.layout.secrets("sandbox") / "public.json").exists():
            self._add(first)  # it needs its key only, and that is there from the second start on: two cores, two imports
        else:
            others = [first, *others]
        self._init(signals)
        for part in others:
            self._add(part)

    def _add(self, part: Part) -> Member:
        member = Member(part, self.layout, self.clock)
        self.members.append(member)
        member.start()
        return member

    def _await_server(self, member: Member, signals: Signals) -> None:
        deadline = self.clock.monotonic() + SERVER_TIMEOUT_S
        while not self._server_ready(member):
            self._check(signals)
            code = member.ended()
            if code is not None or self.clock.monotonic() > deadline:
                detail = " ".join(member.log.tail(3)) or f"exit code {code}"
                raise ComponentFailed(component=member.part.name, detail=detail)
            signals.wait(STEP_S)

    def _server_ready(self, member: Member) -> bool:
        if member.part.name == "postgres":
            return member.child is not None and postgres.is_ready(self.layout, member.child.pid)
        return valkey.is_ready(self.layout)

    def _init(self, signals: Signals) -> None:
        """Run the one-shot to its end. Raises ComponentFailed."""
        command = services.init_command(self.layout, self.options, self.environ)
        once = self._add(Part("init", lambda: command, 0))
        deadline = self.clock.monotonic() + INIT_TIMEOUT_S
        while (code := once.ended()) is None:
            self._check(signals)
            if self.clock.monotonic() > deadline:
                once.kill()
                code = -signal.SIGKILL
                break
            signals.wait(STEP_S)
        tail = once.log.tail(TAIL_LINES)
        self.members.remove(once)
        once.log.close()
        if code != 0:
            raise ComponentFailed(component="handrail.store.init", detail="\n" + "\n".join(tail))

    def _check(self, signals: Signals) -> None:
        reap_orphans(self.members)
        if signals.stop:
            raise Stopped

    # ---- supervise

    def _supervise(self, signals: Signals) -> None:
        ready = False
        late = [part for part in services.parts(self.layout, self.options, self.environ) if part.late]
        patience = self.clock.monotonic() + LATE_S
        while not signals.stop:
            if not self._revive():
                return
            if not ready and self.is_ready():
                ready = True
                self.events.ready()
            if late and (ready or self.clock.monotonic() > patience):
                for part in late:
                    self._add(part)
                late = []
            self._pass_logs_on()
            if ready:
                self.events.tick()
            signals.wait(self._patience(ready=ready))
            reap_orphans(self.members)

    def _patience(self, *, ready: bool) -> float:
        if not ready:
            return PROBE_S
        due = [member.due - self.clock.monotonic() for member in self.members if member.child is None]
        return min([ECHO_S if self.show_logs else IDLE_S, *due])

    def _revive(self) -> bool:
        """Start again what died. False when the api was asked to shut down."""
        for member in self.members:
            code = member.ended()
            if code is not None:
                self._kill_strays()
                if member.part.name == "api" and code == 0:
                    return False
                asked = member.part.name == "api" and code == RESTART_EXIT
                delay = member.schedule(at_once=asked)
                if not asked:
                    self.events.died(member.part.name, code, delay)
            if member.is_due():
                self._restart(member)
        return True

    def _restart(self, member: Member) -> None:
        try:
            member.start()
        except (OSError, HandrailError) as exc:
            self.events.died(member.part.name, -1, member.schedule(at_once=False))
            self.events.line(f"[supervisor] {member.part.name}: {exc}")

    def _kill_strays(self) -> None:
        """What a dead part left behind came to us: it may not work on unsupervised."""
        ours = {member.child.pid for member in self.members if member.child is not None}
        table = procfs.descendants(os.getpid())
        kept = set(ours)
        for stat in table:  # parents come before their children
            if stat.ppid in kept:
                kept.add(stat.pid)
            elif stat.pid not in kept:
                tree.send(stat, signal.SIGKILL)

    # ---- logs

    def _shown(self, member: Member) -> bool:
        return self.show_logs and member.part.echo

    def _pass_logs_on(self) -> None:
        for member in self.members:
            if self._shown(member):
                echo(member.log, self.events.line)
            member.log.rotate()
