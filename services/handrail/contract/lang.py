"""Language negotiation: `Accept-Language` (RFC 9110, section 12.5.4) to zh or en."""

from __future__ import annotations

from functools import lru_cache

from handrail.contract.errors import Lang

MAX_HEADER = 512  # characters; longer headers are cut, never an error


@lru_cache(maxsize=256)
def negotiate(header: str, default: Lang = "en") -> Lang:
    """The better of zh and en by quality value; `default` when neither is named. Never raises."""
    best: dict[Lang, float] = {}
    for part in header[:MAX_HEADER].split(","):
        tag, _, rest = part.strip().partition(";")
        primary = tag.strip().lower().split("-", 1)[0]
        if primary not in ("zh", "en", "*"):
            continue
        quality = _quality(rest)
        for lang in _langs(primary, default):
            best[lang] = max(best.get(lang, 0.0), quality)
    wanted: dict[Lang, float] = {lang: quality for lang, quality in best.items() if quality > 0}
    if not wanted:
        # nothing is asked for; what is refused by q=0 is not the default then
        return _other(default) if default in best and _other(default) not in best else default
    if len(set(wanted.values())) == 1 and default in wanted:
        return default
    return max(wanted.items(), key=lambda pair: pair[1])[0]


def _other(lang: Lang) -> Lang:
    return "en" if lang == "zh" else "zh"


def _langs(primary: str, default: Lang) -> tuple[Lang, ...]:
    if primary == "*":
        return (default,)
    return ("zh",) if primary == "zh" else ("en",)


def _quality(params: str) -> float:
    for param in params.split(";"):
        name, _, value = param.strip().partition("=")
        if name.strip().lower() == "q":
            try:
                return max(0.0, min(1.0, float(value)))
            except ValueError:
                return 0.0
    return 1.0
