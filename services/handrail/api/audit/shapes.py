"""Records as people and clients see them: the wire's entry, the JSON line of the day file, the line on the terminal. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, cast

import orjson

from handrail.contract.errors import Lang
from handrail.kit.logs import escape

LABELS: dict[str, dict[Lang, str]] = {
    "auth": {"en": "auth", "zh": "认证"},
    "fs": {"en": "fs", "zh": "文件"},
    "exec": {"en": "exec", "zh": "命令"},
    "security": {"en": "security", "zh": "安全"},
    "system": {"en": "system", "zh": "系统"},
}
# shown first and under these names; details follow
COLUMNS = (
    ("user_id", "userId"),
    ("device_id", "deviceId"),
    ("workspace_id", "workspaceId"),
    ("peer", "peer"),
    ("request_id", "requestId"),
    ("tool", "tool"),
    ("token_id", "tokenId"),
)
HEAD = frozenset({"id", "timestamp", "level", "category", "action", *(shown for _, shown in COLUMNS)})
HIDDEN_ON_LINES = frozenset({"trigger", "args_sha256"})


def record_id(writer: str, seq: int) -> str:
    """The id of a record: the same in the table, in the file and on the wire."""
    return f"{writer}-{seq}"


def entry(fields: Mapping[str, Any]) -> dict[str, object]:
    """The wire's `{timestamp, level, category, action, ...details}`. A detail never hides a column."""
    stamp = fields["ts"]
    out: dict[str, object] = {
        "id": record_id(fields["writer"], fields["seq"]),
        "timestamp": stamp if isinstance(stamp, str) else iso(stamp),
        "level": fields["level"],
        "category": fields["category"],
        "action": fields["action"],
    }
    out.update({shown: fields[name] for name, shown in COLUMNS if fields[name]})
    details = cast("Mapping[str, object]", fields["details"])
    out.update({(f"details.{name}" if name in HEAD else name): value for name, value in details.items()})
    return out


def file_line(fields: Mapping[str, Any]) -> bytes:
    """One line of `agent-YYYY-MM-DD.log`."""
    return orjson.dumps(entry(fields)) + b"\n"


def terminal_line(fields: Mapping[str, Any], lang: Lang) -> str:
    """`[12:30:01] [INFO] [fs:read] path=/a size=2048`, in local time, control characters escaped."""
    label = LABELS[fields["category"]][lang]
    details = cast("Mapping[str, object]", fields["details"])
    shown = [(name, value) for name, value in details.items() if name not in HIDDEN_ON_LINES and value not in (None, "")]
    pairs = "".join(f" {escape(name)}={escape(_plain(value))}" for name, value in shown)
    head = f"[{_local_time(fields['ts'][:19])}] [{fields['level'].upper()}] [{label}:{escape(fields['action'])}]"
    return f"{head}{pairs} id={record_id(fields['writer'], fields['seq'])}"


@lru_cache(maxsize=64)
def _local_time(second: str) -> str:
    """`2026-01-15T12:30:01` in UTC as local hours, minutes and seconds."""
    return f"{datetime.fromisoformat(second + 'Z').astimezone():%H:%M:%S}"


def iso(stamp: datetime) -> str:
    """As `record.timestamp` writes it."""
    return stamp.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{stamp.microsecond // 1000:03d}Z"


def _plain(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    return orjson.dumps(value).decode() if isinstance(value, dict | list) else value
