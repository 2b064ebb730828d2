"""Tolerant replacement of a text in a file: pure functions of strings, in four passes from strict to lenient."""

from __future__ import annotations

from handrail.api.files.edit.apply import Edited, NotEdited, Strategy, apply
from handrail.api.files.edit.nearest import Nearest, nearest, shown

__all__ = ["Edited", "Nearest", "NotEdited", "Strategy", "apply", "nearest", "shown"]
