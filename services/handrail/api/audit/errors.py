"""Refusals of the log routes."""

from __future__ import annotations

from handrail.contract.errors import HandrailError


class BadDate(HandrailError):
    code = "logs.bad_date"
    status = 422
    en = "date must be YYYY-MM-DD."
    zh = "date 必须为 YYYY-MM-DD 格式。"


class BadFilter(HandrailError):
    code = "logs.bad_filter"
    status = 422
    en = "{name} must be one of: {allowed}."
    zh = "{name} 必须是以下之一：{allowed}。"


class BadPaging(HandrailError):
    code = "logs.bad_paging"
    status = 422
    en = "{name} must be a whole number from {low} to {high}."
    zh = "{name} 必须是 {low} 到 {high} 的整数。"
