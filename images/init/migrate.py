"""One-shot after db and broker: hand the owner's addresses to `handrail.store.init`, which makes keys, roles and tables."""

# ruff: noqa: INP001 - a script of an image, not part of a package
from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

SECRETS = Path(os.environ["HANDRAIL_SECRETS_DIR"])
DATABASE = "db:5432"
BROKER = "broker:6379"


def main() -> int:
    """Checks the work root, then does what `python -m handrail.store.init` does."""
    work = Path(os.environ["HANDRAIL_WORKDIR"])
    if not os.access(work, os.R_OK | os.W_OK | os.X_OK):
        owner = work.stat().st_uid
        sys.stderr.write(
            f"init: the work root {work} belongs to uid {owner} and uid {os.getuid()} cannot write it.\n"
            f"init: 工作目录 {work} 属于 uid {owner}，uid {os.getuid()} 无法写入。\n"
            f"  -> HANDRAIL_UID={owner} HANDRAIL_GID={work.stat().st_gid} docker compose up -d --wait\n"
        )
        return 78
    os.environ["DATABASE_URL"] = f"postgresql://postgres:{secret('postgres_password')}@{DATABASE}/postgres"
    os.environ["REDIS_URL"] = f"redis://:{secret('valkey_password')}@{BROKER}/0"
    runpy.run_module("handrail.store.init", run_name="__main__")
    return 0


def secret(name: str) -> str:
    """What the keys step wrote."""
    return (SECRETS / name).read_text(encoding="ascii")


if __name__ == "__main__":
    sys.exit(main())
