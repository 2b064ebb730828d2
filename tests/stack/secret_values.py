"""The secrets of a running stack: their values, and which containers may hold them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from urllib.parse import urlsplit

from tests.stack.stack import Stack, run


@dataclass(frozen=True, slots=True)
class Secret:
    """One value; `holders` are the services whose container may contain it."""

    name: str
    value: str
    holders: frozenset[str]


def secret_values(stack: Stack) -> tuple[Secret, ...]:
    """Read from the volumes of the zones. Every zone must be there."""
    api, worker, owner = (_zone(stack, name) for name in ("api", "worker", "init"))
    found = (
        Secret("signing key", _private(api["signing.json"]), frozenset({"api"})),
        Secret("audit key", _private(api["audit.json"]), frozenset({"api"})),
        Secret("pepper", api["pepper"].strip(), frozenset({"api"})),
        Secret("api database password", _password(api["database_url"]), frozenset({"api"})),
        Secret("audit database password", _password(api["audit_database_url"]), frozenset({"api"})),
        Secret("worker database password", _password(worker["database_url"]), frozenset({"worker", "beat"})),
        Secret("broker password", _password(worker["broker_url"]), frozenset({"api", "worker", "beat"})),
        Secret("database owner password", _password(owner["owner_database_url"]), frozenset()),
        Secret("database superuser password", _password(owner["database_url"]), frozenset({"db"})),
    )
    assert len({secret.value for secret in found}) == len(found), "each secret is its own"
    assert all(len(secret.value) >= 32 for secret in found), [secret.name for secret in found if len(secret.value) < 32]
    return found


def _private(text: str) -> str:
    """The second line of the PEM text of the one key: the key itself."""
    (pem,) = json.loads(text)["keys"].values()
    return str(pem).strip().splitlines()[1]


def _password(url: str) -> str:
    return urlsplit(url.strip()).password or ""


def _zone(stack: Stack, name: str) -> dict[str, str]:
    """Name -> text of the files of one secrets volume."""
    script = "cd /zone && for f in *; do printf '%s\\0' \"$f\"; cat \"$f\"; printf '\\0'; done"
    argv = ["docker", "run", "--rm", "--network=none", "--volume", f"{stack.project}_secrets-{name}:/zone:ro", "debian:trixie-slim"]
    done = run([*argv, "bash", "-c", script])
    assert done.code == 0, done.err
    parts = done.out.split("\0")
    return dict(zip(parts[0::2], parts[1::2], strict=False))
