"""One embedded Handrail as a user has it: the installed command, its own directories and port, and every process of it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from handrail.jail import procfs
from tests.demo.embedded import HANDRAIL, environment, free_port
from tests.support.places import make_workdir, reachable_dir
from tests.support.wait import until

READY_S = 90.0
STOP_S = 10.0  # promised


@dataclass
class Instance:
    """Not started yet. `start` runs it in the foreground as a child of the test."""

    base: Path
    port: int
    data: Path
    workdir: Path
    children: list[subprocess.Popen[bytes]] = field(default_factory=list[subprocess.Popen[bytes]])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def output(self) -> Path:
        return self.base / "output.log"

    def cli(self, *argv: str, lang: str = "en", cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Any command on this data directory."""
        return subprocess.run(
            [str(HANDRAIL), *argv, "--data", str(self.data)],
            capture_output=True,
            text=True,
            env=environment(HANDRAIL_LANG=lang),
            cwd=cwd or self.base,
            check=False,
        )

    def json(self, *argv: str) -> Any:
        done = self.cli(*argv, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def start(self, *extra: str, wait: bool = True, **settings: str) -> subprocess.Popen[bytes]:
        """`handrail start` in the foreground."""
        argv = [str(HANDRAIL), "start", "--port", str(self.port), "--workdir", str(self.workdir), "--data", str(self.data), *extra]
        with self.output.open("ab") as sink:
            child = subprocess.Popen(argv, stdout=sink, stderr=sink, stdin=subprocess.DEVNULL, env=environment(**settings), cwd=self.base)
        self.children.append(child)
        if wait:
            until(lambda: "Work root" in self.text() or self._died(child), "the address is printed", READY_S)
        return child

    def text(self) -> str:
        return self.output.read_text(encoding="utf-8", errors="replace") if self.output.exists() else ""

    def processes(self) -> dict[int, str]:
        """Every live process that belongs to it, by its data directory in command line, environment or working directory."""
        return {pid: line for pid, line in _all_processes() if str(self.data) in line or _belongs(pid, str(self.data))}

    def part(self, name: str) -> int:
        """Pid of a part: api, sandbox, worker, beat, postgres, valkey, supervisor."""
        marks = {
            "api": "-m handrail.api",
            "sandbox": "-m handrail.sandbox",
            "worker": "-m handrail.worker ",
            "beat": "-m handrail.worker.beat",
            "postgres": "/postgres -D ",
            "valkey": "/valkey-server ",
        }
        pids = [pid for pid, line in self.processes().items() if marks[name] in line + " "]
        # postgres and the sandbox have children of the same name: the first is the parent
        tops = [pid for pid in pids if (stat := procfs.read_stat(pid)) and stat.ppid not in pids]
        assert len(tops) == 1, (name, self.processes())
        return tops[0]

    def cleanup(self) -> None:
        for child in self.children:
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(15)
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for child in self.children:
            child.wait()

    def _died(self, child: subprocess.Popen[bytes]) -> bool:
        assert child.poll() is None, self.text()[-3000:]
        return False


@contextlib.contextmanager
def instance() -> Generator[Instance]:
    """A new one in a directory of its own; whatever still lives of it at the end is killed."""
    with reachable_dir("hr-i-") as base:
        one = Instance(base, free_port(), base / "data", make_workdir(base / "work"))
        try:
            yield one
        finally:
            one.cleanup()


def gone(one: Instance, timeout_s: float = STOP_S) -> None:
    """Wait until no process of it is left."""
    until(lambda: not one.processes(), f"no process is left: {one.processes()}", timeout_s)


def _all_processes() -> Generator[tuple[int, str]]:
    for stat in procfs.snapshot().values():
        if stat.state in ("Z", "X") or stat.pid == os.getpid():
            continue
        with contextlib.suppress(OSError):
            yield stat.pid, Path(f"/proc/{stat.pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")


def _belongs(pid: int, data: str) -> bool:
    try:
        named = f"HANDRAIL_DATA_DIR={data}\0".encode() in Path(f"/proc/{pid}/environ").read_bytes()
        # the workers of postgres overwrite both command line and environment
        return named or str(Path(f"/proc/{pid}/cwd").readlink()).startswith(data + "/pg/")
    except OSError:
        return False
