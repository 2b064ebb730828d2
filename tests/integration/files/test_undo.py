"""What file tools changed, turn by turn, and the way back: over the wire, against a real service."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.demo.client import Client


class Turn:
    """A client's calls in one turn of one conversation."""

    def __init__(self, client: Client, conversation: str, turn: str) -> None:
        self._url = client.url
        self._headers = {"Authorization": f"Bearer {client.token}", "X-Handrail-Conversation": conversation, "X-Handrail-Turn": turn}
        self.conversation, self.turn = conversation, turn

    def _ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        return httpx.request(method, self._url + path, headers=self._headers, timeout=60, trust_env=False, **options)

    def __call__(self, path: str, /, **body: object) -> dict[str, Any]:
        answer = self._ask("POST", path, json=body).json()
        assert answer["success"] is True, answer
        return answer

    def upload(self, path: Path, content: bytes) -> None:
        assert self._ask("POST", "/api/fs/upload-stream", params={"path": str(path)}, content=content).status_code == 200

    def checkpoint(self) -> dict[str, Any]:
        found = self._ask("GET", "/api/checkpoints", params={"conversation": self.conversation}).json()["checkpoints"]
        return next(item for item in found if item["turn"] == self.turn)

    def preview(self) -> dict[str, Any]:
        return self._ask("GET", f"/api/checkpoints/{self.checkpoint()['id']}").json()

    def rewind(self, **body: object) -> httpx.Response:
        return self._ask("POST", f"/api/checkpoints/{self.checkpoint()['id']}/rewind", json=body)


@pytest.fixture
def name(work: Path) -> str:
    """A conversation of this test."""
    return f"c-{work.name}"


def tree(root: Path) -> dict[str, tuple[str, int]]:
    """Every entry: content (or link target, or "/") and mode."""
    out: dict[str, tuple[str, int]] = {}
    for path in sorted(root.rglob("*")):
        content = os.readlink(path) if path.is_symlink() else "/" if path.is_dir() else path.read_text()
        out[str(path.relative_to(root))] = (content, path.lstat().st_mode & 0o7777)
    return out


@pytest.mark.req("F11", "UN-1", "UN-2")
def test_a_turn_of_every_kind_of_change_is_undone_whole(client: Client, work: Path, name: str) -> None:
    (work / "keep").mkdir()
    for path, content in {
        "edit.txt": "one\ntwo\n",
        "gone.txt": "gone",
        "keep/deep.txt": "deep",
        "move.txt": "move",
        "name.txt": "name",
    }.items():
        (work / path).write_text(content)
    (work / "edit.txt").chmod(0o640)
    (work / "tree" / "sub").mkdir(parents=True)
    (work / "tree" / "sub" / "x").write_text("x")
    for place in (work, *work.rglob("*")):
        shutil.chown(place, work.stat().st_uid, work.stat().st_gid)
    before = tree(work)
    turn = Turn(client, name, "t1")
    turn("/api/tools/Edit", path=str(work / "edit.txt"), old_string="two", new_string="2")
    turn("/api/tools/Write", path=str(work / "edit.txt"), content="three\n")
    turn("/api/tools/Write", path=str(work / "new" / "dir" / "made.txt"), content="made")
    turn("/api/tools/Delete", path=str(work / "gone.txt"))
    turn("/api/tools/Write", path=str(work / "gone.txt"), content="another one of that name")
    turn("/api/tools/Delete", path=str(work / "tree"))
    turn("/api/fs/mkdir", path=str(work / "plain"))
    turn("/api/fs/move", path=str(work / "move.txt"), destDir=str(work / "keep"))
    turn("/api/tools/Write", path=str(work / "keep" / "move.txt"), content="changed after it was moved")
    turn("/api/fs/rename", path=str(work / "name.txt"), newName="other.txt")
    turn("/api/fs/rename", path=str(work / "keep"), newName="kept")
    turn("/api/tools/Write", path=str(work / "kept" / "deep.txt"), content="changed in a renamed directory")
    turn.upload(work / "up.bin", b"uploaded")
    assert tree(work) != before
    shown = turn.checkpoint()
    assert (shown["kind"], shown["complete"]) == ("turn", True)
    preview = turn.preview()
    assert preview["conflicts"] == 0, preview
    answer = turn.rewind(fingerprint=preview["fingerprint"])
    assert answer.status_code == 200, answer.text
    assert answer.json()["left"] == []
    assert tree(work) == before


@pytest.mark.req("F11", "UN-2")
def test_a_rewind_is_a_turn_of_its_own_and_can_be_undone(client: Client, work: Path, name: str) -> None:
    first, second = Turn(client, name, "t1"), Turn(client, name, "t2")
    first("/api/tools/Write", path=str(work / "f"), content="one")
    second("/api/tools/Write", path=str(work / "f"), content="two")
    second("/api/tools/Write", path=str(work / "g"), content="new")
    after = tree(work)
    undone = second.rewind()
    assert undone.status_code == 200, undone.text
    assert {path: content for path, (content, _) in tree(work).items()} == {"f": "one"}
    undone = Turn(client, name, str(_latest(client, name)["turn"])).rewind()
    assert undone.status_code == 200, undone.text
    assert tree(work) == after
    assert first.rewind().status_code == 200
    assert tree(work) == {}


def _latest(client: Client, conversation: str) -> dict[str, Any]:
    return client.get("/api/checkpoints", conversation=conversation)["checkpoints"][0]


@pytest.mark.req("F11", "UN-3")
def test_what_something_else_changed_is_a_conflict_and_nothing_is_touched(client: Client, work: Path, name: str) -> None:
    (work / "f").write_text("old")
    (work / "g").write_text("old")
    turn = Turn(client, name, "t1")
    turn("/api/tools/Write", path=str(work / "f"), content="tool")
    turn("/api/tools/Write", path=str(work / "g"), content="tool")
    (work / "f").write_text("a person's")
    preview = turn.preview()
    assert (preview["conflicts"], [step["problem"] for step in preview["steps"] if step["path"].endswith("/f")]) == (1, ["changed"])
    answer = turn.rewind()
    assert (answer.status_code, answer.json()["code"], answer.json()["conflicts"][0]["path"]) == (
        409,
        "checkpoint.conflict",
        str(work / "f"),
    )
    assert ((work / "f").read_text(), (work / "g").read_text()) == ("a person's", "tool")
    assert turn.rewind(force=True).status_code == 200
    assert ((work / "f").read_text(), (work / "g").read_text()) == ("old", "old")
    # what was overwritten by force is kept as well
    assert Turn(client, name, str(_latest(client, name)["turn"])).rewind().status_code == 200
    assert (work / "f").read_text() == "a person's"


@pytest.mark.req("UN-3")
def test_a_change_between_two_changes_by_tools_is_told(client: Client, work: Path, name: str) -> None:
    (work / "f").write_text("old")
    turn = Turn(client, name, "t1")
    turn("/api/fs/write", path=str(work / "f"), content="tool 1")
    (work / "f").write_text("a formatter's")
    turn("/api/fs/write", path=str(work / "f"), content="tool 2")
    assert [step["problem"] for step in turn.preview()["steps"]] == ["between"]
    assert turn.rewind().status_code == 409
    assert turn.rewind(force=True).status_code == 200
    assert (work / "f").read_text() == "old"


@pytest.mark.req("UN-3")
def test_a_preview_that_is_no_longer_true_is_not_acted_upon(client: Client, work: Path, name: str) -> None:
    turn = Turn(client, name, "t1")
    turn("/api/tools/Write", path=str(work / "f"), content="tool")
    seen = turn.preview()["fingerprint"]
    (work / "f").write_text("changed")
    assert turn.rewind(fingerprint=seen, force=True).json()["code"] == "checkpoint.stale"
    assert (work / "f").read_text() == "changed"


@pytest.mark.req("UN-4")
def test_a_preview_shows_what_would_change_as_a_diff(client: Client, work: Path, name: str) -> None:
    (work / "f.txt").write_text("one\ntwo\nthree\n")
    turn = Turn(client, name, "t1")
    turn("/api/tools/Edit", path=str(work / "f.txt"), old_string="two", new_string="2")
    turn("/api/fs/write", path=str(work / "b.bin"), content="AAEC", encoding="base64")
    steps = {step["path"]: step for step in turn.preview()["steps"]}
    shown = steps[str(work / "f.txt")]["diff"]
    assert "-2\n+two\n" in shown
    assert shown.startswith(f"--- now/{work / 'f.txt'}")
    assert "diff" not in steps[str(work / "b.bin")]


@pytest.mark.req("UN-1")
def test_a_call_that_changed_nothing_is_no_checkpoint(client: Client, work: Path, name: str) -> None:
    (work / "f").write_text("same")
    turn = Turn(client, name, "t1")
    turn("/api/fs/write", path=str(work / "f"), content="same")
    refused = client.raw("POST", "/api/fs/delete", path=str(work / "none"))
    assert refused.status_code == 404
    assert client.get("/api/checkpoints", conversation=name)["checkpoints"] == []


@pytest.mark.req("UN-1")
def test_calls_without_a_conversation_are_undone_one_by_one(client: Client, work: Path) -> None:
    client.post("/api/fs/write", path=str(work / "a"), content="1")
    client.post("/api/fs/write", path=str(work / "b"), content="1")
    latest = client.get("/api/checkpoints", limit=2)["checkpoints"]
    assert [item["files"][0]["path"] for item in latest] == [str(work / "b"), str(work / "a")]
    client.post(f"/api/checkpoints/{latest[0]['id']}/rewind")
    assert os.listdir(work) == ["a"]


@pytest.mark.req("UN-5", "ATK-52")
@pytest.mark.parametrize("bad", ["../x", "a/b", "x" * 65, "ünï", "-a"])
def test_a_conversation_is_a_plain_name(client: Client, work: Path, bad: str) -> None:
    headers = httpx.Headers([(b"Authorization", f"Bearer {client.token}".encode()), (b"X-Handrail-Conversation", bad.encode())])
    body = {"path": str(work / "f"), "content": "x"}
    answer = httpx.post(f"{client.url}/api/fs/write", json=body, headers=headers, timeout=30, trust_env=False)
    assert (answer.status_code, answer.json()["code"]) == (400, "checkpoint.conversation")
    assert os.listdir(work) == []
    for ident in ("x", "~1", f"{bad}~1".replace("/", "%2f"), "a~99999999999999999999", "a~-1"):
        assert client.raw("GET", f"/api/checkpoints/{ident}").status_code == 404


@pytest.mark.req("F11", "UN-1")
def test_a_patch_of_several_files_is_one_turn(client: Client, work: Path, name: str) -> None:
    (work / "a.txt").write_text("one\ntwo\n")
    (work / "b.txt").write_text("gone\n")
    before = {"a.txt": "one\ntwo\n", "b.txt": "gone\n"}
    turn = Turn(client, name, "t1")
    here = str(work).lstrip("/")
    patch = (
        f"--- a/{here}/a.txt\n+++ b/{here}/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
        f"--- a/{here}/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"
        f"--- /dev/null\n+++ b/{here}/c.txt\n@@ -0,0 +1 @@\n+new\n"
    ).replace(f"/{here}/", f"/{work.name}/")
    turn("/api/tools/Patch", patch=patch)
    assert {path.name: path.read_text() for path in work.iterdir()} == {"a.txt": "one\n2\n", "c.txt": "new\n"}
    assert turn.checkpoint()["count"] == 3
    assert turn.rewind().json()["left"] == []
    assert {path.name: path.read_text() for path in work.iterdir()} == before


@pytest.mark.req("PF-B1", "UN-6")
def test_thirty_deletes_at_once_are_thirty_entries_that_come_back(client: Client, work: Path, name: str) -> None:
    turn = Turn(client, name, "t1")
    for number in range(30):
        (work / f"f{number}").write_text(f"{number}")
    with ThreadPoolExecutor(30) as pool:
        ids = {answer["trashId"] for answer in pool.map(lambda n: turn("/api/fs/delete", path=str(work / f"f{n}")), range(30))}
    assert len(ids) == 30
    assert os.listdir(work) == []
    assert ids <= {entry["id"] for entry in client.get("/api/trash/list")["entries"]}
    assert turn.checkpoint()["count"] == 30
    assert turn.rewind().json()["left"] == []
    assert {path.name: path.read_text() for path in work.iterdir()} == {f"f{number}": f"{number}" for number in range(30)}
