"""A start from the first check to the end: what may fail is checked before anything is touched, in the order of cost."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator, Mapping
from pathlib import Path

from handrail.cli.embedded.account import check_reach, services_account
from handrail.cli.embedded.layout import Layout, prepare, run_dir_for
from handrail.cli.embedded.ports import check_free
from handrail.cli.errors import AlreadyRunning, DataDirUnusable, WorkRootUnusable
from handrail.cli.options import Options
from handrail.cli.pidfile import PidFile, read, running

CRASH_PATIENCE_S = 8.0


def preflight(options: Options) -> None:
    """What can be said without creating or changing anything. Raises AlreadyRunning, PortInUse, CannotListen."""
    data = Path(options.data)
    pid_file = data / "handrail.pid"
    owner = running(pid_file)
    if owner is not None:
        raise AlreadyRunning(pid=owner.pid, address=owner.address, data=data)
    # after a crash the parts of the old instance may be on their way out still
    check_free(options.host, options.port, patience_s=CRASH_PATIENCE_S if read(pid_file) else 0.0)


@contextlib.contextmanager
def held(options: Options, environ: Mapping[str, str]) -> Generator[Layout]:
    """The prepared layout of this start, its PID file held. Raises CliError."""
    preflight(options)
    data = Path(options.data)
    account = services_account(data)
    layout = Layout(data, Path(environ.get("HANDRAIL_RUN_DIR") or run_dir_for(data)), account)
    _make_workdir(Path(options.workdir), layout)
    check_reach(account, Path(options.workdir))
    prepare(layout)
    pid_file = _take(layout)
    try:
        pid_file.write(options.address, layout.run)
        yield layout
    finally:
        pid_file.release()


def _take(layout: Layout) -> PidFile:
    try:
        pid_file = PidFile.take(layout.pid_file)
    except OSError as exc:
        raise DataDirUnusable(data=layout.data, detail=exc.strerror or str(exc)) from exc
    if pid_file is None:
        owner = read(layout.pid_file)
        raise AlreadyRunning(pid=owner.pid if owner else "?", address=owner.address if owner else "?", data=layout.data)
    return pid_file


def _make_workdir(path: Path, layout: Layout) -> None:
    """Create a missing work root for the services' account; one that exists is never changed."""
    if path.exists():
        return
    user = layout.account.name if layout.account else str(os.geteuid())
    _or_unusable(lambda: path.mkdir(mode=0o755, parents=True), path, user)
    if layout.account:
        _or_unusable(lambda: os.chown(path, layout.uid, layout.gid), path, user)


def _or_unusable(action: Callable[[], None], path: Path, user: str) -> None:
    try:
        action()
    except OSError as exc:
        raise WorkRootUnusable(user=user, workdir=path) from exc
