"""Who may call what: every route without a token, with a wrong one, and with another user's."""

from __future__ import annotations

import atexit
import json
import subprocess
from collections.abc import Generator
from typing import Any

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from handrail.api.edge.public import API
from tests.demo.client import Client
from tests.demo.embedded import HANDRAIL, Running, environment
from tests.integration.api.routes import PUBLIC_API, Route, all_routes, is_public
from tests.support.places import make_workdir

HTTP = httpx.Client(timeout=30, trust_env=False)
atexit.register(HTTP.close)
SECRET = "kept-from-others-7f3a"  # content: a path that somebody names comes back in answers and in that user's own audit rows
WITNESS = "only-the-owner-names-this"


def call(handrail: Running, route: Route, token: str | None, body: bytes = b"{}") -> httpx.Response:
    headers = {"Content-Type": "application/json"} if route.method != "GET" else {}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    content = body if route.method != "GET" else b""
    return HTTP.request(route.method, handrail.url + route.url, content=content, headers=headers)


def command(handrail: Running, *words: str) -> dict[str, Any]:
    """The operator's command line."""
    argv = [str(HANDRAIL), *words, "--data", str(handrail.data), "--json"]
    done = subprocess.run(argv, check=False, capture_output=True, text=True, env=environment())
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def stranger(handrail: Running) -> Generator[Client]:
    """A device of a second user in a workspace of that user's own."""
    root = make_workdir(handrail.workdir / "stranger")
    command(handrail, "user", "add", "stranger")
    command(handrail, "workspace", "add", "strangers", str(root), "--owner", "stranger")
    code = command(handrail, "paircode", "--user", "stranger")["code"]
    with Client(handrail.url) as client:
        client.pair(code, "stranger")
        own = f"{root}/own.txt"
        client.post("/api/fs/write", path=own, content="mine")  # the stranger can work; what follows is refused for the right reason
        assert client.post("/api/fs/read", path=own)["content"] == "mine"
        yield client


@pytest.fixture(scope="module")
def mine(client: Client) -> dict[str, str]:
    """Things of the owner that a stranger must not reach."""
    root = client.get("/api/status/detail")["workdir"]
    path = f"{root}/owners/plan.txt"
    client.post("/api/fs/write", path=path, content=SECRET)
    client.post("/api/fs/write", path=f"{root}/owners/{WITNESS}.txt", content=SECRET)
    trash = client.post("/api/fs/delete", path=f"{root}/owners/{WITNESS}.txt")["trashId"]
    running = client.post("/api/exec", command=f"cat {path}; sleep 300", cwd=root)
    return {"root": root, "path": path, "trashId": trash, "execId": running["execId"]}


@pytest.mark.req("B4")
def test_the_public_routes_are_the_named_ones_and_no_more() -> None:
    assert set(API) == PUBLIC_API
    assert {(route.method, route.path) for route in all_routes() if is_public(route)} >= PUBLIC_API


@pytest.mark.req("B4")
def test_a_route_without_a_token_is_401_unless_it_is_named(handrail: Running, guarded_route: Route) -> None:
    answer = call(handrail, guarded_route, None)
    assert answer.status_code == 401
    assert answer.json()["code"] == "auth.missing"


@pytest.mark.req("B4", "B3")
def test_a_route_with_a_token_that_nobody_has_is_403(handrail: Running, guarded_route: Route) -> None:
    for token in ("0" * 64, "x", "null", "undefined"):
        assert call(handrail, guarded_route, token).status_code == 403


@pytest.mark.req("B4", "ATK-52")
@pytest.mark.parametrize("carrier", ["query", "cookie", "x-api-key", "x-auth-token", "basic"])
def test_a_good_token_counts_in_the_authorization_header_only(handrail: Running, client: Client, carrier: str) -> None:
    headers = {
        "query": {},
        "cookie": {"Cookie": f"token={client.token}; session={client.token}"},
        "x-api-key": {"X-API-Key": client.token},
        "x-auth-token": {"X-Auth-Token": client.token},
        "basic": {"Authorization": f"Basic {client.token}"},
    }[carrier]
    url = f"{handrail.url}/api/heartbeat" + (f"?token={client.token}" if carrier == "query" else "")
    assert httpx.get(url, headers=headers, trust_env=False).status_code == 401


@pytest.mark.req("B4", "ATK-47")
@pytest.mark.parametrize("query", ["", "?token=", "?token=" + "0" * 64, "?token=a&token=b"])
def test_the_output_stream_needs_a_token_too(handrail: Running, mine: dict[str, str], query: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        connect(f"{handrail.url.replace('http', 'ws')}/ws/exec/{mine['execId']}{query}", proxy=None)
    assert refused.value.response.status_code == 403


@pytest.mark.req("B5", "ATK-52", "E14")
def test_another_users_token_reaches_none_of_my_files(stranger: Client, mine: dict[str, str], handrail: Running, body_route: Route) -> None:
    fields = body_route.fields or {}
    known = {
        "path": mine["path"],
        "cwd": mine["root"],
        "trashId": mine["trashId"],
        "execId": mine["execId"],
        "newName": "x",
        "destDir": mine["root"],
    }
    body = {name: value for name, value in known.items() if name in fields}
    body |= {
        name: value for name, value in {"pattern": SECRET[:9], "command": f"cat {mine['path']}", "content": "x"}.items() if name in fields
    }
    if body_route.path == "/api/exec":
        body = {"command": f"cat {mine['path']}", "wait": True}
    answer = httpx.request(
        body_route.method,
        handrail.url + body_route.url,
        json=body,
        headers={"Authorization": f"Bearer {stranger.token}"},
        timeout=30,
        trust_env=False,
    )
    assert answer.status_code < 500
    assert SECRET not in answer.text


@pytest.mark.req("B5", "D3", "E14", "ATK-54")
def test_another_user_neither_sees_nor_stops_nor_joins_my_command(stranger: Client, client: Client, mine: dict[str, str]) -> None:
    assert stranger.get("/api/exec/running")["processes"] == []
    assert stranger.get("/api/status/detail")["runningProcesses"] == []
    stranger.raw("POST", "/api/exec/stop", execId=mine["execId"])
    assert mine["execId"] in [process["execId"] for process in client.get("/api/exec/running")["processes"]]
    url = f"{stranger.url.replace('http', 'ws')}/ws/exec/{mine['execId']}"
    with connect(url, additional_headers={"Authorization": f"Bearer {stranger.token}"}, proxy=None) as socket:
        frame = json.loads(socket.recv(timeout=10))
    assert frame["type"] == "error"
    assert SECRET not in json.dumps(frame)


@pytest.mark.req("B5", "C16", "C17")
def test_another_user_neither_lists_nor_restores_my_trash(stranger: Client, mine: dict[str, str]) -> None:
    assert stranger.get("/api/trash/list")["entries"] == []
    answer = stranger.raw("POST", "/api/trash/restore", trashId=mine["trashId"])
    assert (answer.status_code, answer.json()["code"]) == (404, "trash_unknown")


@pytest.mark.req("B5", "N4")
def test_another_user_reads_none_of_my_audit_rows(stranger: Client, client: Client, mine: dict[str, str]) -> None:
    assert WITNESS in json.dumps(client.get("/api/logs", limit=200))
    assert WITNESS not in json.dumps(stranger.get("/api/logs", limit=200))
    assert WITNESS not in json.dumps(stranger.post("/api/logs/query", limit=500))
