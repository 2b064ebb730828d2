"""Whatever a client sends, the answer says what is wrong with it: a 4xx with a code and a text, never a trace."""

from __future__ import annotations

import atexit
import json
import re
import socket
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.demo.client import Client
from tests.demo.embedded import Running
from tests.integration.api.routes import Route, all_routes

MB = 1024 * 1024
HTTP = httpx.Client(timeout=60, trust_env=False)
atexit.register(HTTP.close)
QUICK_S = 10  # ten megabytes that are refused: parsed once, looked at no further; generous for a busy machine
CJK = re.compile(r"[\u4e00-\u9fff]")
TRACE = ("Traceback", 'File "', "site-packages", "handrail/", "Error at 0x")
WRONG_VALUES: list[Any] = [None, True, 1.5, -1, "", [], {}, [1, "x"], {"a": {"b": 1}}, "\x00", "a\x00b", "\ud7ff\uffff", 2**60]
# text may hold a NUL and may be long here: it is content, not a name
FREE_TEXT = {("/api/fs/write", "content"), ("/api/tools/{name}", "content")}
# the wire wants 200 with success=false for an id that is not there, whatever it looks like
ALWAYS_200 = {("/api/exec/stop", "execId")}
NOT_JSON_BODIES = [
    b"{",
    b"nul",
    b"\xff\xfe{}",
    b'{"a": "\xff"}',
    b'{"a": NaN}',
    b'{"a": Infinity}',
    b"{'a': 1}",
    b"[" * 100_000,
    b'{"a": "\\ud800"}',
    b"\x00",
]
NOT_OBJECTS = [b"null", b"[]", b"[{}]", b'"text"', b"1", b"true", b"1.5"]


def send(handrail: Running, client: Client, route: Route, raw: bytes, **headers: str) -> httpx.Response:
    every = {"Authorization": f"Bearer {client.token}", "Content-Type": "application/json", **headers}
    return HTTP.request(route.method, handrail.url + route.url, content=raw, headers=every)


def check(answer: httpx.Response, *, lang: str = "en") -> None:
    """A refusal that a caller and its user can act on."""
    assert 400 <= answer.status_code < 500, (answer.status_code, answer.text[:500])
    body = answer.json()
    assert body["success"] is False
    assert re.fullmatch(r"[a-z0-9_]+(\.[a-z0-9_]+)*", body["code"]), body
    assert body["status"] == answer.status_code
    assert body["error"].strip()
    assert bool(CJK.search(body["error"])) == (lang == "zh"), body["error"]
    assert [mark for mark in TRACE if mark in answer.text] == []


def good_body(route: Route) -> dict[str, Any]:
    """A body of the right types that asks for nothing dangerous."""
    return {name: _good_value(name, spec) for name, spec in (route.fields or {}).items() if name in route.required}


def _good_value(name: str, spec: dict[str, Any]) -> Any:
    kinds = {"string": "x", "integer": 1, "number": 1, "boolean": False, "array": [], "object": {}}
    return {"command": "true", "path": "nothing-here"}.get(name, kinds.get(spec.get("type", "string"), "x"))


@pytest.mark.req("BAD-1", "PF-B16", "PG-9")
@pytest.mark.parametrize("raw", NOT_OBJECTS, ids=lambda raw: raw.decode())
def test_a_body_that_is_no_object_is_refused(handrail: Running, client: Client, body_route: Route, raw: bytes) -> None:
    check(send(handrail, client, body_route, raw))


@pytest.mark.req("BAD-1", "H3")
@pytest.mark.parametrize("raw", NOT_JSON_BODIES, ids=lambda raw: repr(raw[:12]))
def test_a_body_that_is_no_json_is_refused(handrail: Running, client: Client, body_route: Route, raw: bytes) -> None:
    answer = send(handrail, client, body_route, raw)
    check(answer)
    assert answer.status_code == 400


@pytest.mark.req("BAD-1", "H3")
def test_duplicate_keys_are_refused(handrail: Running, client: Client, body_route: Route) -> None:
    name = next(iter(body_route.fields or {}), "path")
    check(send(handrail, client, body_route, f'{{"{name}": "a", "{name}": "b"}}'.encode()))


@pytest.mark.req("BAD-1")
def test_a_field_of_the_wrong_type_is_refused_by_name(handrail: Running, client: Client, body_route: Route) -> None:
    for name in body_route.required:
        wrong = {"deeply": [{"wrong": None}]}
        answer = send(handrail, client, body_route, json.dumps({**good_body(body_route), name: wrong}).encode())
        check(answer)
        assert answer.status_code == 422
        assert name in answer.json()["error"]


@pytest.mark.req("BAD-1", "PF-B16")
def test_no_value_of_any_field_is_a_server_error(handrail: Running, client: Client, body_route: Route) -> None:
    for name in body_route.fields or {}:
        for value in WRONG_VALUES:
            raw = json.dumps({**good_body(body_route), name: value}).encode()
            answer = send(handrail, client, body_route, raw)
            assert answer.status_code < 500, (name, value, answer.text[:500])
            if answer.status_code >= 400:
                check(answer)


@pytest.mark.req("BAD-1", "ATK-26")
def test_a_nul_in_a_name_or_command_is_refused(handrail: Running, client: Client, body_route: Route) -> None:
    for name in ("path", "pattern", "command", "cwd", "newName", "destDir", "trashId", "execId", "workdir", "code"):
        if name in (body_route.fields or {}) and (body_route.path, name) not in FREE_TEXT | ALWAYS_200:
            raw = json.dumps({**good_body(body_route), name: "a\x00b"}).encode()
            check(send(handrail, client, body_route, raw))


@pytest.mark.req("BAD-1")
def test_ten_megabytes_in_a_name_or_command_are_refused(handrail: Running, client: Client, body_route: Route) -> None:
    long = "x" * (10 * MB)
    for name, spec in (body_route.fields or {}).items():
        if _is_text(spec) and (body_route.path, name) not in FREE_TEXT:
            raw = json.dumps({**good_body(body_route), name: long}).encode()
            begun = time.monotonic()
            answer = send(handrail, client, body_route, raw)
            check(answer)
            assert time.monotonic() - begun < QUICK_S, name
            assert len(answer.content) < 2000, f"{name}: the value is not repeated"


def _is_text(spec: dict[str, Any]) -> bool:
    kinds = [spec.get("type"), *(option.get("type") for option in spec.get("anyOf", ()))]
    return "string" in kinds and "enum" not in spec


@pytest.mark.req("BAD-1", "ATK-48")
@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonx", ""]
)
def test_a_body_of_another_type_is_415(handrail: Running, client: Client, body_route: Route, content_type: str) -> None:
    answer = send(handrail, client, body_route, b"{}", **{"Content-Type": content_type})
    check(answer)
    assert answer.status_code == 415


@pytest.mark.req("BAD-1", "L19")
def test_messages_come_in_the_language_of_the_request(handrail: Running, client: Client, body_route: Route) -> None:
    check(send(handrail, client, body_route, b"[]", **{"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.5"}), lang="zh")
    check(send(handrail, client, body_route, b"[]", **{"Accept-Language": "en-GB"}), lang="en")


@pytest.mark.req("BAD-1")
def test_a_method_that_the_path_does_not_have_is_405(handrail: Running, client: Client, route: Route) -> None:
    has = {other.method for other in all_routes() if other.path == route.path}
    for method in {"PUT", "DELETE", "PATCH"} - has:
        answer = HTTP.request(method, handrail.url + route.url, headers={"Authorization": f"Bearer {client.token}"})
        check(answer)
        assert answer.status_code == 405
        assert has & set(answer.headers["allow"].split(", "))


@pytest.mark.req("BAD-1", "H7", "C20")
def test_a_body_over_the_limit_is_refused_before_it_is_read(handrail: Running, client: Client) -> None:
    head = (
        f"POST /api/fs/write HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {client.token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {2 * 1024 * MB}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", urlsplit(handrail.url).port or 0), timeout=10) as sock:
        sock.sendall(head.encode())  # and not one byte of the body
        answer = b""
        while b"request.too_large" not in answer and (more := sock.recv(65536)):  # head and body may come apart
            answer += more
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"request.too_large" in answer


@pytest.mark.req("BAD-1", "H7", "C20")
def test_a_body_in_chunks_is_cut_off_at_the_limit(handrail: Running, client: Client) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(100):
            yield b" " * MB

    headers = {"Authorization": f"Bearer {client.token}", "Content-Type": "application/json"}
    try:
        answer = HTTP.post(f"{handrail.url}/api/fs/write", content=chunks(), headers=headers)
    except httpx.TransportError:
        return  # the service closed the connection while we were still sending: that is the refusal too
    check(answer)
    assert answer.status_code == 413
