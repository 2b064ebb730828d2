"""The routes over HTTP, on the real services, without the edge (which has tests of its own)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from handrail.api.accounts.admin_routes import router as admin_router
from handrail.api.accounts.routes import router
from handrail.api.accounts.service import Accounts
from handrail.api.app import _app as app_of
from handrail.api.audit.routes import router as audit_router
from handrail.api.context import Actor
from handrail.api.http import ACTOR, SERVICES
from tests.support.database import Prepared
from tests.support.parts import accounts_of, audit_of


@dataclass
class Site:
    http: httpx.AsyncClient
    accounts: Accounts

    async def code(self, **body: object) -> str:
        return str((await self.admin("paircode", **body))["code"])

    async def admin(self, path: str, **body: object) -> dict[str, Any]:
        answer = await self.http.post(f"/admin/{path}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def pair(self, user: str | None = None) -> dict[str, str]:
        answer = await self.http.post("/api/pair", json={"code": await self.code(user=user), "extensionId": "x"})
        return {"Authorization": f"Bearer {answer.json()['token']}"}


def with_services(app: ASGIApp, accounts: Accounts, services: object) -> ASGIApp:
    """What the edge does for a request that it let in."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        scope[SERVICES] = services
        token = dict(scope["headers"]).get(b"authorization", b"").decode().removeprefix("Bearer ")
        identity = await accounts.authenticate(token) if token else None
        if identity is not None:
            scope[ACTOR] = Actor(identity, "en", "r", "127.0.0.1")
        await app(scope, receive, send)

    return serve


@pytest.fixture
async def site(prepared: Prepared, tmp_path: Path) -> AsyncGenerator[Site]:
    prepared.query(b"delete from devices")
    prepared.query(b"delete from workspaces where name <> 'main'")
    prepared.query(b"delete from users where name <> 'owner'")
    async with audit_of(prepared, tmp_path) as audit, accounts_of(prepared, audit=audit) as accounts:
        services = SimpleNamespace(accounts=accounts, audit=audit, settings=SimpleNamespace(lang="en"))
        app = with_services(app_of("tests", (router, audit_router, admin_router)), accounts, services)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as http:
            yield Site(http, accounts)


@pytest.mark.req("B1", "B3")
async def test_pairing_answers_as_the_wire_does(site: Site) -> None:
    code = await site.code()
    for body in ({"code": "000000" if code != "000000" else "111111", "extensionId": "x"}, {"extensionId": "x"}, {}):
        answer = await site.http.post("/api/pair", json=body)
        assert answer.status_code == 400
        assert answer.json()["success"] is False
        assert answer.json()["error"]
    answer = await site.http.post("/api/pair", json={"code": code, "extensionId": "x"}, headers={"accept-language": "zh-CN"})
    assert answer.status_code == 200
    shown = answer.json()
    assert (shown["success"], len(shown["token"]), shown["message"]) == (True, 64, "配对成功。")
    assert set(shown) == {"success", "token", "message"}


@pytest.mark.parametrize(
    "body", [b'{"code": 123456}', b'{"code": null}', b"null", b"[]", b'"x"', b'{"code": "1", "code": "2"}', b"{", b"\xff"]
)
async def test_a_body_of_another_shape_is_a_clear_refusal(site: Site, body: bytes) -> None:
    answer = await site.http.post("/api/pair", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.json()["success"] is False


@pytest.mark.req("B3")
async def test_a_user_lists_renames_and_ends_own_devices(site: Site) -> None:
    mine, other = await site.pair(), await site.pair()
    devices = (await site.http.get("/api/devices", headers=mine)).json()["devices"]
    assert [device["current"] for device in devices] == [True, False]
    assert all(isinstance(device["createdAt"], int) for device in devices)
    second = devices[1]["id"]
    renamed = await site.http.post(f"/api/devices/{second}", json={"name": "手机"}, headers=mine)
    assert renamed.json() == {"success": True, "name": "手机"}
    assert (await site.http.get("/api/me", headers=other)).json()["device"] == {"id": second, "name": "手机"}
    assert (await site.http.delete(f"/api/devices/{second}", headers=mine)).json() == {"success": True}
    assert (await site.http.delete(f"/api/devices/{second}", headers=mine)).status_code == 404
    assert await site.accounts.authenticate(other["Authorization"].removeprefix("Bearer ")) is None


@pytest.mark.req("B5", "ATK-52")
async def test_another_users_device_is_not_there(site: Site) -> None:
    await site.admin("users", name="li")
    await site.admin("workspaces/members", workspace="main", user="li", role="member")
    mine, foreign = await site.pair(), await site.pair("li")
    device = (await site.http.get("/api/me", headers=mine)).json()["device"]["id"]
    assert (await site.http.delete(f"/api/devices/{device}", headers=foreign)).status_code == 404
    assert (await site.http.post(f"/api/devices/{device}", json={"name": "x"}, headers=foreign)).status_code == 404
    assert device not in (await site.http.get("/api/devices", headers=foreign)).text
    assert (await site.http.get("/api/me", headers=mine)).status_code == 200


async def test_the_administrator_manages_users_workspaces_and_devices(site: Site) -> None:
    await site.admin("users", name="wei", auditor=False)
    await site.admin("workspaces", name="lab", root="/srv/lab", owner="wei")
    await site.admin("workspaces/members", workspace="lab", user="owner", role="viewer")
    workspaces = (await site.http.get("/admin/workspaces")).json()["workspaces"]
    assert next(w["members"] for w in workspaces if w["name"] == "lab") == {"owner": "viewer", "wei": "owner"}
    headers = await site.pair("wei")
    assert (await site.http.get("/api/me", headers=headers)).json()["workspace"]["root"] == "/srv/lab"
    (device,) = (await site.http.get("/admin/devices", params={"user": "wei"})).json()["devices"]
    assert (device["user"], device["workspace"]) == ("wei", "lab")
    await site.admin("devices/revoke", id=device["id"])
    assert (await site.http.get("/admin/devices", params={"user": "wei"})).json()["devices"] == []
    await site.admin("workspaces/members/remove", workspace="lab", user="owner")
    await site.admin("users/remove", name="wei")
    assert [user["name"] for user in (await site.http.get("/admin/users")).json()["users"]] == ["owner"]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("paircode", {"user": "nobody"}, 404),
        ("users", {"name": "Not A Name"}, 422),
        ("users", {"name": "owner"}, 409),
        ("users/remove", {"name": "owner"}, 409),
        ("workspaces", {"name": "main", "root": "/x", "owner": "owner"}, 409),
        ("workspaces", {"name": "rel", "root": "x", "owner": "owner"}, 422),
        ("workspaces/members", {"workspace": "main", "user": "owner", "role": "king"}, 422),
        ("workspaces/members", {"workspace": "none", "user": "owner", "role": "member"}, 404),
        ("devices/revoke", {"id": "x"}, 404),
        ("devices/revoke", {}, 422),
    ],
)
async def test_what_an_administrator_mistypes_is_said(site: Site, path: str, body: dict[str, object], status: int) -> None:
    answer = await site.http.post(f"/admin/{path}", json=body)
    assert (answer.status_code, answer.json()["success"]) == (status, False)


@pytest.mark.req("N4", "N5", "B5")
async def test_the_log_routes_answer_as_the_wire_does(site: Site) -> None:
    await site.admin("users", name="li")
    await site.admin("workspaces/members", workspace="main", user="li", role="member")
    admin, user = await site.pair(), await site.pair("li")
    query = (await site.http.post("/api/logs/query", json={"category": None, "limit": 2}, headers=admin)).json()
    assert [entry["action"] for entry in query["entries"]] == ["pair", "pair"]
    assert query["total"] >= 4
    assert len(query["dates"]) == 1
    own = (await site.http.get("/api/logs", headers=user)).json()
    assert [entry["action"] for entry in own["entries"]] == ["pair"]
    assert (await site.http.get("/api/logs/dates", headers=user)).json() == {"success": True, "dates": query["dates"]}
    assert (await site.http.get("/api/logs", params={"date": query["dates"][0], "limit": "1", "offset": "1"}, headers=admin)).json()[
        "entries"
    ]
    for wrong in ({"date": "x"}, {"category": "x"}, {"limit": "-1"}, {"offset": "x"}):
        assert (await site.http.get("/api/logs", params=wrong, headers=user)).status_code == 422
    for body in ({"limit": 0}, {"limit": "5"}, {"category": 5}, {"category": "x"}):
        assert (await site.http.post("/api/logs/query", json=body, headers=user)).status_code == 422


@pytest.mark.req("N7", "B10")
async def test_the_local_socket_reads_everything_and_verifies(site: Site) -> None:
    await site.pair()
    entries = (await site.http.get("/admin/logs", params={"category": "auth"})).json()["entries"]
    assert entries[0]["action"] == "pair"
    assert (await site.http.get("/admin/logs/dates")).json()["dates"]
    report = await site.admin("audit/verify")
    assert (report["ok"], report["problems"]) == (True, [])
    assert report["rows"] > 0
