from __future__ import annotations

import json
import re
from typing import Any

import pytest

from handrail.api.audit.events import AuditEvent
from handrail.api.audit.record import MAX_TEXT, fields_of, timestamp
from handrail.api.audit.shapes import LABELS, entry, file_line, terminal_line

U = "147fa1b5-8500-45ae-9e7d-9fd2f14b972f"


def fields(event: AuditEvent, now: float = 1_800_000_000.5) -> dict[str, Any]:
    return fields_of(event, now) | {"writer": "a" * 12, "seq": 7, "prev": "0" * 64}


def test_time_is_utc_with_milliseconds() -> None:
    assert timestamp(1_800_000_000.123) == "2027-01-15T08:00:00.123Z"
    assert timestamp(1_800_000_000.9999) == "2027-01-15T08:00:00.999Z"


def test_what_cannot_be_stored_becomes_visible_text() -> None:
    shown = fields_of(
        AuditEvent("fs", "read", details={"path": "a\0b\udc80", "n": 2**60, "f": float("nan"), "b": b"x", "o": object()}), 1.0
    )["details"]
    assert shown == {"path": "a\\0b\\udc80", "n": str(2**60), "f": "nan", "b": "<bytes>", "o": "<object>"}


def test_long_and_deep_details_are_cut_and_say_so() -> None:
    deep: dict[str, object] = {"x": 1}
    for _ in range(20):
        deep = {"inner": deep}
    details: dict[str, object] = {"long": "a" * 100_000, "list": list(range(1000)), "deep": deep}
    details.update({f"k{n}": n for n in range(200)})
    shown = fields_of(AuditEvent("fs", "read", details=details), 1.0)["details"]
    assert shown["long"] == "a" * MAX_TEXT + f"...(+{100_000 - MAX_TEXT})"
    assert len(shown["list"]) == 51
    assert len(json.dumps(shown)) < 10_000


def test_an_id_that_is_no_uuid_cannot_block_the_table() -> None:
    shown = fields_of(AuditEvent("fs", "read", user_id="x", device_id=U, workspace_id=""), 1.0)
    assert (shown["user_id"], shown["device_id"], shown["workspace_id"]) == (None, U, None)


def test_a_category_that_does_not_exist_is_a_programming_error() -> None:
    with pytest.raises(ValueError, match="category"):
        fields_of(AuditEvent("other", "x"), 1.0)  # type: ignore[arg-type]  # the point of the test


@pytest.mark.req("N2")
def test_the_terminal_line_has_the_form_of_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    event = AuditEvent(
        "exec", "started", details={"command": "npm test", "cwd": "/project", "execId": "a1b2c3d4", "killed": False, "empty": ""}
    )
    line = terminal_line(fields(event), "zh")
    pattern = r'\[\d\d:\d\d:\d\d\] \[INFO\] \[命令:started\] command="npm test" cwd=/project execId=a1b2c3d4 killed=false id=aaaaaaaaaaaa-7'
    assert re.fullmatch(pattern, line)
    assert terminal_line(fields(event), "en").split()[2] == "[exec:started]"
    assert set(LABELS) == {"auth", "fs", "exec", "security", "system"}


@pytest.mark.req("N2", "ATK-20")
@pytest.mark.parametrize(
    "hostile", ["a\nb", "\x1b[2J", "\x1b]0;title\x07", "\r[12:00:00] [INFO] [fs:read] fake", "\u202eabc", "\u2028", "\x9b31m", "a\tb"]
)
def test_a_terminal_line_is_one_line_of_printable_characters(hostile: str) -> None:
    event = AuditEvent("fs", hostile, details={"path": hostile, hostile: hostile, "list": [hostile]})
    line = terminal_line(fields(event), "zh")
    assert line.isprintable()


@pytest.mark.req("N1")
def test_file_line_and_wire_entry_carry_the_same_id_and_the_details_beside_the_columns() -> None:
    event = AuditEvent(
        "fs", "read", "warn", U, U, U, "192.0.2.1", "req", "Read", "jti", {"path": "/a", "size": 3, "level": "mine", "id": "x"}
    )
    shown = entry(fields(event))
    assert json.loads(file_line(fields(event))) == shown
    assert shown["id"] == "aaaaaaaaaaaa-7"
    assert (shown["timestamp"], shown["level"], shown["category"], shown["action"]) == ("2027-01-15T08:00:00.500Z", "warn", "fs", "read")
    assert (shown["path"], shown["size"], shown["details.level"], shown["details.id"]) == ("/a", 3, "mine", "x")
    assert (shown["userId"], shown["tokenId"], shown["requestId"]) == (U, "jti", "req")


def test_columns_that_are_empty_are_left_out() -> None:
    assert set(entry(fields(AuditEvent("system", "server_start")))) == {"id", "timestamp", "level", "category", "action"}
