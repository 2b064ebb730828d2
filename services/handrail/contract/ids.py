"""Identifiers. All are random and unguessable; none carries meaning."""

from __future__ import annotations

import secrets
import uuid


def new_uuid() -> str:
    """A random UUID (version 4) as text: primary keys."""
    return str(uuid.uuid4())


def new_exec_id() -> str:
    """16 hex digits, the form the wire shows as `execId`."""
    return secrets.token_hex(8)


def new_token() -> str:
    """A 256-bit opaque device token, 64 hex digits."""
    return secrets.token_hex(32)


def new_request_id() -> str:
    """12 hex digits: names one request in logs and errors."""
    return secrets.token_hex(6)
