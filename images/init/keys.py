"""One-shot before everything else: give each volume to the user of its container and make the first passwords.

Runs as root without network and with three capabilities (CHOWN, DAC_OVERRIDE, FOWNER), because a new volume belongs to whoever
the engine says and `HANDRAIL_UID` may change between two starts. It never touches a work root that is a directory of the host.
"""

# ruff: noqa: INP001 - a script of an image, not part of a package
from __future__ import annotations

import hashlib
import os
import secrets
import sys
from pathlib import Path
from urllib.parse import urlsplit

SERVER_ID = 10001  # uid and gid of db and broker, fixed in their images
SECRETS = Path("/volumes/secrets")
SERVER_VOLUMES = ("data/db", "data/broker", "secrets/db", "secrets/broker")
SERVICE_VOLUMES = ("data/api", "data/sandbox", "data/worker", "exec", "secrets/init", "secrets/api", "secrets/worker", "secrets/sandbox")
PASSWORD_BYTES = 32
CONFIGURATION = 78  # EX_CONFIG
REFUSED = (
    "keys: HANDRAIL_UID and HANDRAIL_GID must be the numbers of an ordinary user: services and commands never run as root.\n"
    "keys: HANDRAIL_UID 与 HANDRAIL_GID 必须是普通用户的编号：服务与命令从不以 root 运行。\n"
)


def main() -> int:
    """Idempotent: what is there stays. Returns the exit code."""
    asked = [os.environ["HANDRAIL_UID"], os.environ["HANDRAIL_GID"]]
    if not all(text.isdecimal() and int(text) > 0 for text in asked):
        sys.stderr.write(REFUSED)
        return CONFIGURATION
    uid, gid = map(int, asked)
    os.umask(0o077)
    for name in SERVER_VOLUMES:
        give(Path("/volumes") / name, SERVER_ID, SERVER_ID)
    for name in SERVICE_VOLUMES:
        give(Path("/volumes") / name, uid, gid)
    if os.environ.get("WORK_ON_HOST") != "yes":
        give(Path("/volumes/work"), uid, gid, mode=0o755)
    database = kept(SECRETS / "init/database_url") or secrets.token_urlsafe(PASSWORD_BYTES)
    broker = kept(SECRETS / "init/redis_url") or secrets.token_urlsafe(PASSWORD_BYTES)
    write(SECRETS / "init/database_url", f"postgresql://postgres:{database}@db:5432/postgres", uid, gid)
    write(SECRETS / "init/redis_url", f"redis://:{broker}@broker:6379/0", uid, gid)
    write(SECRETS / "db/postgres_password", database, SERVER_ID, SERVER_ID)
    write(SECRETS / "broker/users.acl", accounts(broker), SERVER_ID, SERVER_ID)
    return 0


def give(path: Path, uid: int, gid: int, *, mode: int = 0o700) -> None:
    """Make the tree at `path` belong to uid:gid if its top does not yet. Links are changed themselves, never followed."""
    path.chmod(mode)
    top = path.stat()
    if (top.st_uid, top.st_gid) == (uid, gid):
        return
    for _, folders, files, fd in os.fwalk(path, topdown=False, follow_symlinks=False):
        for name in (*folders, *files):
            os.chown(name, uid, gid, dir_fd=fd, follow_symlinks=False)
    os.chown(path, uid, gid)  # last: an interrupted run starts again


def kept(path: Path) -> str:
    """The password in the URL kept in `path`; '' on the first start."""
    return str(urlsplit(path.read_text(encoding="ascii")).password or "") if path.exists() else ""


def write(path: Path, text: str, uid: int, gid: int) -> None:
    """Replace the file at once, 0600, owned by uid:gid. An unchanged file is left alone."""
    if path.exists() and path.read_text(encoding="ascii") == text:
        return
    part = path.with_name(path.name + ".new")
    part.unlink(missing_ok=True)
    part.write_text(text, encoding="ascii")
    part.chmod(0o600)
    os.chown(part, uid, gid)
    part.rename(path)


def accounts(secret: str) -> str:
    """Valkey's access list: only a hash of the password reaches the server's container."""
    digest = hashlib.sha256(secret.encode("ascii")).hexdigest()
    return f"user default on #{digest} ~* &* +@all -@admin\nuser health on nopass resetchannels resetkeys -@all +ping\n"


if __name__ == "__main__":
    sys.exit(main())
