"""The WebSocket of a command, over a real sandbox: replay, live frames, slow readers, revocation."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Generator
from types import SimpleNamespace
from typing import Any, cast

import pytest
import uvicorn
from fastapi import FastAPI
from starlette.types import Receive, Scope, Send
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from handrail.api.context import Actor, Identity, Workspace
from handrail.api.http import ACTOR, SERVICES
from handrail.api.processes.client import SandboxClient
from handrail.api.processes.routes import router
from handrail.api.processes.service import Processes
from tests.support.sandbox import Box
from tests.support.wait import until


class Gate:
    """Mints what the real gate mints for a read; everything behind it is real."""

    def __init__(self, box: Box) -> None:
        self._box = box
        self.calls = 0

    async def call(self, actor: Actor, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        self.calls += 1
        token = self._box.token(name, {"exec_id": arguments["exec_id"]}, tier="low", sub=actor.user_id, ws=actor.workspace.id)
        return {"token": token}


class Accounts:
    def __init__(self) -> None:
        self.revoke: Callable[[str], None] = lambda _device: None

    def on_revoked(self, callback: Callable[[str], None]) -> None:
        self.revoke = callback


class Server:
    """The stream's route on a real uvicorn in a thread; `?user=` says who asks."""

    def __init__(self, box: Box) -> None:
        self.gate, self.accounts = Gate(box), Accounts()
        self._box = box
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.loop: asyncio.AbstractEventLoop | None = None
        self._server: uvicorn.Server | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        until(lambda: self._server is not None and self._server.started, "the server is up")

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self.loop = asyncio.get_running_loop()
        client = SandboxClient(self._box.socket)
        self.processes = Processes(cast("Any", self.gate), client, cast("Any", self.accounts))
        routes = FastAPI()
        routes.include_router(router)

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "websocket":
                user = scope["query_string"].decode().removeprefix("user=") or "user-1"
                workspace = Workspace("ws-1", "main", str(self._box.work))
                identity = Identity(user, user, False, f"device-of-{user}", "d", "owner", workspace)
                scope[ACTOR] = Actor(identity, "en", "r", "127.0.0.1")
                scope[SERVICES] = SimpleNamespace(processes=self.processes)
            await routes(scope, receive, send)

        self._server = uvicorn.Server(
            uvicorn.Config(app, ws="websockets-sansio", lifespan="off", log_config=None, timeout_graceful_shutdown=1)
        )
        await self._server.serve([self._socket])
        await client.close()

    def connect(self, exec_id: str, user: str = "user-1", **more: Any) -> ClientConnection:
        return connect(f"ws://127.0.0.1:{self.port}/ws/exec/{exec_id}?user={user}", **more)

    def close(self) -> None:
        assert self._server is not None
        self._server.should_exit = True
        self._thread.join(10)


@pytest.fixture(scope="module")
def server(box: Box) -> Generator[Server]:
    started = Server(box)
    yield started
    started.close()


def frames_until_exit(ws: ClientConnection) -> list[dict[str, Any]]:
    frames: list[dict[str, Any]] = []
    while not frames or frames[-1]["type"] not in ("exit", "error"):
        frames.append(json.loads(ws.recv(timeout=20)))
    return frames


def drain(ws: ClientConnection) -> None:
    """What was on its way still comes."""
    while True:
        ws.recv(timeout=5)


def text_of(frames: list[dict[str, Any]], kind: str) -> str:
    return "".join(frame["data"] for frame in frames if frame["type"] == kind)


@pytest.mark.req("D4", "SBX-46", "PF-B4", "PF-B8", "PF-B11")
def test_a_late_joiner_gets_the_full_replay_then_live_frames_then_one_exit_frame(box: Box, server: Server) -> None:
    exec_id = box.run(r"echo early; printf '\xe4\xb8'; sleep .5; printf '\xad\n'; echo err >&2; sleep .1; exit 4", wait=False)["exec_id"]
    until(lambda: box.output(exec_id).json()["total"] > 0, "there is early output")
    with server.connect(exec_id) as ws:
        frames = frames_until_exit(ws)
    assert text_of(frames, "stdout") == "early\n中\n"
    assert text_of(frames, "stderr") == "err\n"
    end = frames[-1]
    assert (end["exitCode"], end["killed"], end["execId"], end["state"], end["signal"]) == (4, False, exec_id, "failed", None)
    assert end["mechanism"].startswith("landlock")
    offset = 0
    for frame in frames[:-1]:
        assert frame["offset"] == offset
        offset += len(frame["data"].encode())
    with server.connect(exec_id) as ws:
        assert text_of(frames_until_exit(ws), "stdout") == "early\n中\n"


@pytest.mark.req("D4", "SBX-46", "PF-B11")
def test_a_stopped_command_says_killed_and_the_signal(box: Box, server: Server) -> None:
    exec_id = box.run("sleep 30", wait=False)["exec_id"]
    with server.connect(exec_id) as ws:
        box.stop(exec_id)
        end = frames_until_exit(ws)[-1]
    assert (end["exitCode"], end["killed"], end["signal"], end["state"]) == (-1, True, "SIGTERM", "cancelled")


@pytest.mark.req("D4", "SBX-46", "ATK-52")
def test_an_unknown_command_and_another_users_give_an_error_frame_and_the_end(box: Box, server: Server) -> None:
    exec_id = box.run("echo mine; sleep 5", wait=False)["exec_id"]
    for target, user in (("0" * 16, "user-1"), (exec_id, "user-2")):
        with server.connect(target, user) as ws:
            frames = frames_until_exit(ws)
            assert [frame["type"] for frame in frames] == ["error"]
            with pytest.raises(ConnectionClosed):
                ws.recv(timeout=5)
    box.stop(exec_id)


@pytest.mark.req("SBX-46", "PF-C4", "PF-C5")
def test_a_reader_that_stalls_costs_nothing_and_then_gets_a_true_view(box: Box, server: Server) -> None:
    exec_id = box.run("seq 1 4000000", wait=False, timeout_ms=60_000)["exec_id"]
    with server.connect(exec_id, max_queue=1) as ws:
        first = json.loads(ws.recv(timeout=10))
        assert first["data"].startswith("1\n2\n3\n")
        page, _ = box.read_all(exec_id)  # the command ends while this reader stands still
        calls = server.gate.calls
        frames = [first, *frames_until_exit(ws)]
    assert frames[-1]["exitCode"] == 0
    assert frames[-1]["truncated"] is True
    assert page["total"] > 16 * 1024 * 1024
    gaps, offset = 0, 0
    for frame in frames[:-1]:
        if frame["type"] == "stdout_truncated":
            assert frame["offset"] > offset  # said where bytes are missing, and only there
            gaps, offset = gaps + 1, frame["offset"]
        assert frame["offset"] == offset
        offset += len(frame.get("data", "").encode())
    assert gaps >= 1
    text = text_of(frames, "stdout")
    assert text.endswith("3999999\n4000000\n")
    shown = sum(len(frame["data"].encode()) for frame in frames if frame["type"] == "stdout")
    assert shown < page["total"]
    assert server.gate.calls - calls <= 2  # one permission lasts for many pages


@pytest.mark.req("SBX-47")
def test_a_revoked_device_loses_its_open_streams_and_only_those(box: Box, server: Server) -> None:
    exec_id = box.run("while :; do echo tick; sleep .05; done", wait=False)["exec_id"]
    with server.connect(exec_id) as ws:
        assert json.loads(ws.recv(timeout=5))["data"].startswith("tick")
        assert server.loop is not None
        server.loop.call_soon_threadsafe(server.accounts.revoke, "device-of-somebody-else")
        assert json.loads(ws.recv(timeout=5))["type"] == "stdout"
        server.loop.call_soon_threadsafe(server.accounts.revoke, "device-of-user-1")
        with pytest.raises(ConnectionClosed):
            drain(ws)
        assert ws.close_code == 1008
    box.stop(exec_id)


@pytest.mark.req("SBX-46", "PF-C3")
def test_a_client_that_leaves_neither_stops_the_command_nor_its_time_out(box: Box, server: Server) -> None:
    exec_id = box.run("echo here; sleep 30", wait=False, timeout_ms=1500)["exec_id"]
    with server.connect(exec_id) as ws:
        assert json.loads(ws.recv(timeout=5))["data"] == "here\n"
    page, _ = box.read_all(exec_id)
    assert (page["state"], page["timed_out"]) == ("timed_out", True)
