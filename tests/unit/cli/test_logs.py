from __future__ import annotations

import json
from pathlib import Path

import pytest

from handrail.cli.main import run

ENTRIES = [
    {"timestamp": "2026-01-01T10:00:00Z", "level": "info", "category": "fs", "action": "read", "path": "/a"},
    {"timestamp": "2026-01-01T10:00:01Z", "level": "warn", "category": "exec", "action": "denied", "command": "rm -rf /"},
    {"timestamp": "2026-01-02T10:00:02Z", "level": "info", "category": "exec", "action": "started", "command": "\x1b[2Jtrue"},
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "agent-2026-01-01.log").write_text("".join(json.dumps(entry) + "\n" for entry in ENTRIES[:2]) + "half a li")
    (logs / "agent-2026-01-02.log").write_text(json.dumps(ENTRIES[2]) + "\n")
    (logs / "api.log").write_text("one\ntwo\nthree\n")
    return tmp_path


@pytest.mark.req("A9")
def test_the_audit_lines_of_all_days_in_order_filtered_and_without_control_characters(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["logs", "--data", str(data)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "2026-01-01 10:00:00 [INFO] [fs:read] path=/a",
        "2026-01-01 10:00:01 [WARN] [exec:denied] command=rm -rf /",
        "2026-01-02 10:00:02 [INFO] [exec:started] command=\\x1b[2Jtrue",
    ]
    run(["logs", "--data", str(data), "--category", "exec", "--level", "warn"])
    assert capsys.readouterr().out.splitlines() == lines[1:2]
    run(["logs", "--data", str(data), "-n", "1", "--json"])
    assert json.loads(capsys.readouterr().out)["command"] == "\x1b[2Jtrue"
    run(["logs", "--data", str(data), "--grep", "/a"])
    assert capsys.readouterr().out.splitlines() == lines[:1]


@pytest.mark.req("A9")
def test_the_log_of_a_service(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["logs", "--data", str(data), "--service", "api", "-n", "2"]) == 0
    assert capsys.readouterr().out == "two\nthree\n"
    assert run(["logs", "--data", str(data), "--service", "../secrets"]) == 2
