"""Refusals of the domain `undo`."""

from __future__ import annotations

from handrail.contract.errors import HandrailError


class UnknownCheckpoint(HandrailError):
    code = "checkpoint.unknown"
    status = 404
    en = "There is no such checkpoint of yours in this workspace."
    zh = "此工作区中没有属于你的该检查点。"


class RewindConflict(HandrailError):
    code = "checkpoint.conflict"
    status = 409
    en = "{count} places were changed by something else since. Nothing was changed; look at the list, or force."
    zh = "有 {count} 处之后被其他操作修改。未做任何更改，请查看列表或强制回退。"


class PreviewStale(HandrailError):
    code = "checkpoint.stale"
    status = 409
    en = "Files have changed since the preview. Look at it again."
    zh = "预览之后文件已有变化，请重新预览。"


class BadConversation(HandrailError):
    code = "checkpoint.conversation"
    status = 400
    en = "X-Handrail-Conversation and X-Handrail-Turn must be up to 64 letters, digits, - or _."
    zh = "X-Handrail-Conversation 与 X-Handrail-Turn 必须为不超过 64 个字母、数字、- 或 _。"
