"""Refusals of the sandbox service."""

from __future__ import annotations

from handrail.contract.errors import HandrailError


class TokenRefused(HandrailError):
    """The detail is in the log and the record only."""

    code = "token.refused"
    status = 403
    en = "The permission for this call was refused."
    zh = "此次调用的许可被拒绝。"


class PolicyDenied(HandrailError):
    code = "policy.denied"
    status = 403
    en = "Blocked by policy: {reason}"
    zh = "被安全策略拦截：{reason}"


class ApprovalMissing(HandrailError):
    code = "policy.approval_missing"
    status = 403
    en = "This command needs a person's approval, and its permission names none."
    zh = "此命令需要人工确认，但其许可中没有确认记录。"


class UnknownProcess(HandrailError):
    code = "process.unknown"
    status = 404
    en = "Process does not exist or has ended"
    zh = "进程不存在或已结束"


class TooManyCommands(HandrailError):
    code = "process.too_many"
    status = 429
    en = "Too many commands at once: the limit is {limit} for each user."
    zh = "同时运行的命令过多：每个用户上限为 {limit} 个。"


class CommandTooLong(HandrailError):
    code = "process.command_too_long"
    status = 413
    en = "The command is too long: the limit is {limit} bytes."
    zh = "命令过长：上限为 {limit} 字节。"


class BadDirectory(HandrailError):
    code = "process.bad_directory"
    status = 403
    en = "Execution directory validation failed: {detail}"
    zh = "执行目录校验失败：{detail}"


class RecordUnavailable(HandrailError):
    code = "sandbox.record_unavailable"
    status = 503
    en = "The sandbox cannot write its record, so nothing was run."
    zh = "沙箱无法写入执行记录，因此未执行任何操作。"


class BadCall(HandrailError):
    code = "request.invalid"
    status = 422
    en = "The request is not valid: {detail}"
    zh = "请求无效：{detail}"
