"""The loop breaker: a caller that makes the same failing call again and again is told to stop."""

from __future__ import annotations

import hashlib
from collections import OrderedDict

from handrail.api.context import Actor
from handrail.contract.errors import HandrailError
from handrail.kit.clock import Clock

STOP_AT = 3
FORGET_S = 120.0
MOST_CALLERS = 5000
MOST_CALLS = 32  # different failing calls of one caller
NOT_COUNTED = frozenset({"approval_required", "files.busy", "approval.required"})  # the same call again is right there
FIRST_SERVER_ERROR = 500


class RepeatedCall(HandrailError):
    """`count` times in a row; refused without another try until something else succeeds or two minutes have passed."""

    code = "repeated_call"
    status = 429
    en = "Stop: this very call of {tool} failed {count} times with the same error ({last}). Change the arguments or ask the user."
    zh = "请停止：对 {tool} 的相同调用已连续失败 {count} 次，错误相同（{last}）。不要重复；请更改参数或询问用户。"


class Repeats:
    """Failing calls by caller. In memory: forgetting only allows another try."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failed: OrderedDict[tuple[str, str, str], OrderedDict[bytes, tuple[int, str, float]]] = OrderedDict()

    def refuse(self, actor: Actor, tool: str, arguments: bytes) -> None:
        """Before a call. Raises RepeatedCall."""
        count, code, at = self._failed.get(_caller(actor), OrderedDict()).get(_key(tool, arguments), (0, "", 0.0))
        if count >= STOP_AT and self._clock.monotonic() - at < FORGET_S:
            raise RepeatedCall(tool=tool, count=count, last=code, extra={"count": count, "stop": True})

    def failed(self, actor: Actor, tool: str, arguments: bytes, error: HandrailError) -> None:
        """After a refusal: counts it and says so in the error from the second time on."""
        if error.code in NOT_COUNTED or error.status >= FIRST_SERVER_ERROR:
            return
        calls = self._failed.setdefault(_caller(actor), OrderedDict())
        self._failed.move_to_end(_caller(actor))
        key = _key(tool, arguments)
        count, code, at = calls.pop(key, (0, error.code, 0.0))
        fresh = code == error.code and self._clock.monotonic() - at < FORGET_S
        count = count + 1 if fresh or not count else 1
        calls[key] = (count, error.code, self._clock.monotonic())
        if len(calls) > MOST_CALLS:
            calls.popitem(last=False)
        if len(self._failed) > MOST_CALLERS:
            self._failed.popitem(last=False)
        if count > 1:
            error.extra |= {"repeated": count, "stop": count >= STOP_AT}

    def succeeded(self, actor: Actor) -> None:
        """Anything that works is progress."""
        self._failed.pop(_caller(actor), None)


def _caller(actor: Actor) -> tuple[str, str, str]:
    return actor.user_id, actor.workspace.id, actor.identity.device_id


def _key(tool: str, arguments: bytes) -> bytes:
    return hashlib.blake2b(tool.encode("utf-8", "replace") + b"\0" + arguments, digest_size=16).digest()
