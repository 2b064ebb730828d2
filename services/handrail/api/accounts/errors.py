"""Refusals of pairing and account management."""

from __future__ import annotations

from handrail.contract.errors import HandrailError


class WrongCode(HandrailError):
    """One text for wrong, used and expired: the difference would help only somebody who guesses."""

    code = "pair.wrong_code"
    status = 400
    en = "The pairing code is wrong, used or expired. Ask for a new one with `handrail paircode`."
    zh = "配对码错误、已使用或已过期。请用 `handrail paircode` 获取新的配对码。"


class MissingCode(HandrailError):
    code = "pair.missing_code"
    status = 400
    en = "The pairing code is missing."
    zh = "缺少配对码。"


class TooManyTries(HandrailError):
    code = "pair.too_many_tries"
    status = 429
    en = "Too many wrong pairing codes from this address: try again in {seconds} seconds."
    zh = "来自此地址的错误配对码过多：请在 {seconds} 秒后重试。"


class PairingUnavailable(HandrailError):
    code = "pair.unavailable"
    status = 503
    en = "Pairing is not possible at the moment: tries cannot be counted."
    zh = "暂时无法配对：无法统计尝试次数。"


class DisplayPaused(HandrailError):
    code = "pair.display_paused"
    status = 429
    en = "Too many wrong pairing codes were tried in the last day: codes are no longer shown by themselves. `handrail paircode` gives one."
    zh = "过去一天内错误配对码过多：不再自动显示配对码。请用 `handrail paircode` 获取。"


class UnknownUser(HandrailError):
    code = "user.unknown"
    status = 404
    en = "There is no user named {name}."
    zh = "没有名为 {name} 的用户。"


class UserExists(HandrailError):
    code = "user.exists"
    status = 409
    en = "There is already a user named {name}."
    zh = "已存在名为 {name} 的用户。"


class UserStays(HandrailError):
    code = "user.last_admin"
    status = 409
    en = "{name} is the last administrator or does not exist, and cannot be removed."
    zh = "{name} 是最后一位管理员或不存在，无法移除。"


class BadName(HandrailError):
    code = "name.invalid"
    status = 422
    en = "A name has 1 to 63 of the characters a-z, 0-9, '.', '_', '-' and begins with a letter or digit."
    zh = "名称须为 1 至 63 个字符，仅限 a-z、0-9、“.”、“_”、“-”，并以字母或数字开头。"


class UnknownWorkspace(HandrailError):
    code = "workspace.unknown"
    status = 404
    en = "There is no such workspace: {name}"
    zh = "没有此工作区：{name}"


class WorkspaceExists(HandrailError):
    code = "workspace.exists"
    status = 409
    en = "There is already a workspace named {name}."
    zh = "已存在名为 {name} 的工作区。"


class NoWorkspace(HandrailError):
    code = "workspace.none"
    status = 409
    en = "The user {name} is a member of no workspace: add it with `handrail workspace member`."
    zh = "用户 {name} 不属于任何工作区：请用 `handrail workspace member` 添加。"


class RelativeRoot(HandrailError):
    code = "workspace.relative_root"
    status = 422
    en = "The root of a workspace must be an absolute path."
    zh = "工作区根目录必须是绝对路径。"


class NotAMember(HandrailError):
    code = "workspace.not_a_member"
    status = 404
    en = "{user} is not a member of {workspace}."
    zh = "{user} 不是 {workspace} 的成员。"


class UnknownDevice(HandrailError):
    code = "device.unknown"
    status = 404
    en = "There is no such device."
    zh = "没有此设备。"
