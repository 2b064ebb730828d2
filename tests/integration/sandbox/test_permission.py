"""A call without exactly its permission does nothing."""

from __future__ import annotations

import base64
import concurrent.futures
import json
import signal
import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from handrail.contract import sandbox as wire
from handrail.kit.canonical import sha256
from tests.support.sandbox import KID, Box, running_box


def marker(box: Box, name: str) -> tuple[dict[str, Any], Any]:
    path = box.work / name
    return box.arguments(f"touch {path.name}"), path


@pytest.mark.req("SBX-1", "ATK-41", "ATK-42")
@pytest.mark.parametrize(
    ("name", "claims"),
    [
        ("audience", {"aud": "files"}),
        ("audience list", {"aud": ["sandbox", "files"]}),
        ("issuer", {"iss": "somebody"}),
        ("tool", {"tool": "ProcessStop"}),
        ("tier", {"tier": "low"}),
        ("unknown tier", {"tier": "top", "exp": int(time.time()) + 30}),
        ("expired", {"iat": int(time.time()) - 60, "exp": int(time.time()) - 31}),
        ("future", {"iat": int(time.time()) + 600, "exp": int(time.time()) + 630}),
        ("long life", {"exp": int(time.time()) + 3600}),
        ("arguments", {"args": sha256({"command": "true"})}),
        ("older than the store", {"iat": int(time.time()) - 25}),
    ],
)
def test_a_token_for_something_else_is_refused_and_nothing_happens(box: Box, name: str, claims: dict[str, Any]) -> None:
    arguments, path = marker(box, f"made-{name.replace(' ', '-')}")
    answer = box.post(wire.PATH_RUN, {"token": box.token("Bash", arguments, **claims), "arguments": arguments})
    assert (answer.status, answer.json()["code"]) == (403, "token.refused")
    assert not path.exists()


@pytest.mark.req("SBX-1", "ATK-41")
def test_a_forged_token_is_refused_whatever_its_header_says(box: Box) -> None:
    arguments, path = marker(box, "forged")
    good = box.token("Bash", arguments)
    head, body, mac = good.split(".")
    none = base64.urlsafe_b64encode(json.dumps({"alg": "none", "typ": "JWT", "kid": KID}).encode()).rstrip(b"=").decode()
    claims = jwt.decode(good, options={"verify_signature": False})
    forged = [
        box.token("Bash", arguments, key=Ed25519PrivateKey.generate()),
        box.token("Bash", arguments, headers={"crit": ["x"], "x": 1}),
        box.token("Bash", arguments, headers={"kid": "../../etc/passwd"}),
        f"{none}.{body}.",
        f"{none}.{body}.{mac}",
        f"{head}.{body}.",
        f"{head}.{body}.{mac[:-4]}AAAA",
        jwt.encode(claims, box.key.public_key().public_bytes_raw(), algorithm="HS256", headers={"kid": KID}),
        "",
        "a.b.c",
        "x" * 5000,
    ]
    for token in forged:
        assert box.post(wire.PATH_RUN, {"token": token, "arguments": arguments}).status == 403, token
    assert not path.exists()


@pytest.mark.req("SBX-1", "ATK-41")
@pytest.mark.parametrize("field", ["command", "cwd", "root", "extra_roots", "timeout_ms", "wait"])
def test_each_argument_is_bound_by_the_token(box: Box, field: str) -> None:
    arguments, path = marker(box, f"bound-{field}")
    token = box.token("Bash", arguments)
    other: dict[str, Any] = {
        "command": f"touch {path.name} && true",
        "cwd": str(box.base),
        "root": str(box.base),
        "extra_roots": [str(box.base)],
        "timeout_ms": 29_999,
        "wait": False,
    }
    assert box.post(wire.PATH_RUN, {"token": token, "arguments": arguments | {field: other[field]}}).status == 403
    assert box.post(wire.PATH_RUN, {"token": token, "arguments": arguments | {"more": 1}}).status == 403
    assert not path.exists()


@pytest.mark.req("SBX-2", "ATK-41", "ATK-61")
def test_of_a_hundred_parallel_uses_of_one_token_exactly_one_runs_also_after_sigkill() -> None:
    with running_box() as box:
        time.sleep(0)  # the store's epoch is this second or earlier
        arguments = box.arguments("echo run >> count")
        body = {"token": box.token("Bash", arguments), "arguments": arguments}
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            statuses = list(pool.map(lambda _: box.post(wire.PATH_RUN, body).status, range(100)))
        assert sorted(statuses) == [200] + [403] * 99
        assert box.process is not None
        box.kill(signal.SIGKILL)
        assert box.process.wait(5) == -signal.SIGKILL
        box.start()
        assert box.post(wire.PATH_RUN, body).status == 403
        assert (box.work / "count").read_text() == "run\n"


@pytest.mark.req("SBX-3", "ATK-19b")
def test_policy_is_judged_again_and_deny_beats_a_good_token(box: Box) -> None:
    answer = box.try_run("touch denied; rm -rf /usr", claims={"approval": "approved-by-a-person"})
    assert (answer.status, answer.json()["level"]) == (403, "deny")
    assert not (box.work / "denied").exists()


@pytest.mark.req("SBX-3")
def test_a_command_that_needs_a_person_runs_only_with_an_approval_in_its_token(box: Box) -> None:
    answer = box.try_run("touch asked; sudo true", claims={"approval": ""})
    assert (answer.status, answer.json()["code"]) == (403, "policy.approval_missing")
    assert not (box.work / "asked").exists()
    assert box.run("touch asked; sudo true", claims={"approval": "approved-by-a-person"})["state"] == "failed"
    assert (box.work / "asked").exists()


@pytest.mark.req("SBX-4", "D3", "ATK-52")
def test_another_users_command_does_not_exist(box: Box) -> None:
    mine = box.run("sleep 20", wait=False)["exec_id"]
    others: tuple[dict[str, Any], ...] = ({"sub": "user-2"}, {"ws": "ws-2"})
    for other in others:
        assert box.output(mine, **other).status == 404
        assert box.stop(mine, **other).status == 404
        assert mine not in [row["exec_id"] for row in box.list(**other)]
    assert mine in [row["exec_id"] for row in box.list()]
    assert box.stop(mine).json()["state"] == "cancelled"
    assert box.output("0" * 16).status == 404


@pytest.mark.req("SBX-5")
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b'{"token": 1}',
        b'{"token": "x"}',
        b'{"token": "x", "arguments": []}',
        b'{"token": "x", "token": "y", "arguments": {}}',
        b"\xff\xfe",
        b"{" * 100_000,
    ],
)
def test_a_body_that_is_none_is_refused_clearly(box: Box, body: bytes) -> None:
    import httpx

    with httpx.Client(transport=httpx.HTTPTransport(uds=str(box.socket))) as client:
        for path in (wire.PATH_RUN, wire.PATH_READ, wire.PATH_STOP, wire.PATH_LIST):
            answer = client.post(f"http://localhost{path}", content=body)
            assert 400 <= answer.status_code < 500
            assert answer.json()["success"] is False


@pytest.mark.req("SBX-6")
def test_the_executor_keeps_its_own_record_of_what_it_did(box: Box) -> None:
    arguments = box.arguments("exit 3")
    token = box.token("Bash", arguments)
    answer = box.post(wire.PATH_RUN, {"token": token, "arguments": arguments}).json()
    jti = jwt.decode(token, options={"verify_signature": False})["jti"]
    lines = [json.loads(line) for line in (box.data / "sandbox" / "records.jsonl").read_text().splitlines()]
    mine = [line for line in lines if line["record"] == answer["record_id"]]
    assert [(line["event"], line.get("jti")) for line in mine] == [("started", jti), ("ended", None)]
    assert mine[0]["args"] == sha256(arguments)
    assert (mine[1]["code"], mine[1]["state"]) == (3, "failed")
    assert "exit 3" not in json.dumps(mine)
