"""Which hosts and origins may speak to the service: as wide as the extension needs and no wider."""

from __future__ import annotations

import pytest

from handrail.api.edge.body import check_body
from handrail.api.edge.head import Head, bearer, host_name, read_head
from handrail.api.edge.public import is_public
from handrail.api.edge.rules import check_host, check_origin
from handrail.api.system.errors import ForbiddenDirectory
from handrail.api.system.workdir import check_allowed

EXTENSION = "chrome-extension://" + "abcdefghijklmnop" * 2


@pytest.mark.req("ATK-48", "PF-A3", "B8")
@pytest.mark.parametrize("host", ["127.0.0.1:18910", "localhost", "localhost:19000", "[::1]:18910", "[::1]", "127.0.0.1", "box.example:1"])
def test_loopback_names_and_configured_names_are_served_on_any_port(host: str) -> None:
    assert check_host(Head(host=host, hosts=1), frozenset({"box.example"})) is None


@pytest.mark.req("ATK-48", "PF-A3", "B8")
@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "evil.example:18910", "0.0.0.0:18910", "127.0.0.1.evil.example", "127.0.0.1:x", "127.0.0.1:18910:1",
     "[::1", "[::]", "localhost.", "127.1", "127.0.0.1@evil.example", "a" * 5000],
)  # fmt: skip
def test_other_host_names_are_misdirected(host: str) -> None:
    error = check_host(Head(host=host, hosts=1), frozenset())
    assert error is not None
    assert error.status == 421


def test_two_host_fields_are_refused() -> None:
    head = read_head([(b"host", b"127.0.0.1"), (b"host", b"127.0.0.1")])
    error = check_host(head, frozenset())
    assert error is not None
    assert error.status == 400


@pytest.mark.req("B8")
@pytest.mark.parametrize(
    ("origin", "site"),
    [(None, ""), (None, "none"), (None, "same-origin"), (EXTENSION, "none"), (EXTENSION, "cross-site"), (EXTENSION, ""),
     ("http://127.0.0.1:18910", "same-origin"), ("http://127.0.0.1:18910", "")],
)  # fmt: skip
def test_the_extension_and_our_own_page_may_ask(origin: str | None, site: str) -> None:
    assert check_origin(Head(host="127.0.0.1:18910", origin=origin, fetch_site=site), navigation=False) is None


@pytest.mark.req("ATK-47", "ATK-48", "PF-A1", "PF-A2", "B8", "PG-2")
@pytest.mark.parametrize(
    ("origin", "site"),
    [(None, "cross-site"), (None, "same-site"), ("null", "cross-site"), ("null", ""), ("http://evil.example", "cross-site"),
     ("http://localhost:18910", "same-site"), ("http://127.0.0.1:3000", "same-site"), ("http://127.0.0.1:18910", "cross-site"),
     ("chrome-extension://short", "none"), (EXTENSION + "x", "none"), (EXTENSION + ".evil.example", "none"), ("file://", ""), ("", ""),
     ("moz-extension://abc", "none"), (EXTENSION.upper(), "none")],
)  # fmt: skip
def test_web_pages_and_other_origins_are_refused(origin: str | None, site: str) -> None:
    error = check_origin(Head(host="127.0.0.1:18910", origin=origin, fetch_site=site), navigation=False)
    assert error is not None
    assert error.status == 403


def test_a_link_may_lead_to_the_page_but_not_to_the_api() -> None:
    head = Head(host="127.0.0.1:18910", fetch_site="cross-site", fetch_mode="navigate")
    assert check_origin(head, navigation=True) is None
    assert check_origin(head, navigation=False) is not None


@pytest.mark.parametrize(
    ("host", "name"),
    [("a:1", "a"), ("a", "a"), ("[::1]:80", "[::1]"), ("a:", None), (":80", None), ("a:123456", None), ("[::1]x", None)],
)
def test_a_port_is_split_off_only_when_it_is_one(host: str, name: str | None) -> None:
    assert host_name(host) == name


@pytest.mark.parametrize(
    ("text", "token"),
    [("Bearer abc", "abc"), ("bearer  abc ", "abc"), ("Basic abc", None), ("Bearer", None), ("Bearer  ", None), ("", None)],
)
def test_only_the_bearer_scheme_carries_a_token(text: str, token: str | None) -> None:
    assert bearer(text) == token


@pytest.mark.req("B4")
def test_the_public_list_is_short() -> None:
    assert is_public("POST", "/api/pair")
    assert is_public("HEAD", "/api/status")
    assert not is_public("GET", "/api/pair")
    assert not is_public("POST", "/api/status")
    assert not is_public("GET", "/api/status/detail")
    assert not is_public("GET", "/metrics")
    assert not is_public("POST", "/web/app.js")


@pytest.mark.req("ATK-48", "C20", "H7")
@pytest.mark.parametrize(
    ("head", "status"),
    [
        (Head(content_length=10, content_type="text/plain"), 415),
        (Head(content_length=10), 415),
        (Head(chunked=True, content_type="application/x-www-form-urlencoded"), 415),
        (Head(content_length=2_000_000_000, content_type="application/json"), 413),
        (Head(content_length=-1, content_type="application/json"), 400),
        (Head(content_length=10, content_type="application/json; charset=utf-8"), None),
        (Head(content_length=0), None),
        (Head(), None),
    ],
)
def test_bodies_are_judged_before_they_are_read(head: Head, status: int | None) -> None:
    error = check_body(head, "POST", "/api/fs/read", 1000)
    assert (error.status if error else None) == status


@pytest.mark.req("PF-A11")
@pytest.mark.parametrize(
    "path",
    ["/", "/home", "/home/u", "/etc", "/etc/x", "/usr/local/x", "/proc/self", "/root", "/home/u/.handrail", "/home/u/.HANDRAIL/x",
     "/home/u/.ssh", "/home/u/p/.aws/x", "/var", "/tmp"],
)  # fmt: skip
def test_root_home_and_system_directories_can_never_be_a_work_root(path: str) -> None:
    with pytest.raises(ForbiddenDirectory):
        check_allowed(path, home="/home/u", data_dir="/home/u/.handrail")


@pytest.mark.parametrize("path", ["/home/u/project", "/srv/team", "/var/lib/x", "/tmp/x", "/data"])
def test_ordinary_directories_can(path: str) -> None:
    check_allowed(path, home="/home/u", data_dir="/home/u/.handrail")
