"""`/api/exec*` and `WS /ws/exec/{execId}`: the wire's command routes."""

from __future__ import annotations

import asyncio
import contextlib

import orjson
from fastapi import Request, WebSocket
from starlette.websockets import WebSocketDisconnect

from handrail.api.context import Actor
from handrail.api.gate.errors import ApprovalRequired
from handrail.api.http import ACTOR, SERVICES, Router, actor_of, services_of
from handrail.api.processes.errors import SandboxRefused
from handrail.api.processes.schemas import BashArgs, ExecAnswer, ExecBody, RunningAnswer, StopAnswer, StopBody
from handrail.api.processes.service import until_closed
from handrail.api.services import Services
from handrail.contract import sandbox as wire
from handrail.contract.errors import HandrailError

router = Router(tags=["commands"])
STREAMS = ("stdout", "stderr")
GOING_AWAY, POLICY, NORMAL = 1001, 1008, 1000
LINGER_S = 10.0  # the wire's client closes after the exit frame; one that does not is closed


@router.post("/api/exec", response_model=ExecAnswer)
async def execute(request: Request, body: ExecBody) -> dict[str, object]:
    """Run a command: wait for its end, or get its id and the address of its stream."""
    actor, services = actor_of(request), services_of(request)
    args = BashArgs(command=body.command, cwd=body.cwd, wait=body.wait, timeout_ms=body.timeoutMs)
    try:
        result = await services.gate.call(actor, wire.TOOL_RUN, args, force=body.force)
    except ApprovalRequired as exc:
        answer: dict[str, object] = {"success": True, "level": "confirm", "reason": exc.text(actor.lang), "command": body.command}
        if body.cwd is not None:
            answer["cwd"] = body.cwd
        return answer | {key: value for key, value in exc.extra.items() if key != "level"}
    if not body.wait:
        keep = ("execId", "mechanism", "timeoutMs", "recordId", "state")
        result = {key: result[key] for key in keep} | {"wsUrl": _stream_url(request, str(result["execId"]))}
    return {"success": True, "level": "allow", **result}


@router.post("/api/exec/stop", response_model=StopAnswer)
async def stop(request: Request, body: StopBody) -> dict[str, object]:
    """Kill a command's whole tree. Always 200: `success` false means that there is no such command of yours."""
    try:
        result = await services_of(request).gate.call(actor_of(request), wire.TOOL_STOP, {"exec_id": body.execId})
    except SandboxRefused as exc:
        if exc.status != 404:  # noqa: PLR2004 - HTTP
            raise
        return {"success": False, "execId": body.execId, "code": exc.code}
    return {"success": True, **result, "execId": body.execId}


@router.get("/api/exec/running", response_model=RunningAnswer)
async def running(request: Request) -> dict[str, object]:
    """The caller's running commands, secrets in their command lines masked."""
    return {"success": True, "processes": await services_of(request).processes.running(actor_of(request))}


def _stream_url(request: Request, exec_id: str) -> str:
    # the Host header was checked against the allow-list before any route ran
    scheme = "wss" if request.url.scheme == "https" else "ws"
    return f"{scheme}://{request.headers.get('host', 'localhost')}/ws/exec/{exec_id}"


@router.websocket("/ws/exec/{exec_id}")
async def stream(socket: WebSocket, exec_id: str) -> None:
    """Everything the command wrote from its first byte, then live, then one exit frame."""
    actor: Actor = socket.scope[ACTOR]
    services: Services = socket.scope[SERVICES]
    await socket.accept()
    closed = asyncio.Event()
    revoked = asyncio.Event()

    def revoke() -> None:
        revoked.set()
        closed.set()

    async def hear() -> None:
        # the client has nothing to say; reading is how its leaving is seen
        with contextlib.suppress(RuntimeError):
            while (await socket.receive())["type"] != "websocket.disconnect":
                pass
        closed.set()

    listener = asyncio.ensure_future(hear())
    try:
        async with services.processes.watching(actor, revoke):
            with contextlib.suppress(WebSocketDisconnect, RuntimeError):
                await until_closed(closed, lambda: _send_all(socket, services, actor, exec_id))
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(closed.wait(), LINGER_S)
        with contextlib.suppress(RuntimeError):
            await socket.close(POLICY if revoked.is_set() else NORMAL)
    finally:
        listener.cancel()


async def _send_all(socket: WebSocket, services: Services, actor: Actor, exec_id: str) -> None:
    try:
        async for page in services.processes.pages(actor, exec_id):
            await _send_page(socket, page, exec_id)
    except HandrailError as exc:
        await _send(socket, {"type": "error", "error": exc.text(actor.lang), "code": exc.code, "execId": exec_id})
        await socket.close(NORMAL)


async def _send_page(socket: WebSocket, page: wire.OutputAnswer, exec_id: str) -> None:
    offset = page["start"]
    if page["output_truncated"]:
        message = f"Output before byte {offset} was dropped."
        await _send(socket, {"type": "stdout_truncated", "message": message, "execId": exec_id, "offset": offset})
    for number, text in page["pieces"]:
        await _send(socket, {"type": STREAMS[number], "data": text, "execId": exec_id, "offset": offset})
        offset += len(text.encode())
    if page["exit_code"] is not None and not page["has_more"]:
        frame: dict[str, object] = {
            "type": "exit",
            "exitCode": page["exit_code"],
            "execId": exec_id,
            "killed": page["killed"],
            "state": page["state"],
            "signal": page["signal"] or None,
            "timedOut": page["timed_out"],
            "truncated": page["truncated"],
            "durationMs": page["duration_ms"],
            "timeoutMs": page["timeout_ms"],
            "mechanism": page["mechanism"],
        }
        if page["error"]:
            frame["error"] = page["error"]
        await _send(socket, frame)


async def _send(socket: WebSocket, frame: dict[str, object]) -> None:
    await socket.send_text(orjson.dumps(frame).decode())
