"""Minting of capability tokens: the only place that uses the private key."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from handrail.contract.tokens import ALGORITHM, ISSUER, TTL_S, Tier, Trigger
from handrail.kit.canonical import sha256
from handrail.kit.clock import Clock


@dataclass(frozen=True, slots=True)
class Permission:
    """What a token is to permit: one call of one tool by one user at one executor."""

    audience: str
    user_id: str
    workspace_id: str
    device_id: str
    tool: str
    tier: Tier
    arguments: Mapping[str, Any]
    trigger: Trigger
    policy: str
    approval: str = ""


@dataclass(frozen=True, slots=True)
class Minted:
    """A signed token with the id that the audit row names."""

    token: str
    jti: str
    args_sha256: str


class Mint:
    """Signs permissions with the active key."""

    def __init__(self, signing: Mapping[str, Any], clock: Clock) -> None:
        """`signing` is the parsed `signing.json`: {"active": kid, "keys": {kid: pem}}. Raises ValueError when it is not Ed25519."""
        self._kid = str(signing["active"])
        key = load_pem_private_key(str(signing["keys"][self._kid]).encode(), password=None)
        if not isinstance(key, Ed25519PrivateKey):
            raise ValueError("signing key is not Ed25519")  # noqa: TRY004 - the file's content is wrong, not a type in code
        self._key = key
        self._clock = clock

    @property
    def public_keys(self) -> dict[str, Ed25519PublicKey]:
        """The verification key of the active signing key, by kid."""
        return {self._kid: self._key.public_key()}

    def mint(self, permission: Permission) -> Minted:
        """A token for exactly this call. Lifetime by tier: high 30 s, low 60 s."""
        issued = int(self._clock.now())
        jti = secrets.token_hex(16)
        digest = sha256(dict(permission.arguments))
        claims: dict[str, Any] = {
            "iss": ISSUER,
            "aud": permission.audience,
            "sub": permission.user_id,
            "ws": permission.workspace_id,
            "device": permission.device_id,
            "tool": permission.tool,
            "tier": permission.tier,
            "args": digest,
            "trigger": permission.trigger,
            "policy": permission.policy,
            "approval": permission.approval,
            "jti": jti,
            "iat": issued,
            "exp": issued + TTL_S[permission.tier],
        }
        token = jwt.encode(claims, self._key, algorithm=ALGORITHM, headers={"kid": self._kid})
        return Minted(token, jti, digest)
