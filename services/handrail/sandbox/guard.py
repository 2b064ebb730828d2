"""Who may do what: the token of each call is verified, compared with its arguments and, for an effect, used up before it acts."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from handrail.contract.sandbox import AUDIENCE
from handrail.contract.tokens import Claims, Refusal, Tier, verify
from handrail.kit.canonical import StrictJsonError, loads, sha256
from handrail.kit.clock import Clock
from handrail.kit.spent import SpentTokens
from handrail.sandbox.errors import TokenRefused

log = structlog.get_logger("handrail.sandbox")
KEY_BYTES = 32


def parse_keys(text: str) -> dict[str, Ed25519PublicKey]:
    """`public.json`: {kid: base64 of the raw 32 bytes}. Raises ValueError."""
    try:
        value = loads(text)
        if not isinstance(value, dict) or not value:
            raise ValueError("public.json holds no key")
        table = cast("dict[str, object]", value)
        return {str(kid): Ed25519PublicKey.from_public_bytes(base64.b64decode(str(raw), validate=True)) for kid, raw in table.items()}
    except (StrictJsonError, binascii.Error) as exc:
        raise ValueError("public.json is not a table of keys") from exc


@dataclass(frozen=True, slots=True)
class Call:
    """A verified call."""

    claims: Claims
    arguments: Mapping[str, Any]


class Guard:
    """Checks tokens against the public keys and the store of used ones."""

    def __init__(self, keys: Mapping[str, Ed25519PublicKey], spent: SpentTokens, clock: Clock) -> None:
        self._keys = dict(keys)
        self._spent = spent
        self._clock = clock

    def check(self, token: str, arguments: Mapping[str, Any], *, tool: str, tiers: tuple[Tier, ...]) -> Call:
        """Verify; a token of tier high is used up by this. Raises TokenRefused, and then nothing may be done."""
        now = self._clock.now()
        claims = verify(token, keys=self._keys, audience=AUDIENCE, now=now)
        if isinstance(claims, Refusal):
            raise _refused(claims.reason, tool)
        if claims.tool != tool:
            raise _refused("minted for another tool", tool)
        if claims.tier not in tiers:
            raise _refused("tier does not fit", tool)
        try:
            digest = sha256(dict(arguments))
        except StrictJsonError as exc:
            raise _refused("arguments have no canonical form", tool) from exc
        if claims.args != digest:
            raise _refused("arguments differ", tool)
        if claims.tier == "high" and not self._spent.consume(claims.jti, claims.exp, iat=claims.iat, now=now):
            raise _refused("already used", tool)
        return Call(claims, arguments)


def _refused(reason: str, tool: str) -> TokenRefused:
    log.warning("token refused", tool=tool, reason=reason)
    return TokenRefused()
