"""`GET /api/tools` and `POST /api/tools/:name`: the registry over HTTP."""

from __future__ import annotations

from typing import Any, Literal, cast

from fastapi import Request
from pydantic import BaseModel

from handrail.api.http import JsonAnswer, Router, actor_of, services_of
from handrail.api.tools.registry import Tool
from handrail.contract.errors import HandrailError, InvalidRequest, MalformedJson
from handrail.kit.canonical import StrictJsonError, loads

router = Router(tags=["tools"])


class ToolInfo(BaseModel):
    """One tool as clients see it."""

    name: str
    title: str
    description: str
    inputSchema: dict[str, Any]  # noqa: N815 - the field's name in MCP and on the wire
    effect: Literal["read", "write", "exec"]
    executor: str
    readOnly: bool  # noqa: N815


class ToolList(BaseModel):
    """Answer of GET /api/tools."""

    success: Literal[True]
    tools: list[ToolInfo]


class ToolAnswer(BaseModel, extra="allow"):
    """Answer of a tool: `success` and the tool's own fields."""

    success: bool


@router.get("/api/tools", response_model=ToolList)
async def list_tools(request: Request) -> dict[str, object]:
    """Name, JSON schema, effect and metadata of every tool that can be called by name."""
    lang = actor_of(request).lang
    return {"success": True, "tools": [_info(tool, lang) for tool in services_of(request).registry.listed()]}


@router.post(
    "/api/tools/{name}",
    response_model=ToolAnswer,
    openapi_extra={"requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}, "required": False}},
)
async def call_tool(request: Request, name: str) -> JsonAnswer:
    """Call a tool with the JSON body as its arguments."""
    services, actor = services_of(request), actor_of(request)
    try:
        body = await request.body() or b"{}"
        arguments = loads(body)
    except StrictJsonError as exc:
        raise MalformedJson(detail=str(exc)) from exc
    if not isinstance(arguments, dict):
        raise InvalidRequest(detail="the arguments must be an object")
    services.repeats.refuse(actor, name, body)
    try:
        result = await services.gate.call(actor, name, cast("dict[str, Any]", arguments), listed_only=True)
    except HandrailError as exc:
        services.repeats.failed(actor, name, body, exc)
        raise
    services.repeats.succeeded(actor)
    return JsonAnswer({"success": True, **result})


def _info(tool: Tool, lang: str) -> dict[str, object]:
    return {
        "name": tool.name,
        "title": tool.title.get(lang, tool.name),
        "description": tool.description,
        "inputSchema": tool.args.model_json_schema(),
        "effect": tool.effect,
        "executor": tool.executor,
        "readOnly": tool.effect == "read",
    }
