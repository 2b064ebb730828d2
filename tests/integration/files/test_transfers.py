"""Uploads and downloads over the wire, against a real service."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import json
import os
import socket
import threading
import time
import zipfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import httpx
import pytest

from tests.demo.client import Client
from tests.demo.embedded import Running
from tests.integration.files.conftest import LIMIT, UPLOAD_LIMIT
from tests.support.wait import until

UP, DOWN = "/api/fs/upload-stream", "/api/fs/download-stream"


@pytest.fixture(scope="module")
def web(client: Client) -> Generator[httpx.Client]:
    """Bare HTTP with the device's token."""
    headers = {"Authorization": f"Bearer {client.token}"}
    with httpx.Client(base_url=client.url, headers=headers, timeout=60, trust_env=False) as it:
        yield it


def refusal(answer: httpx.Response) -> tuple[int, str]:
    body = answer.json()
    assert body["success"] is False
    return answer.status_code, body["code"]


def half_sent(client: Client, target: str, announced: int, sent: bytes) -> None:
    """An upload whose sender goes away."""
    head = (
        f"POST {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {client.token}\r\n"
        f"Content-Type: application/octet-stream\r\nContent-Length: {announced}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", urlsplit(client.url).port or 0), timeout=10) as sock:
        sock.sendall(head.encode() + sent)
        # sent and received, so that it is the middle of an upload that ends and not its start
        until(lambda: uploads_running(client) > 0, what="the upload runs")


def uploads_running(client: Client) -> int:
    rows = client.get("/api/logs", limit=200)["entries"]
    minted = {row["tokenId"] for row in rows if row.get("tool") in {"Upload", "UploadPart"} and row["action"] == "minted"}
    ended = {row["tokenId"] for row in rows if row.get("tool") in {"Upload", "UploadPart"} and row["action"] == "upload"}
    return len(minted - ended)


def settled(client: Client) -> None:
    until(lambda: uploads_running(client) == 0, what="every upload has its outcome row")


# --- up ---


@pytest.mark.req("C9", "TR-1")
def test_a_stream_becomes_a_file_with_its_hash(web: httpx.Client, work: Path) -> None:
    data = os.urandom(700_000)
    answer = web.post(UP, params={"path": str(work / "new" / "ü b.bin")}, content=data).json()
    assert (answer["success"], answer["size"], answer["path"]) == (True, len(data), str(work / "new" / "ü b.bin"))
    assert answer["sha256"] == hashlib.sha256(data).hexdigest()
    assert (work / "new" / "ü b.bin").read_bytes() == data
    assert web.post(UP, params={"path": str(work / "new" / "ü b.bin")}, content=b"").json()["size"] == 0
    assert (work / "new" / "ü b.bin").read_bytes() == b""


@pytest.mark.req("PF-B2", "C9", "TR-1")
def test_an_upload_that_breaks_off_leaves_the_old_file_and_nothing_else(client: Client, work: Path) -> None:
    (work / "keep.txt").write_text("precious")
    half_sent(client, f"{UP}?path={quote(str(work / 'keep.txt'))}", 100_000, b"x" * 50)
    settled(client)
    assert (work / "keep.txt").read_text() == "precious"
    assert os.listdir(work) == ["keep.txt"]


@pytest.mark.req("C9", "C20", "TR-2")
def test_the_limit_holds_for_what_is_announced_and_for_what_comes(web: httpx.Client, client: Client, work: Path) -> None:
    (work / "f").write_text("old")
    target = f"{UP}?path={quote(str(work / 'f'))}"
    head = (
        f"POST {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {client.token}\r\nContent-Length: {UPLOAD_LIMIT + 1}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", urlsplit(client.url).port or 0), timeout=10) as sock:
        sock.sendall(head.encode())  # and not one byte of the body
        answer = b""
        while b"upload.too_large" not in answer and (more := sock.recv(65536)):
            answer += more
    assert answer.startswith(b"HTTP/1.1 413 ")

    def endless() -> Iterator[bytes]:
        for _ in range(2 * UPLOAD_LIMIT // 100_000):
            yield bytes(100_000)

    with contextlib.suppress(httpx.TransportError):  # closed while we were still sending: that is the refusal too
        assert refusal(web.post(target, content=endless())) == (413, "upload.too_large")
    settled(client)
    assert (work / "f").read_text() == "old"
    assert os.listdir(work) == ["f"]


@pytest.mark.req("C9", "TR-1")
def test_a_hash_that_differs_changes_nothing(web: httpx.Client, work: Path) -> None:
    (work / "f").write_text("old")
    answer = web.post(UP, params={"path": str(work / "f"), "sha256": "0" * 64}, content=b"new")
    assert refusal(answer) == (422, "upload.hash")
    assert (work / "f").read_text() == "old"
    good = hashlib.sha256(b"new").hexdigest().upper()
    assert web.post(UP, params={"path": str(work / "f"), "sha256": good}, content=b"new").status_code == 200
    assert refusal(web.post(UP, params={"path": str(work / "f"), "overwrite": "false"}, content=b"x")) == (409, "exists")
    assert (work / "f").read_text() == "new"


@pytest.mark.req("C9", "TR-3")
def test_a_broken_upload_goes_on_where_it_stopped(web: httpx.Client, client: Client, work: Path) -> None:
    data = os.urandom(300_000)
    query = {"path": str(work / "big"), "uploadId": "resume-me-1", "total": str(len(data)), "sha256": hashlib.sha256(data).hexdigest()}
    target = UP + "?" + "&".join(f"{name}={quote(value)}" for name, value in query.items())
    half_sent(client, target, len(data), data[:100_000])
    settled(client)
    assert not (work / "big").exists()
    known = web.get(UP, params={"uploadId": "resume-me-1"}).json()
    assert (known["path"], known["total"]) == (str(work / "big"), len(data))
    begun = known["offset"]
    assert 0 < begun <= 100_000
    wrong = web.post(UP, params=query | {"offset": str(begun + 1)}, content=b"x")
    assert refusal(wrong) == (409, "upload.offset")
    assert wrong.json()["offset"] == begun
    middle = web.post(UP, params=query | {"offset": str(begun)}, content=data[begun:200_000]).json()
    assert (middle["complete"], middle["offset"]) == (False, 200_000)
    assert not (work / "big").exists()
    last = web.post(UP, params=query | {"offset": "200000"}, content=data[200_000:]).json()
    assert (last["complete"], last["size"]) == (True, len(data))
    assert (work / "big").read_bytes() == data
    assert refusal(web.get(UP, params={"uploadId": "resume-me-1"})) == (404, "upload.unknown")


@pytest.mark.req("C9", "TR-3")
def test_an_unfinished_upload_can_be_dropped_and_its_wrong_hash_is_found_at_the_end(web: httpx.Client, work: Path) -> None:
    query = {"path": str(work / "f"), "uploadId": "drop-me-01", "total": "6", "sha256": "0" * 64}
    assert web.post(UP, params=query, content=b"abc").json()["offset"] == 3
    assert web.delete(UP, params={"uploadId": "drop-me-01"}).status_code == 200
    assert refusal(web.delete(UP, params={"uploadId": "drop-me-01"})) == (404, "upload.unknown")
    assert web.post(UP, params=query, content=b"abc").json()["offset"] == 3
    assert refusal(web.post(UP, params=query | {"offset": "3"}, content=b"def")) == (422, "upload.hash")
    assert refusal(web.get(UP, params={"uploadId": "drop-me-01"})) == (404, "upload.unknown")
    assert os.listdir(work) == []


@pytest.mark.req("ATK-21", "ATK-22", "ATK-23", "C1", "TR-1")
@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("", 400, "invalid_path"),
        ("../../outside", 403, "out_of_bounds"),
        ("/etc/cron.d/x", 403, "out_of_bounds"),
        ("{work}/out/x", 403, "out_of_bounds"),
        ("{work}/d", 400, "not_a_file"),
        ("{work}/fifo", 400, "unsupported_target"),
        ("{work}/a\0b", 400, "invalid_path"),
        ("{work}/" + "n" * 300, 400, "invalid_path"),
    ],
)
def test_an_upload_lands_beneath_the_root_or_nowhere(web: httpx.Client, work: Path, path: str, status: int, code: str) -> None:
    (work / "d").mkdir()
    (work / "out").symlink_to("/tmp")
    os.mkfifo(work / "fifo")
    before = sorted(os.listdir(work))
    assert refusal(web.post(UP, params={"path": path.format(work=work)}, content=b"x")) == (status, code)
    assert sorted(os.listdir(work)) == before


@pytest.mark.req("TR-2")
def test_a_user_has_so_many_transfers_at_once_and_no_more(web: httpx.Client, client: Client, work: Path) -> None:
    release = threading.Event()
    ninth = {"path": str(work / "ninth")}

    def slow() -> Iterator[bytes]:
        yield b"x"
        release.wait(30)
        yield b"y"

    threads = [
        threading.Thread(
            target=lambda number=number: httpx.post(
                f"{client.url}{UP}",
                params={"path": str(work / f"f{number}")},
                content=slow(),
                headers=web.headers,
                timeout=60,
                trust_env=False,
            )
        )
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    try:
        until(lambda: uploads_running(client) == 8, what="eight uploads run")
        # the last of the eight has its row before it has its place
        until(lambda: web.post(UP, params=ninth, content=b"x").status_code == 429, what="the ninth is refused")
        answer = web.post(UP, params=ninth, content=b"x")
        assert refusal(answer) == (429, "transfer.busy")
        assert answer.headers["retry-after"]
    finally:
        release.set()
        for thread in threads:
            thread.join()
    assert set(os.listdir(work)) - {"ninth"} == {f"f{number}" for number in range(8)}
    assert web.post(UP, params={"path": str(work / "ninth")}, content=b"x").status_code == 200


# --- down ---


@pytest.mark.req("C10", "TR-5")
def test_a_file_comes_with_its_length_name_and_type(web: httpx.Client, work: Path) -> None:
    name = '中 "ü" é.txt'
    (work / name).write_text("x" * 100)
    answer = web.post(DOWN, json={"path": str(work / name)})
    assert (answer.status_code, answer.content) == (200, b"x" * 100)
    assert answer.headers["content-length"] == "100"
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.headers["x-content-type-options"] == "nosniff"
    shown = answer.headers["content-disposition"]
    assert shown.startswith("attachment; ")
    assert unquote(shown.partition("filename*=UTF-8''")[2]) == name
    assert answer.headers["cache-control"] == "no-cache"


@pytest.mark.req("C10", "TR-5")
@pytest.mark.parametrize(
    ("asked", "status", "span"),
    [
        ("bytes=0-9", 206, (0, 10)),
        ("bytes=990-", 206, (990, 1000)),
        ("bytes=-10", 206, (990, 1000)),
        ("bytes=500-99999", 206, (500, 1000)),
        ("bytes=-99999", 206, (0, 1000)),
        ("bytes=1000-", 416, None),
        ("bytes=-0", 416, None),
        ("bytes=9-5", 200, (0, 1000)),
        ("bytes=0-1,5-6", 200, (0, 1000)),
        ("lines=1-2", 200, (0, 1000)),
        ("bytes=", 200, (0, 1000)),
    ],
)
def test_ranges_are_answered_as_the_standard_says(
    web: httpx.Client, work: Path, asked: str, status: int, span: tuple[int, int] | None
) -> None:
    data = bytes(index % 251 for index in range(1000))
    (work / "f").write_bytes(data)
    answer = web.get(DOWN, params={"path": str(work / "f")}, headers={"Range": asked})
    assert answer.status_code == status
    if span is None:
        assert refusal(answer) == (416, "range")
        assert answer.headers["content-range"] == "bytes */1000"
        return
    assert answer.content == data[slice(*span)]
    if status == 206:
        assert answer.headers["content-range"] == f"bytes {span[0]}-{span[1] - 1}/1000"


@pytest.mark.req("C10", "TR-5")
def test_a_tag_changes_with_the_file_and_a_stale_range_gets_the_whole(web: httpx.Client, work: Path) -> None:
    (work / "f").write_text("first")
    ask = {"path": str(work / "f")}
    tag = web.get(DOWN, params=ask).headers["etag"]
    assert web.get(DOWN, params=ask, headers={"If-None-Match": tag}).status_code == 304
    assert web.get(DOWN, params=ask, headers={"Range": "bytes=1-2", "If-Range": tag}).content == b"ir"
    (work / "f").write_text("other")
    assert web.get(DOWN, params=ask).headers["etag"] != tag
    assert web.get(DOWN, params=ask, headers={"If-None-Match": tag}).status_code == 200
    assert web.get(DOWN, params=ask, headers={"Range": "bytes=1-2", "If-Range": tag}).content == b"other"


def unzipped(raw: bytes) -> dict[str, bytes]:
    archive = zipfile.ZipFile(io.BytesIO(raw))
    assert archive.testzip() is None
    return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.req("PF-B7", "C10", "TR-4")
def test_several_places_from_different_directories_are_all_in_the_archive(web: httpx.Client, work: Path) -> None:
    (work / "deep" / "x").mkdir(parents=True)
    (work / "empty").mkdir()
    (work / "b.bin").write_bytes(b"\0" * 70_000)
    (work / "deep" / "x" / "y.sh").write_text("#!/bin/sh\n")
    (work / "deep" / "b.bin").write_text("another of the same name")
    (work / "中.txt").write_text("text")
    paths = ["b.bin", "deep/x/y.sh", "deep/b.bin", "empty", "中.txt", "b.bin"]
    answer = web.post(DOWN, json={"paths": [str(work / path) for path in paths]})
    assert answer.headers["content-length"] == str(len(answer.content))
    assert unzipped(answer.content) == {
        "b.bin": b"\0" * 70_000,
        "deep/x/y.sh": b"#!/bin/sh\n",
        "deep/b.bin": b"another of the same name",
        "empty/": b"",
        "中.txt": b"text",
    }
    assert unquote(answer.headers["content-disposition"].partition("''")[2]).startswith("workspace_20")


@pytest.mark.req("ATK-22", "C1", "TR-4")
def test_a_directory_is_an_archive_without_what_leads_outside(web: httpx.Client, work: Path) -> None:
    (work / "d").mkdir()
    (work / "d" / "f").write_text("x")
    (work / "d" / "in").symlink_to("f")
    (work / "d" / "out").symlink_to("/etc/passwd")
    (work / "d" / "loop").symlink_to(".")
    os.mkfifo(work / "d" / "fifo")
    answer = web.post(DOWN, json={"path": str(work / "d")})
    assert unzipped(answer.content) == {"d/": b"", "d/f": b"x", "d/in": b"x"}
    assert answer.headers["x-handrail-skipped"] == "3"
    assert unquote(answer.headers["content-disposition"]).endswith("d.zip")


@pytest.mark.req("TR-5", "ATK-21", "ATK-23")
def test_downloads_are_refused_like_reads(web: httpx.Client, work: Path) -> None:
    os.mkfifo(work / "fifo")
    (work / "f").write_text("x")
    expected: list[tuple[dict[str, Any], int, str]] = [
        ({"path": str(work / "nowhere")}, 404, "not_found"),
        ({"path": "/etc/passwd"}, 403, "out_of_bounds"),
        ({"path": str(work / "fifo")}, 400, "unsupported_target"),
        ({"paths": [str(work / "f"), "/etc/passwd"]}, 403, "out_of_bounds"),
        ({"paths": [str(work / "f"), str(work / "nowhere")]}, 404, "not_found"),
        ({"paths": []}, 400, "paths_missing"),
        ({}, 400, "invalid_path"),
    ]
    for body, status, code in expected:
        assert refusal(web.post(DOWN, json=body)) == (status, code), body


@pytest.mark.req("PF-C6", "TR-6")
def test_a_download_inside_of_json_is_the_same_bytes(web: httpx.Client, work: Path) -> None:
    data = os.urandom(200_001)
    (work / "d").mkdir()
    (work / "d" / "f.png").write_bytes(data)
    one = web.post("/api/fs/download", json={"path": str(work / "d" / "f.png")})
    body = one.json()
    assert one.headers["content-length"] == str(len(one.content))
    assert (body["success"], body["type"], body["name"], body["size"], body["mimeType"]) == (True, "file", "f.png", len(data), "image/png")
    assert base64.b64decode(body["content"], validate=True) == data
    folder = web.post("/api/fs/download", json={"path": str(work / "d")}).json()
    assert (folder["type"], folder["name"], folder["mimeType"]) == ("directory", "d.zip", "application/zip")
    assert unzipped(base64.b64decode(folder["content"])) == {"d/": b"", "d/f.png": data}
    several = web.post("/api/fs/download-multi", json={"paths": [str(work / "d" / "f.png")]}).json()
    assert several["type"] == "archive"
    assert unzipped(base64.b64decode(several["content"])) == {"f.png": data}
    (work / "large").write_bytes(bytes(LIMIT + 1))
    assert refusal(web.post("/api/fs/download", json={"path": str(work / "large")})) == (413, "too_large")


@pytest.mark.req("TR-5")
def test_a_reader_that_goes_away_gives_its_place_back(web: httpx.Client, work: Path) -> None:
    with (work / "large").open("wb") as file:
        file.truncate(1 << 30)
    for _ in range(20):
        with web.stream("POST", DOWN, json={"path": str(work / "large")}) as answer:
            assert answer.status_code == 200
            next(answer.iter_raw())

    def fits() -> bool:
        return web.get(DOWN, params={"path": str(work / "large")}, headers={"Range": "bytes=0-0"}).status_code == 206

    until(fits, what="a place is free")


# --- forms ---


def form(web: httpx.Client, raw: bytes, content_type: str) -> httpx.Response:
    return web.post("/api/files/upload", content=raw, headers={"Content-Type": content_type})


@pytest.mark.req("PF-B14", "C12", "TR-8")
def test_a_form_stores_its_file_under_a_free_clean_name(web: httpx.Client, handrail: Running) -> None:
    names: list[Path] = []
    try:
        for content in (b"first", b"", b"--x\r\nContent-Disposition: form-data\r\n\r\nlooks like a boundary"):
            answer = web.post("/api/files/upload", files={"file": ('../../we"ird.tar.gz', content)}).json()
            names.append(Path(answer["path"]))
            assert (answer["name"], answer["size"]) == ("we_ird.tar.gz", len(content))
            assert names[-1].read_bytes() == content
            assert names[-1].parent == handrail.workdir
        assert [path.name for path in names] == ["we_ird.tar.gz", "we_ird.tar_1.gz", "we_ird.tar_2.gz"]
    finally:
        for path in names:
            path.unlink(missing_ok=True)


@pytest.mark.req("PF-B14", "TR-8")
def test_the_same_name_at_the_same_time_is_two_files(web: httpx.Client, client: Client, handrail: Running) -> None:
    got: list[dict[str, Any]] = []

    def send(number: int) -> None:
        files = {"file": ("same.txt", f"{number}".encode())}
        got.append(httpx.post(f"{client.url}/api/files/upload", files=files, headers=web.headers, timeout=60, trust_env=False).json())

    threads = [threading.Thread(target=send, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    paths = [Path(answer["path"]) for answer in got]
    try:
        assert sorted(path.read_text() for path in paths) == [str(number) for number in range(8)]
    finally:
        for path in paths:
            path.unlink()


@pytest.mark.req("PF-B14", "ATK-26", "TR-8")
def test_boundaries_may_be_quoted_and_fields_may_come_first(web: httpx.Client, handrail: Running) -> None:
    raw = (
        b'--a b\r\nContent-Disposition: form-data; name="note"\r\n\r\nhello\r\n'
        b'--a b\r\nContent-Disposition: form-data; name="file"; filename="q.txt"\r\nContent-Type: text/plain\r\n\r\nbody\r\n--a b--\r\n'
    )
    answer = form(web, raw, 'multipart/form-data; boundary="a b"').json()
    assert Path(answer["path"]).read_bytes() == b"body"
    Path(answer["path"]).unlink()
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'
    before = sorted(os.listdir(handrail.workdir))
    for bad, code in [
        (b"", "form"),
        (b"--x--\r\n", "form"),
        (b"no form at all", "form"),
        (head + b"cut", "form"),
        (head + b"one\r\n" + head + b"two\r\n--x--\r\n", "form"),
        (b'--x\r\nContent-Disposition: form-data; name="note"\r\n\r\nno file\r\n--x--\r\n', "form"),
        (b'--x\r\nContent-Disposition: form-data; name="file"; filename=""\r\n\r\n\r\n--x--\r\n', "form"),
    ]:
        assert refusal(form(web, bad, "multipart/form-data; boundary=x")) == (400, code), bad
    assert refusal(form(web, head, "multipart/form-data")) == (400, "form")
    assert refusal(form(web, head, "text/plain")) == (415, "request.content_type")
    assert sorted(os.listdir(handrail.workdir)) == before


# --- looking, and the record ---


@pytest.mark.req("PF-B15", "C11", "TR-9")
def test_what_is_no_spreadsheet_is_not_shown_as_one(web: httpx.Client, work: Path) -> None:
    (work / "b.xlsx").write_bytes(os.urandom(1000))
    (work / "t.xlsx").write_text("a,b\n1,2\n")
    with zipfile.ZipFile(work / "z.xlsx", "w") as file:
        file.writestr("hello.txt", "no sheet")
    for name in ("b.xlsx", "t.xlsx", "z.xlsx"):
        assert refusal(web.post("/api/fs/preview-xlsx", json={"path": str(work / name)})) == (415, "not_spreadsheet")
    assert refusal(web.post("/api/fs/preview-xlsx", json={"path": str(work / "none")})) == (404, "not_found")


@pytest.mark.req("TR-10")
def test_only_what_a_desktop_shows_is_opened_and_only_where_there_is_one(web: httpx.Client, work: Path) -> None:
    (work / "page.html").write_text("<p>hello")
    (work / "run.desktop").write_text("[Desktop Entry]\nExec=touch /tmp/x\n")
    (work / "script.html").write_text("#!/bin/sh\n")
    (work / "script.html").chmod(0o755)
    for name, expected in {
        "page.html": (409, "browser.no_desktop"),
        "run.desktop": (415, "browser.type"),
        "script.html": (415, "browser.type"),
        "none.html": (404, "not_found"),
    }.items():
        assert refusal(web.post("/api/browser/open", json={"path": str(work / name)})) == expected
    assert refusal(web.post("/api/browser/open", json={"path": "/etc/passwd"})) == (403, "out_of_bounds")


@pytest.mark.req("TR-11", "A19")
def test_every_transfer_is_in_the_record_before_and_after(web: httpx.Client, client: Client, work: Path) -> None:
    web.post(UP, params={"path": str(work / "audited")}, content=b"SECRET-CONTENT")
    web.post(DOWN, json={"path": str(work / "audited")})

    def rows() -> list[dict[str, Any]]:
        return [row for row in client.get("/api/logs", limit=50, category="fs")["entries"] if str(work / "audited") in json.dumps(row)]

    until(lambda: any(row["action"] == "download" for row in rows()), what="reads reach the table")
    assert {(row["tool"], row["action"]) for row in rows()} == {("Upload", "minted"), ("Upload", "upload"), ("Download", "download")}
    assert "SECRET-CONTENT" not in json.dumps(rows())


@pytest.mark.req("B3", "TR-2")
def test_a_slow_upload_does_not_hold_up_the_others(web: httpx.Client, client: Client, work: Path) -> None:
    release = threading.Event()

    def slow() -> Iterator[bytes]:
        yield b"x"
        release.wait(30)

    thread = threading.Thread(
        target=lambda: httpx.post(
            f"{client.url}{UP}", params={"path": str(work / "slow")}, content=slow(), headers=web.headers, timeout=60, trust_env=False
        )
    )
    thread.start()
    try:
        until(lambda: uploads_running(client) == 1, what="the slow upload runs")
        begun = time.monotonic()
        for number in range(20):
            client.post("/api/fs/write", path=str(work / f"w{number}"), content="x")
        assert time.monotonic() - begun < 10
    finally:
        release.set()
        thread.join()
