"""Does the log say what was written? Every chain is walked, every hash recomputed, every checkpoint compared.

What is found: `edited` (content or hash of a row), `missing` (rows left out), `moved` (a row stands at another's place),
`cut` (a chain or the checkpoints end before a signed checkpoint), `forged` (a checkpoint with a wrong hash or signature).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from handrail.api.audit.channels import Channels
from handrail.api.audit.checkpoints import verify_signature
from handrail.api.audit.shapes import iso, record_id
from handrail.kit.canonical import StrictJsonError, loads
from handrail.kit.journal import GENESIS, digest_of
from handrail.store import audit as store
from handrail.store.pool import DictRow, Pool

Kind = Literal["edited", "missing", "moved", "cut", "forged"]
MAX_PROBLEMS = 100
HASHED = ("action", "category", "details", "device_id", "level", "peer", "prev", "request_id", "seq", "token_id", "tool", "user_id")


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding. `record` is the id of the row, or writer#number of a checkpoint."""

    kind: Kind
    record: str
    detail: str


@dataclass(slots=True)
class Report:
    """What was looked at and what was found. `problems` holds at most MAX_PROBLEMS, `more` counts the rest."""

    rows: int = 0
    writers: int = 0
    checkpoints: int = 0
    problems: list[Problem] = field(default_factory=list[Problem])
    more: int = 0

    @property
    def ok(self) -> bool:
        return not self.problems

    def add(self, kind: Kind, record: str, detail: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(kind, record, detail))
        else:
            self.more += 1


class ChainCheck:
    """Walks rows in (writer, seq) order. Pure: rows in, findings out."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._writer = ""
        self._seq = 0
        self._prev = GENESIS
        self.stored: dict[str, dict[int, str]] = {}  # hashes that checkpoints name, filled by `watch`
        self._watched: dict[str, set[int]] = {}
        self.ends: dict[str, int] = {}

    def watch(self, writer: str, seq: int) -> None:
        """Remember the hash of this row for the comparison with a checkpoint."""
        self._watched.setdefault(writer, set()).add(seq)

    def row(self, row: Mapping[str, Any]) -> None:
        """The next row."""
        writer, seq = str(row["writer"]), int(row["seq"])
        if writer != self._writer:
            self._writer, self._seq, self._prev = writer, 0, GENESIS
            self._report.writers += 1
        self._report.rows += 1
        where = record_id(writer, seq)
        gap = seq - self._seq - 1
        if gap:
            first = record_id(writer, self._seq + 1)
            self._report.add("missing", first, f"{gap} rows from {first} on are missing")
        actual = digest_of(fields_of(row))
        if actual != row["hash"]:
            self._report.add(*self._misplaced(row, where))
        elif not gap and row["prev"] != self._prev:
            self._report.add("edited", where, "does not follow the row before it: one of the two was replaced")
        self._seq, self._prev = seq, str(row["hash"])
        self.ends[writer] = seq
        if seq in self._watched.get(writer, ()):
            self.stored.setdefault(writer, {})[seq] = self._prev

    def _misplaced(self, row: Mapping[str, Any], where: str) -> tuple[Kind, str, str]:
        """Content that does not give its hash: moved when it gives it at a place near by, else edited."""
        fields = fields_of(row)
        seq = int(fields["seq"])
        for other in (n for distance in range(1, 65) for n in (seq - distance, seq + distance) if n > 0):
            if digest_of(fields | {"seq": other}) == row["hash"]:
                return "moved", where, f"was written as {record_id(str(row['writer']), other)}"
        return "edited", where, "its content does not give its hash"


def fields_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that were hashed, out of a row of the table."""
    fields = {name: row[name] for name in HASHED}
    return fields | {"writer": row["writer"], "workspace_id": row["workspace_id"], "ts": iso(row["ts"])}


async def verify(audit_pool: Pool, keys: Mapping[str, Ed25519PublicKey], channels: Channels) -> Report:
    """Read the whole log and report. Raises StoreUnavailable."""
    report = Report()
    check = ChainCheck(report)
    checkpoints = await store.all_checkpoints(audit_pool)
    heads = _check_checkpoints(report, [_from_row(row) for row in checkpoints], keys)
    known = {(str(row["writer"]), int(row["number"])) for row in checkpoints}
    kept = await asyncio.to_thread(_check_files, report, known, channels, keys)
    for writer, seq, _ in (*heads, *kept):
        check.watch(writer, seq)
    async for row in store.all_rows(audit_pool):
        check.row(row)
    for writer, seq, digest in dict.fromkeys((*heads, *kept)):
        _compare(report, check, writer, seq, digest)
    return report


def _compare(report: Report, check: ChainCheck, writer: str, seq: int, digest: str) -> None:
    end = check.ends.get(writer, 0)
    found = check.stored.get(writer, {}).get(seq)
    if end < seq:
        report.add("cut", record_id(writer, seq), f"a signed checkpoint knows this row, the chain ends at {end}")
    elif found is not None and found != digest:
        report.add("edited", record_id(writer, seq), "its hash is not the one that a signed checkpoint names")


Head = tuple[str, int, str]


def _check_checkpoints(report: Report, found: Iterable[dict[str, Any]], keys: Mapping[str, Ed25519PublicKey]) -> list[Head]:
    """Chain and signatures of the table's checkpoints; the heads that the good ones name."""
    heads: list[Head] = []
    last: dict[str, tuple[int, str]] = {}
    for item in found:
        report.checkpoints += 1
        writer, number = item["writer"], item["number"]
        where = f"{writer}#{number}"
        known_number, known_hash = last.get(writer, (0, GENESIS))
        if number != known_number + 1:
            report.add("missing", where, "the checkpoints before it are missing")
        elif item["prev"] != known_hash:
            report.add("edited", where, "does not follow the checkpoint before it")
        last[writer] = (number, item["hash"])
        heads += _good_heads(report, item, where, keys)
    return heads


def _check_files(report: Report, known: set[tuple[str, int]], channels: Channels, keys: Mapping[str, Ed25519PublicKey]) -> list[Head]:
    """Checkpoints in the log files that the table does not have: it was cut there."""
    heads: list[Head] = []
    for day in channels.days.days():
        for line in channels.days.lines(day):
            if b'"action":"checkpoint"' not in line:
                continue
            item = _from_line(line)
            if item is None or (item["writer"], item["number"]) in known:
                continue
            where = f"{item['writer']}#{item['number']}"
            before = len(report.problems)
            heads += _good_heads(report, item, where, keys)
            if len(report.problems) == before:
                report.add("cut", where, f"this signed checkpoint is in the log file of {day} and not in the table")
    return heads


def _good_heads(report: Report, item: dict[str, Any], where: str, keys: Mapping[str, Ed25519PublicKey]) -> list[Head]:
    body = {name: item[name] for name in ("writer", "number", "at", "heads", "prev")}
    if digest_of(body) != item["hash"] or not verify_signature(keys, item["kid"], item["hash"], item["signature"]):
        report.add("forged", where, "its hash or signature is wrong")
        return []
    return [(head["writer"], head["seq"], head["hash"]) for head in item["heads"]]


def _from_row(row: DictRow) -> dict[str, Any]:
    return row | {"at": iso(row["at"]), "signature": bytes(row["signature"])}


def _from_line(line: bytes) -> dict[str, Any] | None:
    try:
        item = cast("dict[str, Any]", loads(line))
        names = ("writer", "number", "at", "heads", "prev", "hash", "kid")
        return {name: item[name] for name in names} | {"signature": bytes.fromhex(item["signature"])}
    except (StrictJsonError, KeyError, TypeError, ValueError):
        return None
