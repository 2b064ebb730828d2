"""One-shot after db and broker: check the work root, then run `handrail.store.init` (keys, roles, tables)."""

# ruff: noqa: INP001 - a script of an image, not part of a package
from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

CONFIGURATION = 78  # EX_CONFIG


def main() -> int:
    """The exit code of `python -m handrail.store.init`, or 78 with what to do about the work root."""
    work = Path(os.environ["HANDRAIL_WORKDIR"])
    if not os.access(work, os.R_OK | os.W_OK | os.X_OK):
        owner = work.stat()
        sys.stderr.write(
            f"init: the work root {work} belongs to uid {owner.st_uid} and uid {os.getuid()} cannot write it.\n"
            f"init: 工作目录 {work} 属于 uid {owner.st_uid}，uid {os.getuid()} 无法写入。\n"
            f"  -> HANDRAIL_UID={owner.st_uid} HANDRAIL_GID={owner.st_gid} docker compose up -d --wait\n"
        )
        return CONFIGURATION
    runpy.run_module("handrail.store.init", run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
