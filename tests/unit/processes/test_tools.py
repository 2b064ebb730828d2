from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from handrail.api.context import Actor, Identity, Workspace
from handrail.api.processes import tools
from handrail.api.processes.errors import BadDirectory, refusal
from handrail.api.processes.schemas import BashArgs, ExecBody

WORKSPACE = Workspace("ws-1", "main", "/work/p", ("/work/p", "/data/shared"))
ACTOR = Actor(Identity("user-1", "u", False, "device-1", "d", "owner", WORKSPACE), "en", "r", "127.0.0.1")


@pytest.mark.req("SBX-21", "D1")
@pytest.mark.parametrize(
    ("cwd", "expected"),
    [
        (None, "/work/p"),
        ("", "/work/p"),
        (".", "/work/p"),
        ("src", "/work/p/src"),
        ("src/../lib/", "/work/p/lib"),
        ("/work/p", "/work/p"),
        ("//work/p/x", "/work/p/x"),
        ("/data/shared/x", "/data/shared/x"),
    ],
)
def test_the_working_directory_is_below_the_work_root_or_an_allowed_path(cwd: str | None, expected: str) -> None:
    assert tools.directory(ACTOR, cwd) == expected


@pytest.mark.req("SBX-21", "D1")
@pytest.mark.parametrize("cwd", ["..", "../p2", "/work/p2", "/work", "/", "/etc", "src/../../x", "/work/p/../../etc", "~"])
def test_any_other_working_directory_is_refused(cwd: str) -> None:
    if cwd == "~":  # a name like any other: no shell expands it here
        assert tools.directory(ACTOR, cwd) == "/work/p/~"
        return
    with pytest.raises(BadDirectory):
        tools.directory(ACTOR, cwd)


@pytest.mark.req("SBX-1", "ATK-41")
def test_the_token_binds_the_roots_of_the_workspace_and_the_effective_time_out() -> None:
    args = BashArgs(command="make", cwd="src")
    assert tools.run_arguments(ACTOR, args, 300_000) == {
        "command": "make",
        "cwd": "/work/p/src",
        "root": "/work/p",
        "extra_roots": ["/data/shared"],
        "timeout_ms": 300_000,
        "wait": True,
    }
    assert tools.run_arguments(ACTOR, BashArgs(command="x", timeout_ms=1000, wait=False), 5)["timeout_ms"] == 1000


@pytest.mark.req("SBX-5")
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"command": ""},
        {"command": 1},
        {"command": None},
        {"command": "a\0b"},
        {"command": "x" * 70_000},
        {"command": "x", "cwd": 1},
        {"command": "x", "cwd": "a\0"},
        {"command": "x", "wait": 1},
        {"command": "x", "wait": "true"},
        {"command": "x", "force": "yes"},
        {"command": "x", "timeoutMs": 1},
        {"command": "x", "timeoutMs": 10**12},
        {"command": "x", "timeoutMs": True},
    ],
)
def test_a_body_of_the_wrong_shape_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ExecBody.model_validate(body)


@pytest.mark.req("SBX-45", "D3")
def test_the_audit_summary_shows_the_command_without_its_secrets() -> None:
    shown = tools.summary(BashArgs(command="curl -H 'Authorization: Bearer abcdefgh12345678' x", cwd="src"))
    assert "abcdefgh12345678" not in str(shown)
    assert shown["cwd"] == "src"


@pytest.mark.req("SBX-45")
def test_a_refusal_of_the_sandbox_keeps_its_status_code_and_both_texts() -> None:
    error = refusal(429, {"code": "process.too_many", "error": "Too many", "error_zh": "过多"})
    assert (error.status, error.code, error.text("en"), error.text("zh")) == (429, "process.too_many", "Too many", "过多")
    assert error.body("zh")["error"] == "过多"
    assert error.body("en")["code"] == "process.too_many"
    assert refusal(500, {}).status == 502
    assert refusal(403, {"level": "deny"}).body("en")["level"] == "deny"
