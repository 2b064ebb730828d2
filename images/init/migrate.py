"""One-shot after db and broker: hand the owner's addresses to `handrail.store.init`, which makes keys, roles and tables."""

from __future__ import annotations

import os
import sys
from pathlib import Path

SECRETS = Path(os.environ["HANDRAIL_SECRETS_DIR"])
DATABASE = "db:5432"
BROKER = "broker:6379"


def main() -> int:
    """Checks the work root, then becomes `python -m handrail.store.init`."""
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
    os.execv(sys.executable, [sys.executable, "-m", "handrail.store.init"])


def secret(name: str) -> str:
    return (SECRETS / name).read_text(encoding="ascii")


if __name__ == "__main__":
    sys.exit(main())
