from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Generator
from pathlib import Path

import httpx
import pytest

from handrail.jail import procfs
from tests.demo.client import Client
from tests.support.instance import STOP_S, Instance, gone, instance
from tests.support.places import account
from tests.support.wait import until

PARTS = ("api", "sandbox", "worker", "beat", "postgres", "valkey")


def ready(one: Instance) -> bool:
    try:
        return httpx.get(f"{one.url}/readyz", timeout=5, trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False


@pytest.fixture(scope="module")
def running() -> Generator[Instance]:
    with instance() as one:
        one.start()
        yield one


@pytest.mark.req("A3")
def test_a_start_prints_the_page_the_pairing_code_and_the_work_root(running: Instance) -> None:
    text = running.text()
    assert running.url in text
    assert str(running.workdir) in text
    code = text.partition("Pairing code: ")[2].split()[0]
    assert len(code) == 6
    assert code.isdigit()
    assert ready(running)


@pytest.mark.req("EMB-ROOT")
def test_no_part_runs_as_root_and_none_has_a_password_in_its_command_line_or_environment(running: Instance) -> None:
    who = account()
    secrets = [path.read_text().strip() for path in (running.data / "secrets" / "init").glob("*_password")]
    assert len(secrets) == 2
    for name in PARTS:
        pid = running.part(name)
        assert Path(f"/proc/{pid}").stat().st_uid == (who.uid if who else os.geteuid())
        seen = Path(f"/proc/{pid}/cmdline").read_bytes() + Path(f"/proc/{pid}/environ").read_bytes()
        assert [secret for secret in secrets if secret.encode() in seen] == []


@pytest.mark.req("EMB-1")
@pytest.mark.parametrize("name", PARTS)
def test_a_killed_part_is_started_again_and_everything_works_again(running: Instance, name: str) -> None:
    before = running.part(name)
    os.kill(before, signal.SIGKILL)
    until(lambda: procfs.read_stat(before) is None or procfs.read_stat(before).state == "Z", "it is dead")  # type: ignore[union-attr]  # just read
    after = until(lambda: _part_or_none(running, name), f"{name} runs again", 30)
    assert after != before
    until(lambda: ready(running), "ready again", 30)


def _part_or_none(one: Instance, name: str) -> int | None:
    try:
        return one.part(name)
    except AssertionError:
        return None


@pytest.mark.req("A8")
def test_status_tells_version_address_work_root_and_parts(running: Instance) -> None:
    until(lambda: ready(running), "ready", 30)
    status = running.json("status")
    assert (status["address"], status["workdir"], status["dataDir"]) == (running.url, str(running.workdir), str(running.data))
    names = {"database", "broker", "audit", "sandbox", "worker", "beat"}
    until(lambda: running.json("status")["services"] == dict.fromkeys(names, "ok"), "every part is well", 30)
    done = running.cli("status", lang="zh")
    assert done.returncode == 0, done.stderr
    assert "工作根目录" in done.stdout
    assert running.url in done.stdout


@pytest.mark.req("A9")
def test_a_code_of_the_command_line_pairs_once(running: Instance) -> None:
    answer = running.json("paircode")
    assert set(answer) == {"code", "expires_in_s"}
    with Client(running.url) as client:
        client.pair(answer["code"], "x")
        assert client.get("/api/status/detail")["workdir"] == str(running.workdir)
    (device,) = [row for row in running.json("device", "list")["devices"] if row["user"] == "owner"]
    assert running.cli("device", "revoke", device["id"]).returncode == 0
    assert running.json("device", "list")["devices"] == []


@pytest.mark.req("A9")
def test_users_and_workspaces_from_the_command_line(running: Instance) -> None:
    other = running.base / "other"
    other.mkdir()
    who = account()
    if who:
        os.chown(other, who.uid, who.gid)
    assert running.cli("workspace", "add", "second", str(other)).returncode == 0
    done = running.cli("user", "add", "anna", "--workspace", "second", "--role", "member")
    assert done.returncode == 0, done.stderr
    assert "anna" in {row["name"] for row in running.json("user", "list")["users"]}
    code = running.json("paircode", "--user", "anna")["code"]
    with Client(running.url) as client:
        client.pair(code, "anna's")
        assert client.get("/api/status/detail")["workdir"] == str(other)
    assert running.cli("workspace", "member", "second", "anna", "--role", "viewer").returncode == 0
    assert running.cli("user", "remove", "anna").returncode == 0
    assert "anna" not in running.cli("user", "list").stdout
    done = running.cli("user", "remove", "nobody", lang="zh")
    assert done.returncode == 1
    assert done.stderr.startswith("错误：")


@pytest.mark.req("A9")
def test_the_audit_log_is_whole_and_readable_from_the_command_line(running: Instance) -> None:
    assert running.json("audit", "verify")["ok"] is True
    assert running.cli("audit", "verify", lang="zh").stdout.startswith("完整")
    assert "[system:server_start]" in until(lambda: running.cli("logs", "--category", "system").stdout, "lines")


@pytest.mark.req("A11")
def test_a_second_start_on_the_same_data_is_refused_and_harms_nothing(running: Instance) -> None:
    done = running.cli("start", "--port", "1", "--workdir", str(running.workdir))
    assert done.returncode == 4
    assert f"handrail stop --data {running.data}" in done.stderr
    assert ready(running)


@pytest.mark.req("EMB-4")
def test_two_instances_live_side_by_side_and_stopping_one_leaves_the_other(running: Instance) -> None:
    with instance() as other:
        other.start()
        assert ready(other)
        assert ready(running)
        child = other.children[0]
        child.send_signal(signal.SIGINT)
        assert child.wait(STOP_S) == 0
        gone(other, 1)
    assert ready(running)


@pytest.mark.req("A14")
def test_a_restart_over_http_replaces_the_api_at_once(running: Instance) -> None:
    before, supervisor = running.part("api"), running.children[0].pid
    with Client(running.url) as client:
        client.pair(running.json("paircode")["code"], "x")
        client.post("/api/agent/restart")
        until(lambda: _part_or_none(running, "api") not in (None, before), "a new process", 10)
        until(lambda: ready(running), "ready", 10)
        assert client.get("/api/status/detail")["success"] is True  # the same token, the same data
    assert procfs.read_stat(supervisor) is not None


@pytest.mark.req("A3", "A12", "PF-C2")
def test_ctrl_c_ends_everything_within_ten_seconds_commands_that_resist_too(running: Instance) -> None:
    grows = running.workdir / "grows"
    stubborn = "trap '' TERM; setsid bash -c 'trap \"\" TERM HUP; while :; do echo x >> grows; sleep 0.05; done' & sleep 300"
    with Client(running.url) as client:
        client.pair(running.json("paircode")["code"], "x")
        client.post("/api/exec", command=stubborn, cwd=str(running.workdir), force=True)
        until(lambda: grows.exists() and grows.stat().st_size, "the command writes", 10)
    child = running.children[0]
    began = time.monotonic()
    child.send_signal(signal.SIGINT)
    assert child.wait(STOP_S) == 0
    assert time.monotonic() - began < STOP_S
    gone(running, 1)
    size = grows.stat().st_size
    deadline = time.monotonic() + 0.5
    while time.monotonic() < deadline:
        assert grows.stat().st_size == size
    assert not (running.data / "handrail.pid").exists()


@pytest.mark.req("A11")
def test_a_killed_supervisor_leaves_nothing_and_its_file_blocks_nothing() -> None:
    with instance() as one:
        child = one.start()
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        assert (one.data / "handrail.pid").exists()
        gone(one)
        done = one.cli("status")
        assert done.returncode == 5
        # background: returns only when ready, prints a code, and keeps its options through a restart
        done = one.cli("start", "-b", "--port", str(one.port), "--workdir", str(one.workdir), lang="zh")
        assert done.returncode == 0, done.stderr
        assert ready(one)
        assert "配对码" in done.stdout
        first = one.json("status")["pid"]
        done = one.cli("restart", "-b", cwd=Path("/"))
        assert done.returncode == 0, done.stderr
        again = one.json("status")
        assert again["pid"] != first
        assert (again["address"], again["workdir"]) == (one.url, str(one.workdir))
        assert one.cli("stop").returncode == 0
        assert one.processes() == {}
        assert one.cli("stop").returncode == 5


@pytest.mark.req("A18", "A7")
def test_a_shutdown_over_http_ends_the_supervisor_too() -> None:
    with instance() as one:
        child = one.start()
        assert httpx.post(f"{one.url}/api/shutdown", json={}, trust_env=False).status_code == 200
        assert child.wait(STOP_S) == 0
        gone(one, 1)


@pytest.mark.req("A7", "A12")
def test_stop_falls_back_to_signals_when_the_api_hangs_and_says_so() -> None:
    with instance() as one:
        child = one.start()
        os.kill(one.part("api"), signal.SIGSTOP)
        done = one.cli("stop")
        assert done.returncode == 10, done.stderr
        child.wait(1)
        gone(one, 1)


@pytest.mark.req("A12")
def test_a_second_signal_forces() -> None:
    with instance() as one:
        child = one.start()
        os.kill(one.part("api"), signal.SIGSTOP)
        began = time.monotonic()
        child.send_signal(signal.SIGTERM)
        until(lambda: not ready(one), "it is stopping", 6)
        child.send_signal(signal.SIGTERM)
        child.wait(STOP_S)
        assert time.monotonic() - began < STOP_S
        gone(one, 1)


@pytest.mark.req("PF-C8")
def test_a_port_in_use_is_told_before_anything_is_touched() -> None:
    with instance() as one, socket.socket() as other:
        other.bind(("127.0.0.1", one.port))
        other.listen()
        for extra in ([], ["-b"]):
            done = one.cli("start", *extra, "--port", str(one.port), "--workdir", str(one.workdir))
            assert done.returncode == 3
            assert "--port" in done.stderr
            assert not one.data.exists()


@pytest.mark.req("EMB-ROOT")
def test_a_work_root_that_the_services_cannot_write_is_told_with_the_way_out() -> None:
    with instance() as one:
        closed = one.base / "closed"
        closed.mkdir(mode=0o700 if account() else 0o500)  # root's own, or one that even its owner may not write
        done = one.cli("start", "-b", "--port", str(one.port), "--workdir", str(closed), lang="zh")
        assert done.returncode == 8
        assert "chown -R" in done.stderr
        assert str(closed) in done.stderr
        assert one.processes() == {}


@pytest.mark.req("EMB-1")
def test_a_background_start_that_cannot_work_ends_with_the_reason() -> None:
    with instance() as one:
        (one.data).mkdir(mode=0o700)
        (one.data / "pg").write_text("not a directory")
        done = one.cli("start", "-b", "--port", str(one.port), "--workdir", str(one.workdir))
        assert done.returncode == 8
        assert str(one.data) in done.stderr
        assert "Traceback" not in done.stderr
        assert one.processes() == {}
