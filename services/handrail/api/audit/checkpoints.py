"""Signed checkpoints: where every chain stood, so that a cut tail is seen.

A checkpoint is the RFC 8785 form of {writer, number, at, heads, prev}, hashed, chained by `prev`, signed with the audit key
(Ed25519). It is kept in the table and in the file of the day.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, cast

import orjson
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from handrail.api.audit.channels import Channels
from handrail.api.audit.record import timestamp
from handrail.kit.clock import Clock
from handrail.kit.journal import GENESIS, digest_of
from handrail.store import audit as store
from handrail.store.audit import Appender
from handrail.store.pool import Pool

DOMAIN = b"handrail audit checkpoint\n"


class Checkpoints:
    """Signs for one writer process."""

    def __init__(
        self, writer: str, keys: Mapping[str, object], audit_pool: Pool, appender: Appender, channels: Channels, clock: Clock
    ) -> None:
        """Raises ValueError when the keys are not Ed25519."""
        self._writer = writer
        self._kid = str(keys["active"])
        private = _private_keys(keys)
        self._key = private[self._kid]
        self.public_keys = {kid: key.public_key() for kid, key in private.items()}
        self._pool = audit_pool
        self._appender = appender
        self._channels = channels
        self._clock = clock
        self._number = 0
        self._prev = GENESIS
        self._seen: dict[str, int] = {}

    async def sign(self) -> int:
        """Sign the heads that moved since the last one; how many did. Raises StoreUnavailable, OSError."""
        heads = [dict(row) for row in await store.heads(self._pool) if self._seen.get(row["writer"]) != row["seq"]]
        if not heads:
            return 0
        at = timestamp(self._clock.now())
        body: dict[str, Any] = {"writer": self._writer, "number": self._number + 1, "at": at, "heads": heads, "prev": self._prev}
        digest = digest_of(body)
        signature = self._key.sign(DOMAIN + digest.encode())
        await self._appender.append_checkpoint({**body, "hash": digest, "kid": self._kid, "signature": signature})
        self._number, self._prev = self._number + 1, digest
        self._seen.update({head["writer"]: head["seq"] for head in heads})
        line = {"timestamp": at, "level": "info", "category": "system", "action": "checkpoint", **body}
        line |= {"hash": digest, "kid": self._kid, "signature": signature.hex()}
        await asyncio.to_thread(self._channels.keep_checkpoint, at[:10], orjson.dumps(line) + b"\n")
        return len(heads)


def verify_signature(keys: Mapping[str, Ed25519PublicKey], kid: str, digest: str, signature: bytes) -> bool:
    """Whether the audit key `kid` signed this hash."""
    key = keys.get(kid)
    if key is None:
        return False
    try:
        key.verify(signature, DOMAIN + digest.encode())
    except InvalidSignature:
        return False
    return True


def _private_keys(keys: Mapping[str, object]) -> dict[str, Ed25519PrivateKey]:
    found: dict[str, Ed25519PrivateKey] = {}
    for kid, pem in cast("Mapping[str, str]", keys["keys"]).items():
        key = load_pem_private_key(pem.encode(), password=None)
        if not isinstance(key, Ed25519PrivateKey):
            raise ValueError("an audit key is not Ed25519")  # noqa: TRY004 - the file's content is wrong, not a type in code
        found[kid] = key
    return found
