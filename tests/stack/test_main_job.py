"""The main job through the stack, over HTTP only."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from tests.demo.client import Client
from tests.demo.run import tell
from tests.stack.client import audit, pairing_code, run_as_confirmed, work_root
from tests.stack.stack import Stack


@pytest.mark.req("STK-6")
def test_the_demo_finds_mends_tests_and_commits(stack: Stack, client: Client) -> None:
    shown = io.StringIO()
    assert tell(stack.url, pairing_code(stack), Console(file=shown, width=160)), shown.getvalue()


@pytest.mark.req("STK-6")
def test_output_comes_live_at_the_address_that_the_api_hands_out(stack: Stack, client: Client) -> None:
    frames = list(client.stream("echo one; echo two >&2; exit 3", work_root(client)))
    assert "".join(f["data"] for f in frames if f["type"] == "stdout") == "one\n"
    assert "".join(f["data"] for f in frames if f["type"] == "stderr") == "two\n"
    assert frames[-1]["type"] == "exit"
    assert frames[-1]["exitCode"] == 3


@pytest.mark.req("STK-7")
def test_files_of_the_api_and_of_commands_have_the_same_owner(stack: Stack, client: Client) -> None:
    root = work_root(client)
    client.post("/api/fs/mkdir", path=f"{root}/owners")
    client.post("/api/fs/write", path=f"{root}/owners/by-api", content="x")
    client.run("touch by-command && echo y >> by-api", f"{root}/owners")
    assert stack.sh("api", f"stat -c '%u:%g' {root}/owners/*").out.split() == ["10001:10001", "10001:10001"]
    client.post("/api/fs/write", path=f"{root}/owners/by-command", content="z")


@pytest.mark.req("STK-8")
@pytest.mark.parametrize(
    "tool",
    [
        "git --version",
        "python3 -m venv --help",
        "pip3 --version",
        "node --version",
        "npm --version",
        "rg --version",
        "fd --version",
        "jq --version",
        "curl --version",
        "make --version",
    ],
)
def test_the_toolchain_is_there_for_commands(client: Client, tool: str) -> None:
    done = run_as_confirmed(client, tool, work_root(client))
    assert done["exitCode"] == 0, done


@pytest.mark.req("STK-8")
def test_a_c_program_and_a_venv_can_be_made(client: Client) -> None:
    root = work_root(client)
    client.post("/api/fs/mkdir", path=f"{root}/c")
    client.post("/api/fs/write", path=f"{root}/c/hello.c", content='#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n')
    done = client.run("gcc -Wall -o hello hello.c && ./hello && python3 -m venv v && v/bin/python -c 'print(1)'", f"{root}/c")
    assert (done["exitCode"], done["stdout"]) == (0, "hello\n1\n"), done


@pytest.mark.req("STK-9")
def test_a_command_has_no_network(client: Client) -> None:
    done = run_as_confirmed(client, "curl --max-time 3 -sS http://1.1.1.1/", work_root(client))
    assert done["exitCode"] != 0, done
    script = "import socket; socket.create_connection(('127.0.0.1', 18910), 2)"
    done = run_as_confirmed(client, f'python3 -c "{script}"', work_root(client))
    assert done["exitCode"] != 0, done
    assert "Error" in done["stderr"], done


@pytest.mark.req("STK-6")
def test_the_audit_chain_verifies_in_the_container(stack: Stack, client: Client) -> None:
    client.run("echo audited", work_root(client))
    rows = audit(client, "exec")
    assert any("echo audited" in str(row) for row in rows), rows[:3]
    done = stack.compose("exec", "-T", "api", "handrail", "audit", "verify")
    assert done.code == 0, done.out + done.err
