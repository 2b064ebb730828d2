"""A gibibyte up and down. `make test-security` runs it."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterator
from pathlib import Path

import httpx
import pytest

from tests.demo.client import Client
from tests.demo.embedded import Running, running_handrail

GIB = 1 << 30
MB = 1_000_000
MOST = 30 * MB
PIECE = bytes(range(256)) * 4096


@pytest.fixture(scope="module")
def handrail() -> Generator[Running]:
    with running_handrail(HANDRAIL_RATE_LIMIT="0", HANDRAIL_UPLOAD_MAX_SIZE=str(2 * GIB)) as running:
        yield running


def api_process(handrail: Running) -> Path:
    """/proc directory of the api service below the supervisor."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes()
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if b"handrail.api\0" in line and parent == handrail.pid:
                return entry
    raise AssertionError("no api process")


def peak(process: Path) -> int:
    """Most resident bytes since the last `forget`."""
    fields = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines() if ":" in line)
    return int(fields["VmHWM"].split()[0]) * 1024


def forget(process: Path) -> int:
    """Set the peak back to what is resident now; that."""
    (process / "clear_refs").write_text("5")
    return peak(process)


@pytest.mark.timeout(600)
@pytest.mark.req("TR-12", "C9", "C10")
def test_a_gibibyte_goes_up_and_down_within_thirty_megabytes(handrail: Running) -> None:
    process = api_process(handrail)
    with Client(handrail.url) as client:
        client.pair(handrail.paircode(), "large")
        headers = {"Authorization": f"Bearer {client.token}"}
        with httpx.Client(base_url=client.url, headers=headers, timeout=300, trust_env=False) as web:
            web.post("/api/fs/upload-stream", params={"path": "warm"}, content=PIECE)
            web.post("/api/fs/download-stream", json={"path": "warm"})
            used = {}
            before = forget(process)
            digest = hashlib.sha256()

            def body() -> Iterator[bytes]:
                for _ in range(GIB // len(PIECE)):
                    digest.update(PIECE)
                    yield PIECE

            answer = web.post("/api/fs/upload-stream", params={"path": "large"}, content=body()).json()
            assert (answer["size"], answer["sha256"]) == (GIB, digest.hexdigest())
            used["up"] = peak(process) - before
            for way, asked in {"down": {"path": "large"}, "zip": {"paths": ["large", "warm"]}}.items():
                before = forget(process)
                got = 0
                with web.stream("POST", "/api/fs/download-stream", json=asked) as stream:
                    for piece in stream.iter_raw():
                        got += len(piece)
                    assert got == int(stream.headers["content-length"])
                assert got >= GIB
                used[way] = peak(process) - before
    assert {way: size for way, size in used.items() if size > MOST} == {}, used
    print({way: f"{size / MB:.1f} MB" for way, size in used.items()})
