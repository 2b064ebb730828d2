"""Unified diffs: parsed and applied to texts. Pure."""

from __future__ import annotations

from handrail.api.files.patch.hunks import NoPlace, applied
from handrail.api.files.patch.parse import FilePatch, Hunk, NotAPatch, parse

__all__ = ["FilePatch", "Hunk", "NoPlace", "NotAPatch", "applied", "parse"]
