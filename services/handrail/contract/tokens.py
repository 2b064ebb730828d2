"""Capability tokens: claims and *verification*. Minting lives in `api.gate`, the only holder of the private key.

A token is an EdDSA (Ed25519) JWT with a `kid`. It permits one tool call with exactly the arguments whose RFC 8785
SHA-256 it carries. Tier `high` is single use: the executor consumes `jti` before it acts. Tier `low` may be used
again until it expires (reading the output of a session, for example).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

ISSUER = "handrail-api"
ALGORITHM = "EdDSA"
TTL_S: dict[str, int] = {"high": 30, "low": 60}
MAX_SKEW_S = 5  # an `iat` further in the future is refused
MAX_TOKEN_CHARS = 4096

Tier = Literal["low", "high"]
Trigger = Literal["user_request", "tool_output", "system"]
REQUIRED = ["iss", "aud", "sub", "jti", "iat", "exp", "tool", "tier", "args", "trigger", "policy", "ws"]


@dataclass(frozen=True, slots=True)
class Claims:
    """What a token permits. Times are seconds since the epoch."""

    aud: str  # executor: "sandbox", "files", "toolgate:<id>"
    sub: str  # user id
    ws: str  # workspace id
    tool: str
    tier: Tier
    args: str  # sha256 hex of the RFC 8785 form of the arguments
    trigger: Trigger
    policy: str  # policy version the verdict came from
    jti: str
    iat: int
    exp: int
    device: str = ""
    approval: str = ""  # approval id, empty when none was needed
    fingerprint: str = ""  # tool definition fingerprint


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a token was not accepted. `reason` is for the log; the caller is told only that it was refused."""

    reason: str


def verify(token: str, *, keys: dict[str, Ed25519PublicKey], audience: str, now: float) -> Claims | Refusal:
    """Check signature, `kid`, `iss`, `aud`, times and shape. Does not check arguments or consume the jti.

    `keys` maps `kid` to public key. Only EdDSA is accepted and any `crit` header is refused.
    """
    if len(token) > MAX_TOKEN_CHARS:
        return Refusal("token too long")
    kid = _kid(token.partition(".")[0])
    if isinstance(kid, Refusal):
        return kid
    key = keys.get(kid)
    if key is None:
        return Refusal("unknown kid")
    try:
        payload: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=[ALGORITHM],
            audience=audience,
            issuer=ISSUER,
            # times are checked below against the caller's clock, so that tests can move it
            options={"require": REQUIRED, "verify_exp": False, "verify_iat": False, "verify_nbf": False, "strict_aud": True},
        )
    except jwt.PyJWTError as exc:
        return Refusal(f"invalid: {exc}")
    return _claims(payload, now)


@lru_cache(maxsize=64)
def _kid(segment: str) -> str | Refusal:
    """The key id in the header segment of a token, if the header is one that we sign. The same for every token of a key."""
    try:
        header = jwt.get_unverified_header(f"{segment}.e30.AA")
    except jwt.PyJWTError as exc:
        return Refusal(f"malformed: {exc}")
    if header.get("alg") != ALGORITHM or header.get("typ") != "JWT" or set(header) != {"alg", "typ", "kid"}:
        return Refusal("header not acceptable")
    return str(header["kid"])


def _claims(payload: dict[str, Any], now: float) -> Claims | Refusal:
    texts = ("aud", "sub", "ws", "tool", "tier", "args", "trigger", "policy", "jti")
    if not all(isinstance(payload[name], str) for name in texts):
        return Refusal("claim of the wrong type")
    if type(payload["iat"]) is not int or type(payload["exp"]) is not int:
        return Refusal("time claim of the wrong type")
    iat, exp = payload["iat"], payload["exp"]
    tier = payload["tier"]
    if tier not in TTL_S or payload["trigger"] not in ("user_request", "tool_output", "system"):
        return Refusal("unknown tier or trigger")
    if iat > now + MAX_SKEW_S:
        return Refusal("issued in the future")
    if exp <= now:
        return Refusal("expired")
    if exp - iat > TTL_S[tier]:
        return Refusal("lifetime longer than its tier allows")
    optional = {name: payload.get(name, "") for name in ("device", "approval", "fingerprint")}
    if not all(isinstance(value, str) for value in optional.values()):
        return Refusal("claim of the wrong type")
    return Claims(**{name: payload[name] for name in texts}, iat=iat, exp=exp, **optional)
