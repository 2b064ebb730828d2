"""Errors that a caller can act on: each class carries its HTTP status, a stable code and its text in zh and en."""

from __future__ import annotations

from typing import ClassVar, Literal

Lang = Literal["en", "zh"]


class HandrailError(Exception):
    """Base of every expected failure. Subclass it in the `errors.py` of the domain that raises it.

    `params` fill the placeholders of `en` and `zh`; they are shown to the user, so never put a secret in them.
    `extra` is merged into the JSON body of the answer (e.g. `level` for a policy denial).
    """

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500
    en: ClassVar[str] = "Internal error."
    zh: ClassVar[str] = "内部错误。"

    def __init__(self, *, extra: dict[str, object] | None = None, headers: dict[str, str] | None = None, **params: object) -> None:
        self.params = params
        self.extra = extra or {}
        self.headers = headers or {}
        super().__init__(self.text("en"))

    def text(self, lang: Lang) -> str:
        """The message in `lang`, placeholders filled."""
        template = self.zh if lang == "zh" else self.en
        return template.format(**self.params)

    def body(self, lang: Lang, request_id: str = "") -> dict[str, object]:
        """The wire's `{success: false, error}` with the problem fields of RFC 9457 added."""
        text = self.text(lang)
        out: dict[str, object] = {
            "success": False,
            "error": text,
            "code": self.code,
            "type": f"urn:handrail:error:{self.code}",
            "title": type(self).__name__,
            "status": self.status,
        }
        if request_id:
            out["requestId"] = request_id
        out.update(self.extra)
        return out


class InvalidRequest(HandrailError):
    code = "request.invalid"
    status = 422
    en = "The request is not valid: {detail}"
    zh = "请求无效：{detail}"


class MalformedJson(HandrailError):
    code = "request.malformed_json"
    status = 400
    en = "The body is not valid JSON: {detail}"
    zh = "请求体不是有效的 JSON：{detail}"


class BodyTooLarge(HandrailError):
    code = "request.too_large"
    status = 413
    en = "Request body too large: the limit is {limit} bytes."
    zh = "请求体过大：上限为 {limit} 字节。"


class WrongContentType(HandrailError):
    code = "request.content_type"
    status = 415
    en = "Content-Type must be {expected}."
    zh = "Content-Type 必须是 {expected}。"


class NotAuthenticated(HandrailError):
    code = "auth.missing"
    status = 401
    en = "No authentication token provided"
    zh = "未提供认证令牌"


class InvalidToken(HandrailError):
    code = "auth.invalid"
    status = 403
    en = "Invalid authentication token"
    zh = "认证令牌无效"


class ForeignDevice(HandrailError):
    code = "auth.foreign_device"
    status = 403
    en = "This token belongs to another browser extension."
    zh = "此令牌属于另一个浏览器扩展。"


class Forbidden(HandrailError):
    code = "auth.forbidden"
    status = 403
    en = "Your role ({role}) does not allow this."
    zh = "你的角色（{role}）无权执行此操作。"


class UnknownPath(HandrailError):
    code = "request.unknown_path"
    status = 404
    en = "Unknown API path"
    zh = "未知的 API 路径"


class MethodNotAllowed(HandrailError):
    code = "request.method"
    status = 405
    en = "Method not allowed: use {allowed}."
    zh = "不支持的请求方法：请使用 {allowed}。"


class TooManyRequests(HandrailError):
    code = "request.rate_limited"
    status = 429
    en = "Too many requests: try again in {seconds} seconds."
    zh = "请求过于频繁：请在 {seconds} 秒后重试。"


class ServiceUnavailable(HandrailError):
    code = "service.unavailable"
    status = 503
    en = "The {service} service is not available at the moment."
    zh = "{service} 服务暂时不可用。"


class AuditUnavailable(HandrailError):
    code = "audit.unavailable"
    status = 503
    en = "The audit log cannot be written, so nothing was done."
    zh = "审计日志无法写入，因此未执行任何操作。"
