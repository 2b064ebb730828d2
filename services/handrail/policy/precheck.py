"""What is looked at before the grammar: size, control and invisible characters, and forms that the grammar is known to miss."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from handrail.policy.verdict import Level, Reason

MAX_BYTES = 65536
FORK_BOMB = re.compile(r"([\w:.-]{1,32})\s*\(\)\s*\{[^{}]{0,200}?\1\s*\|\s*\1\s*&")
# bash joins these two lines before it looks for the opening: a parser that does not sees two harmless halves
JOINED = re.compile(r"\\\n\s*[({`]|[$<>]\\\n")
INVISIBLE = frozenset({"Cc", "Cf", "Co", "Cn", "Zl", "Zp"})


def reason(rule: str, level: Level, span: tuple[int, int], en: str, zh: str) -> Reason:
    """A Reason from its parts."""
    return Reason(rule, level, span[0], span[1], en, zh)


def precheck(text: str) -> Iterator[Reason]:
    """Reasons that need no grammar."""
    whole = (0, len(text))
    if len(text) > MAX_BYTES // 4 and len(text.encode("utf-8", "replace")) > MAX_BYTES:
        yield reason("limit.size", "deny", whole, f"the command is longer than {MAX_BYTES} bytes", f"命令超过 {MAX_BYTES} 字节")
        return
    if not text.strip():
        yield reason("empty", "deny", whole, "the command is empty", "命令为空")
        return
    for match in FORK_BOMB.finditer(text) if "()" in text else ():
        yield reason("bomb", "deny", match.span(), "fork bomb", "fork 炸弹")
    for match in JOINED.finditer(text) if "\\\n" in text else ():
        yield reason("text.joined", "confirm", match.span(), "a line continuation before an opening bracket", "左括号之前有续行符")
    if not text.isascii() or not text.isprintable():
        yield from _characters(text)


def _characters(text: str) -> Iterator[Reason]:
    quoted = _quoted(text)
    for index, char in enumerate(text):
        if char in "\n\t" or " " <= char <= "~":
            continue
        category = unicodedata.category(char)
        span = (index, index + 1)
        if category in INVISIBLE or char == "\x7f":
            yield reason(
                "text.invisible",
                "confirm",
                span,
                f"invisible or control character U+{ord(char):04X}",
                f"含不可见或控制字符 U+{ord(char):04X}",
            )
            return
        if category == "Zs" and not quoted[index]:
            yield reason(
                "text.blank", "confirm", span, f"blank that is not a space, U+{ord(char):04X}", f"含非标准空白字符 U+{ord(char):04X}"
            )
            return


def _quoted(text: str) -> bytearray:
    """For each position whether it lies inside quotes, by a plain left-to-right scan."""
    inside = bytearray(len(text))
    quote, escaped = "", False
    for position, char in enumerate(text):
        inside[position] = bool(quote)
        if escaped:
            escaped = False
        elif char == "\\" and quote != "'":
            escaped = True
        elif not quote and char in "'\"":
            quote = char
        elif char == quote:
            quote = ""
    return inside
