"""Refusals about commands. The sandbox's own travel as its status, code and texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handrail.contract.errors import HandrailError, Lang


class BadDirectory(HandrailError):
    code = "process.bad_directory"
    status = 403
    en = "Execution directory validation failed: {detail}"
    zh = "执行目录校验失败：{detail}"


class SandboxRefused(HandrailError):
    """A refusal of the sandbox, passed on: its status and code shadow the class's."""

    code = "sandbox.refused"
    status = 502
    en = "The sandbox refused the command."
    zh = "沙箱拒绝了该命令。"

    def __init__(self, status: int, code: str, texts: Mapping[Lang, str], extra: dict[str, object]) -> None:
        self._texts = texts
        super().__init__(extra=extra)
        self.status = status  # type: ignore[misc]  # a class variable elsewhere: this class stands for many refusals
        self.code = code  # type: ignore[misc]  # as above

    def text(self, lang: Lang) -> str:
        return self._texts[lang]


def refusal(status: int, content: Mapping[str, Any]) -> SandboxRefused:
    """The sandbox's answer as an error. Only refusals that a caller can act on keep their status; the rest is 502."""
    known = status in (403, 404, 413, 422, 429, 503)
    code = str(content.get("code", SandboxRefused.code))
    texts: dict[Lang, str] = {"en": str(content.get("error", SandboxRefused.en)), "zh": str(content.get("error_zh", SandboxRefused.zh))}
    extra: dict[str, object] = {"level": content["level"]} if "level" in content else {}
    return SandboxRefused(status if known else SandboxRefused.status, code, texts, extra)
