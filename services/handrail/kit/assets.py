"""Where files that ship beside the code are: in a checkout beside the package, in an installation below its prefix."""

from __future__ import annotations

import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]  # kit -> handrail -> services -> top


def asset_dir(name: str) -> Path:
    """The directory `name` as a path below the top of a checkout (e.g. "services/web"), or its installed copy.

    Raises FileNotFoundError when neither is there.
    """
    candidates = (CHECKOUT / name, Path(sys.prefix) / "share" / "handrail" / Path(name).name)
    for candidate in candidates:
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"{name} is neither in {candidates[0]} nor in {candidates[1]}")
