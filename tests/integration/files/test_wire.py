from __future__ import annotations

import base64
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.demo.client import Client
from tests.demo.embedded import Running
from tests.integration.files.conftest import LIMIT

ENTRY = {"name", "type", "size", "mtime"}


def refused(client: Client, path: str, /, **body: object) -> tuple[int, str]:
    """Status and code of an answer that is a failure of the wire's shape."""
    answer = client.raw("POST", path, **body)
    shown = answer.json()
    assert shown["success"] is False
    assert isinstance(shown["error"], str)
    return answer.status_code, shown["code"]


@pytest.mark.req("C4", "C5", "C6", "C8")
def test_write_read_list_and_stat_go_together(client: Client, work: Path) -> None:
    path = str(work / "a" / "hello.txt")
    written = client.post("/api/fs/write", path=path, content="héllo 中文\n")
    assert (written["size"], written["path"]) == (14, path)
    read = client.post("/api/fs/read", path=path)
    assert (read["content"], read["size"], read["path"], read["encoding"], read["lossy"]) == ("héllo 中文\n", 14, path, "utf-8", False)
    listed = client.post("/api/fs/list", path=str(work / "a"))
    assert [entry["name"] for entry in listed["entries"]] == ["hello.txt"]
    assert set(listed["entries"][0]) >= ENTRY
    info = client.post("/api/fs/stat", path=path)["info"]
    assert (info["type"], info["size"], info["isFile"], info["mimeType"]) == ("file", 14, True, "text/plain")
    raw = bytes(range(256))
    client.post("/api/fs/write", path=path, content=base64.b64encode(raw).decode(), encoding="base64")
    assert (work / "a" / "hello.txt").read_bytes() == raw
    assert client.post("/api/fs/read", path=path)["lossy"] is True


def test_relative_paths_lie_in_the_work_root(client: Client, handrail: Running, work: Path) -> None:
    client.post("/api/fs/write", path=f"{work.name}/r.txt", content="x")
    assert (work / "r.txt").read_text() == "x"
    assert client.post("/api/fs/list")["path"] == str(handrail.workdir)


@pytest.mark.req("C1", "ATK-21", "ATK-22", "PF-A5", "PF-B16")
def test_failures_have_the_statuses_of_the_wire(client: Client, handrail: Running, work: Path) -> None:
    (work / "d").mkdir()
    (work / "f").write_text("x")
    (work / "out").symlink_to("/etc")
    os.mkfifo(work / "fifo")
    here = str(work)
    expected: list[tuple[str, dict[str, object], int, str]] = [
        ("read", {"path": f"{here}/none"}, 404, "not_found"),
        ("read", {"path": here}, 400, "not_a_file"),
        ("read", {"path": "/etc/passwd"}, 403, "out_of_bounds"),
        ("read", {"path": f"{here}/out/passwd"}, 403, "out_of_bounds"),
        ("read", {"path": f"{here}/../../data/config.json"}, 403, "protected_path"),
        ("read", {"path": f"{handrail.data}/secrets/api/signing.json"}, 403, "protected_path"),
        ("read", {"path": str(handrail.data).upper()}, 403, "protected_path"),
        ("read", {"path": f"{handrail.workdir}-evil/x"}, 403, "out_of_bounds"),
        ("read", {"path": f"{here}/fifo"}, 400, "unsupported_target"),
        ("read", {"path": "a\0b"}, 400, "invalid_path"),
        ("read", {"path": ""}, 400, "invalid_path"),
        ("read", {"path": 5}, 422, "request.invalid"),
        ("read", {"path": None}, 422, "request.invalid"),
        ("read", {}, 422, "request.invalid"),
        ("read", {"path": "x" * 5000}, 400, "invalid_path"),
        ("write", {"path": f"{here}/d", "content": "x"}, 400, "not_a_file"),
        ("write", {"path": f"{here}/out/x", "content": "x"}, 403, "out_of_bounds"),
        ("write", {"path": f"{here}/x", "content": "%", "encoding": "base64"}, 400, "bad_base64"),
        ("write", {"path": f"{here}/x", "content": "x", "encoding": "rot13"}, 422, "request.invalid"),
        ("list", {"path": f"{here}/none"}, 404, "not_found"),
        ("list", {"path": f"{here}/f"}, 400, "not_a_directory"),
        ("list", {"path": f"{here}/out"}, 403, "out_of_bounds"),
        ("stat", {"path": f"{here}/none"}, 404, "not_found"),
        ("mkdir", {"path": f"{here}/d"}, 409, "exists"),
        ("mkdir", {"path": f"{here}/none/d"}, 404, "not_found"),
        ("rename", {"path": f"{here}/f", "newName": "d"}, 409, "exists"),
        ("rename", {"path": f"{here}/f", "newName": "a/b"}, 400, "invalid_name"),
        ("rename", {"path": f"{here}/f"}, 422, "request.invalid"),
        ("move", {"path": f"{here}/d", "destDir": f"{here}/d"}, 400, "into_itself"),
        ("move", {"path": f"{here}/f", "destDir": "/tmp"}, 403, "out_of_bounds"),
        ("move", {"path": f"{here}/f", "destDir": f"{here}/none"}, 404, "not_found"),
        ("delete", {"path": f"{here}/none"}, 404, "not_found"),
        ("delete", {"path": str(handrail.workdir)}, 400, "root_itself"),
        ("delete", {"path": "/etc/passwd"}, 403, "out_of_bounds"),
        ("search_files", {"path": f"{here}/none"}, 404, "not_found"),
        ("search_files", {"path": here, "pattern": "{"}, 400, "glob_invalid"),
        ("search_content", {"path": f"{here}/none", "pattern": "x"}, 404, "not_found"),
        ("search_content", {"path": here, "pattern": 7}, 422, "request.invalid"),
        ("search_content", {"path": here, "pattern": ""}, 400, "pattern_invalid"),
        ("search_content", {"path": "/etc", "pattern": "root"}, 403, "out_of_bounds"),
    ]  # fmt: skip
    seen = [(route, body, *refused(client, f"/api/fs/{route}", **body)) for route, body, _, _ in expected]
    assert seen == expected
    assert refused(client, "/api/trash/restore", trashId="x") == (404, "trash_unknown")
    assert refused(client, "/api/trash/restore") == (400, "trash_id_missing")


@pytest.mark.req("C4")
def test_a_missing_file_says_so_in_the_callers_language(client: Client) -> None:
    memory = "~/.ai-helper-agent/memory/global-memory.json"
    for lang, text in (("en", "File does not exist"), ("zh-CN", "文件不存在")):
        for path in (memory, "none.txt"):
            answer = httpx.post(
                f"{client.url}/api/fs/read",
                json={"path": path},
                headers={"Authorization": f"Bearer {client.token}", "Accept-Language": lang},
                trust_env=False,
            )
            assert answer.status_code == 404
            assert text in answer.json()["error"]


@pytest.mark.req("C20", "C4")
def test_the_size_limit_is_413(client: Client, work: Path) -> None:
    (work / "big").write_bytes(b"x" * (LIMIT + 1))
    assert refused(client, "/api/fs/read", path=str(work / "big")) == (413, "too_large")
    assert refused(client, "/api/fs/write", path=str(work / "new"), content="x" * (LIMIT + 1)) == (413, "too_large")
    assert not (work / "new").exists()
    client.post("/api/fs/write", path=str(work / "new"), content="x" * LIMIT)
    assert client.post("/api/fs/read", path=str(work / "new"))["size"] == LIMIT


@pytest.mark.req("C7", "C16", "C17", "PF-B1")
def test_thirty_parallel_deletes_over_http_are_thirty_restorable_entries(client: Client, work: Path) -> None:
    for number in range(30):
        client.post("/api/fs/write", path=str(work / f"f{number}"), content=str(number))
    with ThreadPoolExecutor(30) as pool:
        answers = list(pool.map(lambda number: client.post("/api/fs/delete", path=str(work / f"f{number}")), range(30)))
    ids = {answer["trashId"] for answer in answers}
    entries = [entry for entry in client.get("/api/trash/list")["entries"] if entry["id"] in ids]
    assert len(entries) == 30
    assert {"id", "originalPath", "name", "size", "deletedAt", "isDir"} <= set(entries[0])
    assert not list(work.iterdir())
    with ThreadPoolExecutor(10) as pool:
        list(pool.map(lambda trash_id: client.post("/api/trash/restore", trashId=trash_id), ids))
    assert {path.name: path.read_text() for path in work.iterdir()} == {f"f{number}": str(number) for number in range(30)}


@pytest.mark.req("PF-C1")
def test_pipes_hold_nobody_up(client: Client, work: Path) -> None:
    os.mkfifo(work / "fifo")
    (work / "n.txt").write_text("n")
    began = time.monotonic()
    with ThreadPoolExecutor(20) as pool:
        statuses = set(pool.map(lambda _: client.raw("POST", "/api/fs/read", path=str(work / "fifo")).status_code, range(40)))
    assert statuses == {400}
    assert client.post("/api/fs/read", path=str(work / "n.txt"))["content"] == "n"
    assert time.monotonic() - began < 10


@pytest.mark.req("C13", "C14", "PF-A4", "PF-B5")
def test_searches_answer_as_the_wire_says(client: Client, work: Path) -> None:
    (work / "src").mkdir()
    (work / "src" / "a.py").write_text("one\nneedle(here\nthree\n")
    (work / "many").write_text("hay\n" * 500)
    found = client.post("/api/fs/search_files", path=str(work), pattern="*.PY")
    assert [(hit["path"], hit["type"]) for hit in found["results"]] == [(str(work / "src" / "a.py"), "file")]
    assert (found["total"], found["engine"]) == (1, "fallback")
    content = client.post("/api/fs/search_content", path=str(work), pattern="NEEDLE(", contextLines=1)
    assert content["engine"] == "rg"
    assert content["results"][0]["line"] == 2
    assert [line["isMatch"] for line in content["results"][0]["context"]] == [False, True, False]
    assert client.post("/api/fs/search_content", path=str(work), pattern="hay")["total"] == 100
    assert client.post("/api/fs/search_content", path=str(work), pattern="--pre=/bin/true")["total"] == 0


@pytest.mark.req("F3", "F4", "F5", "F9")
def test_the_tools_answer_by_name(client: Client, work: Path) -> None:
    def tool(name: str, **arguments: Any) -> dict[str, Any]:
        return client.post(f"/api/tools/{name}", **arguments)

    names = {shown["name"] for shown in client.get("/api/tools")["tools"]}
    assert {"Read", "Write", "Edit", "List", "Glob", "Grep", "Delete"} <= names
    assert not {"ReadWire", "WriteWire", "Mkdir", "Restore", "SearchContent"} & names
    path = str(work / "m.py")
    assert tool("Write", path=path, content="def f():\n    return 1\n")["created"] is True
    assert tool("Edit", path=path, old_string="return 1", new_string="return 2")["matchStrategy"] == "exact"
    assert tool("Read", path=path)["content"] == "     1\tdef f():\n     2\t    return 2\n"
    assert tool("Grep", pattern=r"return \d", path=str(work))["total"] == 1
    assert len(tool("Glob", pattern="*.py", path=str(work))["paths"]) == 1
    assert tool("List", path=str(work))["total"] == 1
    assert tool("Delete", path=path)["isDir"] is False
    assert refused(client, "/api/tools/Edit", path=path, old_string="a", new_string="b") == (404, "not_found")
    assert refused(client, "/api/tools/Edit", path=path, old_string="a", new_string="b", extra=1)[0] == 422
    assert refused(client, "/api/tools/ReadWire", path=path)[0] == 404


@pytest.mark.req("C19")
def test_files_belong_to_the_services_account_and_scripts_are_not_executable(client: Client, work: Path) -> None:
    client.post("/api/fs/write", path=str(work / "s.sh"), content="#!/bin/sh\n")
    info = (work / "s.sh").stat()
    assert (info.st_uid, info.st_gid) == (work.stat().st_uid, work.stat().st_gid)
    assert info.st_mode & 0o111 == 0


@pytest.mark.req("C6")
def test_a_thousand_entries_are_listed_in_order(client: Client, work: Path) -> None:
    for number in range(1000):
        (work / f"f{number:04}").touch()
    entries = client.post("/api/fs/list", path=str(work))["entries"]
    assert [entry["name"] for entry in entries] == [f"f{number:04}" for number in range(1000)]
