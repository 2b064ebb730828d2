"""A name for a new device, out of what its client says about itself. Labels only: never a key, never trusted."""

from __future__ import annotations

import re
import unicodedata

MAX = 80
BROWSERS = (("Edg/", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
SYSTEMS = (
    ("Windows", "Windows"), ("Android", "Android"), ("iPhone", "iOS"), ("Mac OS X", "macOS"), ("CrOS", "ChromeOS"), ("Linux", "Linux"),
)  # fmt: skip
EXTENSION_ID = re.compile(r"[a-p]{32}\Z")


def clean_label(text: str) -> str:
    """Printable, single spaces, at most 80 characters."""
    shown = "".join(char if unicodedata.category(char)[0] != "C" else " " for char in text[: MAX * 4])
    return " ".join(shown.split())[:MAX]


def device_name(extension_id: str, user_agent: str) -> str:
    """For example "Chrome 156, Linux (extension abcdefgh)"."""
    browser = next((f"{name} {_version(user_agent, mark)}".strip() for mark, name in BROWSERS if mark in user_agent), "")
    system = next((name for mark, name in SYSTEMS if mark in user_agent), "")
    client = ", ".join(part for part in (browser, system) if part) or clean_label(user_agent.split("/", maxsplit=1)[0])
    label = clean_label(extension_id)
    if EXTENSION_ID.match(label):
        label = f"extension {label[:8]}"
    return clean_label(f"{client} ({label})" if client and label else client or label or "device")


def _version(user_agent: str, mark: str) -> str:
    digits = re.match(r"\d{1,4}", user_agent.partition(mark)[2])
    return digits[0] if digits else ""
