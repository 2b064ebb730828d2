"""Pairing codes as values: how they are drawn, written, kept and compared. Pure."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass

LENGTH = 6
DIGITS = "0123456789"
# after too many wrong tries: no 0/O, 1/I, and no way to take it for a plain number
HARDENED = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
SPACE = {False: len(DIGITS) ** LENGTH, True: len(HARDENED) ** LENGTH}  # 1,000,000 and 1,073,741,824
MAX_TYPED = 64  # characters; what is longer is no code


@dataclass(frozen=True, slots=True)
class Code:
    """A code that was just issued. Times are seconds since the epoch."""

    text: str
    user_name: str
    expires_at: float
    ttl_s: int
    hardened: bool


def draw(*, hardened: bool) -> str:
    """A random code: 6 digits, or 6 of 32 letters and digits."""
    alphabet = HARDENED if hardened else DIGITS
    while True:
        code = "".join(secrets.choice(alphabet) for _ in range(LENGTH))
        if not (hardened and code.isdigit()):
            return code


def normalise(typed: str) -> str | None:
    """What a person typed: spaces and dashes dropped, upper case; None when it cannot be a code."""
    if len(typed) > MAX_TYPED:
        return None
    code = "".join(char for char in typed.upper() if char not in " -\u00a0\u3000")
    code = code.translate(FULL_WIDTH)
    return code if len(code) == LENGTH and all(char in HARDENED or char in DIGITS for char in code) else None


FULL_WIDTH = {0xFF10 + n: str(n) for n in range(10)}  # a Chinese keyboard may type full-width digits


def code_hash(pepper: bytes, code: str) -> bytes:
    """HMAC-SHA-256 of the code: what is kept. Without the pepper the hash of 6 digits could be searched through."""
    return hmac.new(pepper, b"handrail.pair\0" + code.encode(), hashlib.sha256).digest()


def same(first: bytes, second: bytes) -> bool:
    """Constant-time comparison."""
    return hmac.compare_digest(first, second)
