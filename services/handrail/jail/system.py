"""What every command may read: the system's directories, and the tools that were on PATH when the service started."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# /etc has secrets beside what programs need: only these
ETC = (
    "alternatives", "bash.bashrc", "bash_completion.d", "ca-certificates", "ca-certificates.conf", "crypto-policies", "debian_version",
    "default/locale", "fonts", "gai.conf", "gitconfig", "group", "host.conf", "hostname", "hosts", "inputrc", "java", "java-17-openjdk",
    "java-21-openjdk", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias", "locale.conf", "localtime", "login.defs", "lsb-release",
    "magic", "maven", "mime.types", "nsswitch.conf", "openssl", "os-release", "passwd", "perl", "pki", "profile", "protocols", "python3",
    "python3.11", "python3.12", "python3.13", "resolv.conf", "services", "shells", "ssl/certs", "ssl/openssl.cnf", "terminfo", "timezone",
    "wgetrc", "xattr.conf",
)  # fmt: skip
SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/proc",
    "/sys/devices/system/cpu", "/sys/devices/system/node", "/sys/fs/cgroup", "/sys/kernel/mm/transparent_hugepage",
    "/run/systemd/resolve/stub-resolv.conf", "/run/resolvconf/resolv.conf",
)  # fmt: skip
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
FIXED_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
# what of a home's tool directories is tools; beside them lie credentials and other data
HOME_TOOLS = (
    (".cargo/bin", (".cargo/bin", ".rustup")),
    (".local/bin", (".local/bin", ".local/lib", ".local/pipx", ".local/share/pipx", ".local/share/uv")),
    (".pyenv", (".pyenv",)),
    (".nvm", (".nvm/versions",)),
    (".volta", (".volta/bin", ".volta/tools")),
    (".deno/bin", (".deno/bin",)),
    (".bun/bin", (".bun/bin",)),
    ("go/bin", ("go/bin",)),
    (".asdf", (".asdf",)),
    (".sdkman", (".sdkman/candidates",)),
)
TOOL_VARIABLES = (("PYENV_ROOT", ".pyenv"), ("RUSTUP_HOME", ".rustup"), ("NVM_DIR", ".nvm"), ("SDKMAN_DIR", ".sdkman"))


@dataclass(frozen=True, slots=True)
class Toolchains:
    """Tools outside the system directories: directories for PATH, what to grant read-only, variables they need."""

    path: tuple[str, ...]
    read_only: tuple[str, ...]
    variables: tuple[tuple[str, str], ...]


def system_paths() -> tuple[str, ...]:
    """The system's part of every jail, existing entries only."""
    wanted = (*SYSTEM, *(f"/etc/{name}" for name in ETC))
    # a link is followed: what it points at is granted (resolv.conf, localtime)
    return tuple(path for path in wanted if os.path.exists(path))


def devices() -> tuple[str, ...]:
    """Device nodes of every jail, existing ones only."""
    return tuple(path for path in DEVICES if os.path.exists(path))


def find_toolchains(path: str, home: str, hidden: Iterable[str]) -> Toolchains:
    """Tools by the start-up PATH. A directory that is, holds or lies in one of `hidden` is left out."""
    names: list[str] = []
    grants: list[str] = []
    closed = [os.path.realpath(entry) for entry in hidden]
    for entry in path.split(":"):
        real = os.path.realpath(entry)
        if not entry.startswith("/") or entry in FIXED_PATH or not os.access(entry, os.R_OK | os.X_OK) or _in_system(real):
            continue
        roots = [root for root in _grants(real, os.path.realpath(home)) if os.path.isdir(root) and not _touches(root, closed)]
        if roots and entry not in names:
            names.append(entry)
            grants += [root for root in roots if root not in grants]
    variables = tuple(
        (name, os.path.join(home, below))
        for name, below in TOOL_VARIABLES
        if any(grant.startswith(os.path.join(os.path.realpath(home), below)) for grant in grants)
    )
    return Toolchains(tuple(names), tuple(grants), variables)


def _grants(directory: str, home: str) -> list[str]:
    relative = os.path.relpath(directory, home)
    if not relative.startswith(".."):
        for below, parts in HOME_TOOLS:
            if relative == below or relative.startswith(below + "/"):
                return [os.path.join(home, part) for part in parts]
    prefix = os.path.dirname(directory)
    if os.path.basename(directory) == "bin" and os.path.isfile(os.path.join(prefix, "pyvenv.cfg")):
        return [prefix, *_venv_base(Path(prefix))]
    if os.path.basename(directory) == "bin" and prefix not in ("/", home) and os.path.isdir(os.path.join(prefix, "lib")):
        return [prefix]
    return [directory]


def _venv_base(prefix: Path) -> list[str]:
    """The interpreter that a virtual environment was made from."""
    for line in (prefix / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines():
        name, _, value = line.partition("=")
        if name.strip() == "home":
            base = os.path.dirname(os.path.realpath(value.strip()))
            return [] if _in_system(base) or base == "/" else [base]
    return []


def _in_system(path: str) -> bool:
    return any(path == root or path.startswith(root + "/") for root in ("/usr", "/bin", "/sbin", "/lib", "/opt"))


def _touches(path: str, hidden: Iterable[str]) -> bool:
    return any(path == other or path.startswith(other.rstrip("/") + "/") or other.startswith(path.rstrip("/") + "/") for other in hidden)
