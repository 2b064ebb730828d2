"""The in-process executor's side of the boundary: verify, compare the arguments, consume, only then act.

File tools run in this process but pass the same check as a command in the sandbox, so that no code path can change a
file without a permission for exactly that change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from handrail.api.gate.errors import TokenRefused
from handrail.contract.tokens import Claims, Refusal, verify
from handrail.kit.canonical import sha256
from handrail.kit.clock import Clock
from handrail.kit.spent import SpentTokens

log = structlog.get_logger("handrail.gate")
AUDIENCE = "files"


class Permits:
    """Checks the permissions of the `files` executor."""

    def __init__(self, keys: Mapping[str, Ed25519PublicKey], spent: SpentTokens, clock: Clock) -> None:
        self._keys = dict(keys)
        self._spent = spent
        self._clock = clock

    def take(self, token: str, *, tool: str, user_id: str, workspace_id: str, arguments: Mapping[str, Any]) -> Claims:
        """Use up the token for this call. Raises TokenRefused; nothing may be done then."""
        now = self._clock.now()
        claims = verify(token, keys=self._keys, audience=AUDIENCE, now=now)
        if isinstance(claims, Refusal):
            raise _refused(claims.reason)
        if claims.tool != tool or (claims.sub, claims.ws) != (user_id, workspace_id) or claims.tier != "high":
            raise _refused("minted for another call")
        if claims.args != sha256(dict(arguments)):
            raise _refused("arguments differ")
        if not self._spent.consume(claims.jti, claims.exp, iat=claims.iat, now=now):
            raise _refused("already used")
        return claims


def _refused(reason: str) -> TokenRefused:
    log.warning("token refused", reason=reason)
    return TokenRefused()
