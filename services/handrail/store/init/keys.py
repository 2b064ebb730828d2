"""Keys and passwords: made once, kept for ever after."""

from __future__ import annotations

import base64
import secrets
from typing import Any, cast

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from handrail.kit.canonical import loads
from handrail.store.init.files import Vault

SIGNING = "signing.json"  # capability tokens
PUBLIC = "public.json"
AUDIT_KEY = "audit.json"  # checkpoints of the audit log
PEPPER = "pepper"
PASSWORDS = "role_passwords.json"
ROLES = ("handrail_owner", "handrail_api", "handrail_worker", "handrail_audit")


def make_keys(vault: Vault) -> bool:
    """Create what is missing and write the public halves to where they are read. True when something was made."""
    made = _ensure_pair(vault, SIGNING)
    made = _ensure_pair(vault, AUDIT_KEY) or made
    if vault.read("api", PEPPER) is None:
        made = vault.write("api", PEPPER, secrets.token_hex(32)) or made
    public = _public_halves(vault)
    for zone in ("api", "sandbox"):
        vault.write(zone, PUBLIC, public)
    return made


def role_passwords(vault: Vault) -> dict[str, str]:
    """A random password for each database role, kept in the zone `init`."""
    text = vault.read("init", PASSWORDS)
    known = cast("dict[str, str]", loads(text)) if text else {}
    passwords = {role: known.get(role) or secrets.token_urlsafe(32) for role in ROLES}
    vault.write("init", PASSWORDS, orjson.dumps(passwords).decode())
    return passwords


def _ensure_pair(vault: Vault, name: str) -> bool:
    if vault.read("api", name) is not None:
        return False
    pem = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    kid = secrets.token_hex(8)
    return vault.write("api", name, orjson.dumps({"active": kid, "keys": {kid: pem}}).decode())


def _public_halves(vault: Vault) -> str:
    signing = cast("dict[str, Any]", loads(vault.read("api", SIGNING) or ""))
    halves: dict[str, str] = {}
    for kid, pem in cast("dict[str, str]", signing["keys"]).items():
        key = load_pem_private_key(pem.encode(), password=None)
        raw = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        halves[kid] = base64.b64encode(raw).decode()
    return orjson.dumps(halves, option=orjson.OPT_SORT_KEYS).decode()
