"""Paths as rules see them: normalised, every spelling alike, wildcards matched against what they could hit."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Iterable

from handrail.policy.verdict import Context

PROTECTED = (
    "/", "/usr", "/var", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/boot", "/opt", "/root", "/etc", "/home", "/dev", "/proc", "/sys",
    "/System", "/Library", "/Users",
)  # fmt: skip
SINKS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero", "/dev/full"})
ACCOUNTS = frozenset({"/etc/passwd", "/etc/shadow", "/etc/gshadow", "/etc/group", "/etc/sudoers", "/etc/master.passwd"})
SCRATCH = ("/tmp", "/var/tmp", "/dev/shm", "/dev/fd", "/proc/self/fd")  # noqa: S108  # names to compare with
SLASHES = re.compile(r"/(?:\.?/)+")
WORD_END = re.compile(r"[\s'\"`;,|&<>()]")
PROCESS_LINK = re.compile(r"/+(?:\./+)*proc/+(?:self|thread-self|\d+|[^/]*[*?\[][^/]*)/+(?:task/+\d+/+)?(root|cwd)(?=/|\Z)")
DEVICES = re.compile(r"/dev/(?!null$|zero$|full$|tty$|stdout$|stderr$|fd/|shm/|random$|urandom$|tcp/|udp/)")
LOADED_LATER = re.compile(
    r"/\.(?:bash\w*|profile|zsh\w*|zprofile|login|inputrc|ssh|gnupg|aws|kube|config/(?:git|fish|systemd|autostart)|gitconfig|npmrc|netrc|pypirc|pip"
    r"|vimrc|pam_environment|xprofile|xinitrc)(?:/|$)|/\.git/(?:hooks|config|modules)(?:/|$)|/\.(?:vscode|idea|cursor|devcontainer)(?:/|$)|/\.envrc$",
    re.IGNORECASE,
)


def absolute(path: str, bases: Iterable[str]) -> list[str]:
    """The normalised absolute paths that `path` may be from any of the working directories."""
    if path.startswith("/"):
        through = PROCESS_LINK.match(path) if path.startswith("/proc/") or "//" in path or "/." in path else None
        if through is None:
            return [normal(path)]
        path = path[through.end() :].lstrip("/")
        return [normal("/" + path)] if through[1] == "root" else [normal(base + "/" + path) for base in bases]
    return [normal(base.rstrip("/") + "/" + path) for base in bases]


def normal(path: str) -> str:
    """`//a/./b/../c/` -> `/a/c`."""
    out = posixpath.normpath(path)
    return "/" + out.lstrip("/") if out.startswith("/") else out


def hits_protected(path: str, context: Context) -> bool:
    """Whether the path, wildcards opened, can be a protected directory or the whole home; or everything in one (`/*`)."""
    home = (context.home, "/root")
    candidates = (*PROTECTED, *home)
    folded = path.casefold()
    if any(folded == protected.casefold() for protected in candidates):
        return True
    parent, last = posixpath.split(path)
    if last and set(last) <= set("*?.[]!") and "*" in last and any(parent.casefold() == protected.casefold() for protected in candidates):
        return True
    if not any(char in path for char in "*?["):
        return False
    return any(_could_be(folded, protected.casefold()) for protected in candidates)


def _could_be(pattern: str, path: str) -> bool:
    parts, wanted = pattern.split("/"), path.split("/")
    return len(parts) == len(wanted) and all(fnmatch.fnmatchcase(part, glob) for part, glob in zip(wanted, parts, strict=True))


def is_account(path: str) -> bool:
    """Whether the path, wildcards opened, is a file of accounts and passwords, in any case."""
    folded = path.casefold()
    if folded in ACCOUNTS or folded.startswith("/etc/sudoers.d"):
        return True
    return any(char in path for char in "*?[") and any(_could_be(folded, account) for account in ACCOUNTS)


def inside(path: str, directory: str) -> bool:
    """Whether `path` is `directory` or below it."""
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def is_own_data(path: str, context: Context) -> bool:
    """Our own data directory in any spelling; the workspace's home and scratch space in it are not meant."""
    folded, data, home = path.casefold(), context.data_dir.casefold(), context.home.casefold()
    at_home = home + "/" + posixpath.basename(data)
    if inside(folded, at_home) or _reaches(folded, at_home):
        return True
    if inside(home, data) and (inside(folded, home) or inside(folded, normal(home + "/../tmp"))):
        return False
    return inside(folded, data) or _reaches(folded, data)


def names_own_data(text: str, context: Context) -> bool:
    """Whether the data directory's path stands anywhere in a text: `-f/path`, `@/path`, `file:///path`, source text."""
    name = posixpath.basename(context.data_dir)
    if name not in text:
        return False
    plain = SLASHES.sub("/", text.casefold())
    for start in (context.data_dir.casefold(), context.home.casefold() + "/" + name.casefold(), "~/" + name.casefold()):
        at = plain.find(start)
        while at >= 0:
            if plain[at + len(start) : at + len(start) + 1] in ("", "/", "'", '"', " ", "\n", ")", ";", ",", "`", "|", "&", ">", "\t"):
                path = WORD_END.split(plain[at:], maxsplit=1)[0]
                if path.startswith("~") or is_own_data(normal(path), context):
                    return True
            at = plain.find(start, at + 1)
    return False


def _reaches(pattern: str, data: str) -> bool:
    """A wildcard that can stand for the data directory."""
    if not any(char in pattern for char in "*?["):
        return False
    depth = data.count("/")
    head = "/".join(pattern.split("/")[: depth + 1])
    last = posixpath.basename(head)
    # `~/*` means what is not hidden: a wildcard has to show the dot itself
    return _could_be(head, data) and (last.startswith(".") or not posixpath.basename(data).startswith("."))
