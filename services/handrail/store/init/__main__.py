"""`python -m handrail.store.init [--owner NAME] [--uid N --gid N]`."""

from __future__ import annotations

import argparse
import asyncio
import sys

from psycopg import Error

from handrail.contract.errors import HandrailError, Lang
from handrail.store.errors import InitFailed
from handrail.store.init.files import Vault
from handrail.store.init.run import Plan, set_up
from handrail.store.settings import InitSettings

STEPS: dict[str, dict[Lang, str]] = {
    "keys": {"en": "keys", "zh": "密钥"},
    "roles": {"en": "database roles", "zh": "数据库角色"},
    "database": {"en": "database", "zh": "数据库"},
    "vector": {"en": "extension vector", "zh": "vector 扩展"},
    "migrations": {"en": "migrations", "zh": "迁移"},
    "workspace": {"en": "first user and workspace", "zh": "首个用户与工作区"},
    "broker": {"en": "broker", "zh": "消息代理"},
    "secrets": {"en": "secrets", "zh": "密钥文件"},
}
OUTCOMES: dict[str, dict[Lang, str]] = {
    "created": {"en": "created", "zh": "已创建"},
    "kept": {"en": "unchanged", "zh": "未变"},
    "ready": {"en": "ready", "zh": "就绪"},
    "moved": {"en": "moved to the new work root", "zh": "已移至新的工作根目录"},
    "written": {"en": "written", "zh": "已写入"},
}
LANG: Lang = "en"


def main() -> int:
    """0 when everything is set up; 78 (configuration) or 1 with one line that says what is wrong."""
    parser = argparse.ArgumentParser(prog="python -m handrail.store.init")
    parser.add_argument("--owner", default="owner", help="name of the first user")
    parser.add_argument("--uid", type=int, help="owner of the secret files (root only)")
    parser.add_argument("--gid", type=int, help="group of the secret files (root only)")
    options = parser.parse_args()
    lang: Lang = LANG
    try:
        settings = InitSettings.load()
        lang = settings.lang
        owner = (options.uid, options.gid if options.gid is not None else options.uid) if options.uid is not None else None
        plan = Plan(
            admin_url=settings.admin_url("DATABASE_URL"),
            redis_url=settings.admin_url("REDIS_URL"),
            workdir=settings.workdir,
            allowed=settings.allowed_paths,
            owner=options.owner,
        )
        asyncio.run(set_up(plan, Vault(settings.zones_dir, owner), lambda step, outcome: _say(lang, step, outcome)))
    except HandrailError as exc:
        sys.stderr.write(f"init: {exc.text(lang)}\n")
        return 78
    except (Error, OSError) as exc:
        sys.stderr.write(f"init: {InitFailed(step=type(exc).__name__, detail=str(exc).strip()).text(lang)}\n")
        return 1
    return 0


def _say(lang: Lang, step: str, outcome: str) -> None:
    shown = OUTCOMES.get(outcome, {}).get(lang, outcome)
    sys.stdout.write(f"init: {STEPS[step][lang]}: {shown}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
