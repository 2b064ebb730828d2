"""`POST /api/policy/check` and `handrail policy explain`: a verdict, and nothing runs."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.demo.client import Client, WireError
from tests.demo.embedded import HANDRAIL, Running, environment


@pytest.mark.req("D22")
@pytest.mark.parametrize(
    ("command", "verdict"), [("ls -la", "allow"), ("sudo ls", "confirm"), ("rm -rf /usr", "deny"), ("touch made", "allow")]
)
def test_the_verdict_comes_with_its_reasons_and_nothing_is_run(client: Client, handrail: Running, command: str, verdict: str) -> None:
    answer = client.post("/api/policy/check", command=command)
    assert answer["verdict"] == verdict
    assert bool(answer["reasons"]) == (verdict != "allow")
    assert answer["commands"][0]["text"] == command
    assert not (handrail.workdir / "made").exists()
    assert all({"rule", "severity", "span", "message"} == set(reason) for reason in answer["reasons"])


def test_spans_count_characters(client: Client) -> None:
    command = "echo 你好; rm -rf /usr"
    reason = client.post("/api/policy/check", command=command)["reasons"][0]
    start, end = reason["span"]
    assert command[start:end] == "/usr"


def test_wrong_types_are_refused(client: Client) -> None:
    for body in ({}, {"command": 1}, {"command": None}, {"command": "ls", "cwd": 5}):
        with pytest.raises(WireError) as caught:
            client.post("/api/policy/check", **body)
        assert caught.value.status == 422


def test_the_command_line_explains(handrail: Running) -> None:
    argv = [str(HANDRAIL), "policy", "explain", "rm -rf /usr", "--data", str(handrail.data), "--json"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=environment())
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["level"]) == (31, "deny")
    assert answer["reasons"][0]["zh"]
