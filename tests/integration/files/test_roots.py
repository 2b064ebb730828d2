"""Allowed directories that are swapped for others: closed until a person says that it is meant."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.demo.client import Client
from tests.demo.embedded import Running, running_handrail
from tests.support.places import make_workdir
from tests.support.wait import until


@pytest.fixture(scope="module")
def handrail() -> Generator[Running]:
    """One of its own: its work root is taken away."""
    with running_handrail(HANDRAIL_RATE_LIMIT="0") as running:
        yield running


@pytest.fixture(scope="module")
def client(handrail: Running) -> Generator[Client]:
    with Client(handrail.url) as it:
        it.pair(handrail.paircode(), "root-tests")
        yield it


def states(client: Client) -> dict[str, str]:
    return {root["path"]: root["state"] for root in client.get("/api/roots")["roots"]}


def code(client: Client, path: str, /, **body: object) -> tuple[int, str]:
    answer = client.raw("POST", path, **body)
    return answer.status_code, answer.json().get("code", "")


@pytest.mark.req("F14", "RT-1", "RT-2")
def test_a_replaced_root_is_closed_for_every_tool_until_an_owner_confirms_it(client: Client, handrail: Running) -> None:
    work, aside = handrail.workdir, handrail.workdir.with_name("aside")
    client.post("/api/fs/write", path="f", content="mine")
    assert states(client)[str(work)] == "active"
    work.rename(aside)
    assert states(client)[str(work)] == "missing"
    make_workdir(work)
    (work / "f").write_text("somebody else's")
    try:
        assert states(client)[str(work)] == "changed"
        calls: list[tuple[str, dict[str, object]]] = [
            ("/api/fs/read", {"path": "f"}),
            ("/api/fs/list", {"path": "."}),
            ("/api/fs/write", {"path": "f", "content": "x"}),
            ("/api/fs/delete", {"path": "f"}),
            ("/api/fs/mkdir", {"path": "d"}),
            ("/api/fs/rename", {"path": "f", "newName": "g"}),
            ("/api/fs/download-stream", {"path": "f"}),
            ("/api/fs/upload-stream?path=up", {}),
            ("/api/tools/Grep", {"pattern": "x"}),
        ]
        for path, body in calls:
            assert code(client, path, **body) == (409, "root_changed"), path
        assert os.listdir(work) == ["f"]
        assert (work / "f").read_text() == "somebody else's"
        rows = until(lambda: _rows(client, "root_changed"), what="the refusals are security rows")
        assert {row["category"] for row in rows} == {"security"}
        confirmed = client.post("/api/roots/confirm", path=str(work))
        assert {root["path"]: root["state"] for root in confirmed["roots"]}[str(work)] == "active"
        assert client.post("/api/fs/read", path="f")["content"] == "somebody else's"
        row = until(lambda: _rows(client, "root_confirmed"), what="the confirmation is in the record")[0]
        assert row["action"] == "root_confirmed"
    finally:
        shutil.rmtree(work)
        aside.rename(work)
        client.post("/api/roots/confirm", path=str(work))
    assert client.post("/api/fs/read", path="f")["content"] == "mine"


def _rows(client: Client, word: str) -> list[dict[str, object]]:
    return [row for row in client.get("/api/logs", limit=200)["entries"] if word in json.dumps(row)]


@pytest.mark.req("F14", "RT-1")
def test_a_link_in_the_place_of_a_root_is_never_confirmed(client: Client, handrail: Running) -> None:
    work, aside = handrail.workdir, handrail.workdir.with_name("aside")
    outside = make_workdir(handrail.workdir.with_name("outside"))
    work.rename(aside)
    work.symlink_to(outside)
    try:
        assert states(client)[str(work)] == "changed"
        assert code(client, "/api/fs/write", path="f", content="x") == (409, "root_changed")
        assert client.raw("POST", "/api/roots/confirm", path=str(work)).status_code == 400
        assert code(client, "/api/fs/write", path="f", content="x") == (409, "root_changed")
        assert os.listdir(outside) == []
    finally:
        work.unlink()
        aside.rename(work)
    assert states(client)[str(work)] == "active"


@pytest.mark.req("RT-3", "PF-A11")
@pytest.mark.parametrize("path", ["/", "/etc", "/usr/local", "/root", "/home", "~", "/proc/self", "/var/log/..", "//etc//"])
def test_system_and_home_directories_never_become_a_root(client: Client, path: str) -> None:
    before = states(client)
    answer = client.raw("POST", "/api/config/workdir", workdir=path)
    assert answer.status_code == 403, answer.text
    assert states(client) == before


@pytest.mark.req("RT-2")
def test_only_what_is_allowed_already_can_be_confirmed(client: Client, tmp_path: Path) -> None:
    for path in (str(tmp_path), "/etc", "relative", "/", "a\0b"):
        assert client.raw("POST", "/api/roots/confirm", path=path).status_code in {400, 403}
