"""Which directories a workspace may work in, and changing them over the wire."""

from __future__ import annotations

import asyncio
import os
import pwd
from pathlib import Path, PurePosixPath

from handrail.api.audit.events import AuditEvent
from handrail.api.context import Actor, Workspace
from handrail.api.services import Services
from handrail.api.system.errors import BadDirectory, ForbiddenDirectory
from handrail.contract.errors import Lang
from handrail.kit import openat2

# never a work root themselves, nor anything that contains them
SYSTEM = (
    "/", "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/root", "/run", "/sbin", "/sys", "/usr", "/var",
    "/home", "/opt", "/srv", "/tmp", "/mnt", "/media", "/System", "/Library", "/Users",  # noqa: S108 - names to refuse
)  # fmt: skip
# nothing below these either
CLOSED = ("/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr", "/System", "/Library")
FIRST_PERSON = 1000  # user ids below it are services
PRIVATE_NAMES = frozenset({".ssh", ".aws", ".gnupg", ".config", ".kube", ".docker"})

REASONS: dict[str, dict[Lang, str]] = {
    "relative": {"en": "the path must be absolute.", "zh": "路径必须是绝对路径。"},
    "missing_parent": {"en": "its parent directory does not exist.", "zh": "上级目录不存在。"},
    "not_directory": {"en": "it is not a directory.", "zh": "它不是目录。"},
    "not_writable": {"en": "the service may not write there.", "zh": "服务没有写入权限。"},
    "not_allowed": {"en": "it is not one of the allowed directories.", "zh": "它不在允许的目录之列。"},
    "elsewhere": {"en": "there is no directory, or a link that leads elsewhere.", "zh": "该处没有目录，或是指向别处的链接。"},
    "is_workdir": {"en": "it is the current work directory.", "zh": "它是当前工作目录。"},
}


async def change(services: Services, actor: Actor, text: str) -> Workspace:
    """Make `text` the workspace's root; created if absent. Raises BadDirectory (400) or ForbiddenDirectory (403)."""
    path = _absolute(text, actor.lang)
    check_allowed(path, home=_home(), data_dir=str(services.settings.data_dir))
    real = await asyncio.to_thread(_make, path, actor.lang)
    # a link may lead elsewhere: the rule is for what it leads to
    check_allowed(real, home=_home(), data_dir=str(services.settings.data_dir))
    allowed = tuple(dict.fromkeys((*actor.workspace.allowed_paths, real)))
    workspace = await _save(services, actor, "workdir", root=real, allowed=allowed)
    # an owner has just named it: if another directory lies there than before, this is the re-authorisation
    services.files.confirm_root(real)
    return workspace


async def remove_allowed(services: Services, actor: Actor, text: str) -> Workspace:
    """Take `text` off the allowed list. Raises BadDirectory when it is relative or the work root itself."""
    path = _absolute(text, actor.lang)
    if path == actor.workspace.root:
        raise BadDirectory(reason=REASONS["is_workdir"][actor.lang])
    allowed = tuple(known for known in actor.workspace.allowed_paths if known != path)
    return await _save(services, actor, "allowed_paths_remove", root=actor.workspace.root, allowed=allowed)


def check_allowed(path: str, *, home: str, data_dir: str) -> None:
    """Pure: raises ForbiddenDirectory for the root, home, system and private directories and our own data."""
    pure = PurePosixPath(path)
    folded = PurePosixPath(path.casefold())
    data = PurePosixPath(data_dir.casefold())
    forbidden = (
        path in SYSTEM
        or any(pure.is_relative_to(closed) for closed in CLOSED)
        or any(PurePosixPath(one).is_relative_to(pure) for one in (home, *homes()))
        or data.is_relative_to(folded)
        or folded.is_relative_to(data)
        or any(part in PRIVATE_NAMES for part in folded.parts)
    )
    if forbidden:
        raise ForbiddenDirectory(path=path[:200])


def homes() -> tuple[str, ...]:
    """Home directories of the machine's people: a root below one is fine, the home itself or what holds it is not."""
    return tuple(entry.pw_dir for entry in pwd.getpwall() if entry.pw_uid >= FIRST_PERSON or entry.pw_uid == 0)


async def confirm(services: Services, actor: Actor, text: str) -> Workspace:
    """Say that what lies at an allowed path now is meant. Raises BadDirectory, ForbiddenDirectory; the record is made first."""
    path = _absolute(text, actor.lang)
    workspace = actor.workspace
    if path not in (workspace.root, *workspace.allowed_paths):
        raise BadDirectory(reason=REASONS["not_allowed"][actor.lang])
    check_allowed(path, home=_home(), data_dir=str(services.settings.data_dir))
    if not await asyncio.to_thread(_is_plain_directory, path):
        raise BadDirectory(reason=REASONS["elsewhere"][actor.lang])
    old = dict(await services.files.run(lambda: services.files.roots(actor))).get(path)
    now = await asyncio.to_thread(openat2.identity, os.fsencode(path))
    before = None if old is None else [old.dev, old.ino, old.mount]
    await services.audit.effect(_event(actor, "root_confirmed", {"path": path, "before": before, "now": list(now)}))
    services.files.confirm_root(path)
    return workspace


def _is_plain_directory(path: str) -> bool:
    """A directory by its own name: a link that was put in its place leads elsewhere."""
    return os.path.realpath(path) == path and Path(path).is_dir()


def _home() -> str:
    return str(Path.home())


def _absolute(text: str, lang: Lang) -> str:
    if "\0" in text:
        raise BadDirectory(reason=REASONS["not_directory"][lang])
    expanded = str(Path(text).expanduser()) if text == "~" or text.startswith("~/") else text
    if not expanded.startswith("/"):
        raise BadDirectory(reason=REASONS["relative"][lang])
    return "/" + os.path.normpath(expanded).lstrip("/")


def _make(path: str, lang: Lang) -> str:
    """Create the last component if it is absent; the real path."""
    try:
        Path(path).mkdir(mode=0o755)
    except FileExistsError:
        pass
    except FileNotFoundError as exc:
        raise BadDirectory(reason=REASONS["missing_parent"][lang]) from exc
    except OSError as exc:
        raise BadDirectory(reason=REASONS["not_writable"][lang]) from exc
    real = os.path.realpath(path)
    if not Path(real).is_dir():
        raise BadDirectory(reason=REASONS["not_directory"][lang])
    if not os.access(real, os.W_OK | os.X_OK):
        raise BadDirectory(reason=REASONS["not_writable"][lang])
    return real


async def _save(services: Services, actor: Actor, action: str, *, root: str, allowed: tuple[str, ...]) -> Workspace:
    event = _event(actor, action, {"from": actor.workspace.root, "to": root, "allowed": list(allowed)})
    await services.audit.effect(event)
    return await services.accounts.update_workspace(actor.workspace.id, by=actor.user_id, root=root, allowed_paths=allowed)


def _event(actor: Actor, action: str, details: dict[str, object]) -> AuditEvent:
    return AuditEvent(
        category="security",
        action=action,
        level="warn",
        user_id=actor.user_id,
        device_id=actor.identity.device_id,
        workspace_id=actor.workspace.id,
        peer=actor.peer,
        request_id=actor.request_id,
        details=details,
    )
