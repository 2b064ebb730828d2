"""Temporary directories that the services' account can reach, whoever runs the tests."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path

from handrail.cli.embedded.account import services_account
from handrail.jail.account import Account


def account() -> Account | None:
    """The account that services run as: `handrail` when root runs the tests, else None (this user)."""
    return services_account(Path("/var/lib/handrail"))


@contextlib.contextmanager
def reachable_dir(prefix: str = "hr-") -> Generator[Path]:
    """A new directory directly below /tmp (short socket paths) that others may pass through; removed at the end."""
    path = Path(tempfile.mkdtemp(prefix=prefix, dir="/tmp"))
    path.chmod(0o711)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def make_workdir(path: Path) -> Path:
    """Create a work root that belongs to the services' account."""
    path.mkdir(parents=True, exist_ok=True)
    who = account()
    if who is not None:
        os.chown(path, who.uid, who.gid)
    return path
