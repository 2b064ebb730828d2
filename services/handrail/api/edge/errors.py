"""Refusals of the edge."""

from __future__ import annotations

from handrail.contract.errors import HandrailError


class WrongHost(HandrailError):
    code = "edge.host"
    status = 421
    en = "This host name is not served here: {host}. Add it to HANDRAIL_ALLOWED_HOSTS if it is yours."
    zh = "此主机名不在服务范围内：{host}。如果是你的主机名，请加入 HANDRAIL_ALLOWED_HOSTS。"


class ForeignOrigin(HandrailError):
    code = "edge.origin"
    status = 403
    en = "Requests from this origin are refused."
    zh = "拒绝来自该来源的请求。"


class BadUrl(HandrailError):
    code = "edge.url"
    status = 400
    en = "The URL is not valid."
    zh = "URL 无效。"
