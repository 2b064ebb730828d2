"""Reading the log: a user sees their own rows, administrators and auditors see everything; newest first, paged."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import get_args

from handrail.api.audit.errors import BadDate, BadFilter, BadPaging
from handrail.api.audit.events import Category, Level
from handrail.api.audit.record import timestamp
from handrail.api.audit.shapes import entry
from handrail.api.context import Actor
from handrail.kit.clock import Clock
from handrail.store import audit as store
from handrail.store.audit import Filter
from handrail.store.pool import Pool

CATEGORIES = get_args(Category)
LEVELS = get_args(Level)
DEFAULT_LIMIT = 200
MAX_LIMIT = 500
MAX_OFFSET = 1_000_000
MAX_TEXT = 200
DAYS = 30
SHOWN_DAYS = 7  # in the wire's /api/logs/query
FAR = datetime(9999, 1, 1, tzinfo=UTC)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Page:
    """Entries newest first and how many there are in all."""

    entries: list[dict[str, object]]
    total: int


class Logs:
    """The query side of the audit log."""

    def __init__(self, *, flush: Callable[[], Awaitable[None]], pool: Pool, audit_pool: Pool, clock: Clock) -> None:
        self._flush = flush
        self._pool = pool
        self._audit_pool = audit_pool
        self._clock = clock

    async def page(self, actor: Actor | None, wanted: Filter, *, limit: int, offset: int = 0) -> Page:
        """`actor` None = the administrator on the local socket. Raises StoreUnavailable."""
        await self._flush()
        pool, user_id = self._view(actor)
        found, total = await store.entries(pool, user_id, wanted, limit=limit, offset=offset)
        return Page([entry(row) for row in found], total)

    async def dates(self, actor: Actor | None, days: int = DAYS) -> list[str]:
        """UTC days with entries, newest first."""
        await self._flush()
        pool, user_id = self._view(actor)
        return await store.dates(pool, user_id, today=self.today(), days=days)

    def today(self) -> str:
        """The current UTC day."""
        return timestamp(self._clock.now())[:10]

    def _view(self, actor: Actor | None) -> tuple[Pool, str | None]:
        if actor is None or actor.identity.is_admin or actor.identity.role == "auditor":
            return self._audit_pool, None
        return self._pool, actor.user_id


def day_filter(day: str, query: Mapping[str, str]) -> Filter:
    """A filter for one UTC day out of query parameters. Raises BadDate, BadFilter."""
    try:
        start = datetime.combine(date.fromisoformat(day), datetime.min.time(), UTC)
        end = start + timedelta(days=1)
    except (ValueError, OverflowError) as exc:
        raise BadDate from exc
    return Filter(
        since=start,
        until=end,
        category=choice("category", query.get("category"), CATEGORIES),
        level=choice("level", query.get("level"), LEVELS),
        tool=(query.get("tool") or None) and query["tool"][:MAX_TEXT],
        text=(query.get("text") or None) and query["text"][:MAX_TEXT].replace("\0", ""),
    )


def any_day(category: str | None) -> Filter:
    """A filter over all days. Raises BadFilter."""
    return Filter(since=EPOCH, until=FAR, category=choice("category", category, CATEGORIES))


def choice(name: str, value: str | None, allowed: tuple[str, ...]) -> str | None:
    """None or "" does not filter. Raises BadFilter."""
    if not value:
        return None
    if value not in allowed:
        raise BadFilter(name=name, allowed=", ".join(allowed))
    return value


def whole(name: str, text: str | None, default: int, low: int, high: int) -> int:
    """A query parameter as a number. Raises BadPaging."""
    if text is None or text == "":
        return default
    value = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1  # noqa: PLR2004 - no overflow anywhere
    if not low <= value:
        raise BadPaging(name=name, low=low, high=high)
    return min(value, high)
