"""Refusals of the jail."""

from __future__ import annotations

from handrail.contract.errors import HandrailError


class JailUnavailable(HandrailError):
    code = "sandbox.jail_unavailable"
    status = 503
    en = "Commands cannot be confined on this machine, so none is run: {detail}."
    zh = "此机器无法隔离命令，因此不会执行任何命令：{detail}。"
