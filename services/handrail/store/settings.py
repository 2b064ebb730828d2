"""Settings of the one-shot set-up."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import Field

from handrail.contract.settings import CommaList, Settings
from handrail.store.errors import AdminUrlMissing

ZONE = "init"


class InitSettings(Settings):
    """Environment of `python -m handrail.store.init`.

    `secrets_dir` is either the directory of all zones or the zone `init` itself. The owner's URLs come from
    `DATABASE_URL` and `REDIS_URL`, else from files of those names (lower case) in the zone `init`.
    """

    workdir: Path = Field(default_factory=Path.cwd)
    allowed_paths: CommaList = ()

    @property
    def zones_dir(self) -> Path:
        """The directory with one folder a zone."""
        return self.secrets_dir.parent if self.secrets_dir.name == ZONE else self.secrets_dir

    def admin_url(self, name: str) -> str:
        """`DATABASE_URL` or `REDIS_URL`. Raises AdminUrlMissing."""
        path = self.zones_dir / ZONE / name.lower()
        value = os.environ.get(name, "").strip()
        if not value:
            try:
                value = path.read_text(encoding="utf-8").strip()
            except OSError as exc:
                raise AdminUrlMissing(name=name, path=path) from exc
        return value
