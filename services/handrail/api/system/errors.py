"""Refusals of the system routes."""

from __future__ import annotations

from handrail.contract.errors import HandrailError


class LocalOnly(HandrailError):
    code = "system.local_only"
    status = 401
    en = "Shutdown without a token is only for this machine, and never for a web page."
    zh = "无令牌关闭仅限本机，且不接受来自网页的请求。"


class AdminOnly(HandrailError):
    code = "system.admin_only"
    status = 403
    en = "Only an administrator may do this."
    zh = "仅管理员可以执行此操作。"


class OwnerOnly(HandrailError):
    code = "system.owner_only"
    status = 403
    en = "Only an owner of the workspace may change its directories."
    zh = "仅工作区所有者可以更改其目录。"


class BadDirectory(HandrailError):
    code = "config.bad_directory"
    status = 400
    en = "The directory cannot be used: {reason}"
    zh = "无法使用该目录：{reason}"


class ForbiddenDirectory(HandrailError):
    code = "config.forbidden_directory"
    status = 403
    en = "This directory can never be a work root: {path}"
    zh = "该目录不能作为工作目录：{path}"
