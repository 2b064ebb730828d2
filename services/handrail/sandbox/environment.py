"""The clean environment of a command: fixed values, and a short list of names taken from the service's start."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from handrail.jail.system import FIXED_PATH, Toolchains

# taken over from the service's environment when they are there; none can name a program or a library to load
PASSED = (
    "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_COLLATE", "LC_MESSAGES", "LC_MONETARY", "LC_NUMERIC", "LC_TIME", "TZ",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "PIP_CERT", "GIT_SSL_CAINFO",
    "JAVA_HOME", "GOROOT",
)  # fmt: skip
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "PIP_INDEX_URL", "npm_config_registry")

# what a repository's own configuration may not decide: programs that git would run by itself
GIT_CONFIG = (
    ("safe.directory", "*"),
    ("core.fsmonitor", "false"),
    ("core.pager", "cat"),
    ("core.sshCommand", "false"),
    ("core.gitProxy", ""),
    ("core.askPass", ""),
    ("credential.helper", ""),
    ("protocol.ext.allow", "never"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("gpg.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
)
GIT_IDENTITY = "[user]\n\tname = Handrail\n\temail = handrail@localhost\n[init]\n\tdefaultBranch = main\n"


@dataclass(frozen=True, slots=True)
class Home:
    """Places of one workspace outside its work root."""

    home: Path
    tmp: Path


class Environments:
    """Builds environments. One a service: the start-up environment is read once."""

    def __init__(self, environ: Mapping[str, str], toolchains: Toolchains, git_config: Path, *, network: bool) -> None:
        """`git_config` is a file of ours that stands in for the system's: the identity of last resort."""
        names = PASSED + (PROXIES if network else ())
        self._fixed = {name: environ[name] for name in names if environ.get(name)}
        self._fixed.setdefault("LANG", "C.UTF-8")
        self._fixed |= dict(toolchains.variables)
        self._fixed |= {
            "TERM": "dumb",
            "FORCE_COLOR": "0",
            "NO_COLOR": "1",
            "PAGER": "cat",
            "GIT_PAGER": "cat",
            "GIT_EDITOR": "true",
            "GIT_SEQUENCE_EDITOR": "true",
            "EDITOR": "true",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_CONFIG_SYSTEM": str(git_config),
            "SHELL": "/bin/bash",
            "USER": "handrail",
            "LOGNAME": "handrail",
            "DEBIAN_FRONTEND": "noninteractive",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "npm_config_update_notifier": "false",
            "npm_config_fund": "false",
            "HANDRAIL": "1",
        }
        self._fixed["GIT_CONFIG_COUNT"] = str(len(GIT_CONFIG))
        for number, (key, value) in enumerate(GIT_CONFIG):
            self._fixed[f"GIT_CONFIG_KEY_{number}"] = key
            self._fixed[f"GIT_CONFIG_VALUE_{number}"] = value
        self._path = tuple((entry, os.path.realpath(entry)) for entry in (*toolchains.path, *FIXED_PATH))

    def build(self, home: Home, cwd: str, writable: tuple[str, ...]) -> dict[str, str]:
        """The whole environment. No directory that a command can write is on PATH, so that none can shadow a tool."""
        path = ":".join(entry for entry, real in self._path if not _below(real, writable))
        base = str(home.home)
        return {
            **self._fixed,
            "PATH": path,
            "HOME": base,
            "TMPDIR": str(home.tmp),
            "PWD": cwd,
            "XDG_CACHE_HOME": f"{base}/.cache",
            "XDG_CONFIG_HOME": f"{base}/.config",
            "XDG_DATA_HOME": f"{base}/.local/share",
            "XDG_STATE_HOME": f"{base}/.local/state",
        }


def _below(real: str, roots: tuple[str, ...]) -> bool:
    return any(real == root or real.startswith(root.rstrip("/") + "/") for root in roots)
