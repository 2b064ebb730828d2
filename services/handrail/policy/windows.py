"""PowerShell and cmd: their text is close enough to a shell's for the rules that know its words."""

from __future__ import annotations

import base64
import binascii
import re

from handrail.policy.call import Bench, Call
from handrail.policy.shells import stdin
from handrail.policy.words import Word


def powershell(bench: Bench, made: Call) -> None:
    """Powershell and pwsh: -Command text, -EncodedCommand decoded; both also by the words they show."""
    words = list(made.args)
    for index, word in enumerate(words):
        option = (word.value or "").lower().lstrip("-/")
        if (
            option
            and "encodedcommand".startswith(option)
            and option[0] == "e"
            and option != "ep"
            and option != "executionpolicy"[: len(option)]
        ):
            _encoded(bench, made, words[index + 1 :])
            return
        if option and "command".startswith(option):
            text(bench, made, " ".join(value for rest in words[index + 1 :] for value in rest.values))
            return
        if not (word.value or "-").startswith(("-", "/")):
            return
    if made.simple.feeders or made.simple.here:
        stdin(bench, made)


def _encoded(bench: Bench, made: Call, rest: list[Word]) -> None:
    bench.say("powershell.encoded", "confirm", made.span, "runs an encoded PowerShell script", "执行编码的 PowerShell 脚本")
    for value in rest[0].values if rest else ():
        try:
            decoded = base64.b64decode(value, validate=True).decode("utf-16-le")
        except (binascii.Error, UnicodeDecodeError, ValueError):
            continue
        text(bench, made, decoded)


def text(bench: Bench, made: Call, line: str) -> None:
    """A PowerShell or cmd line: close enough to a shell's for the rules that know its words."""
    if re.search(r"\b(?:iex|invoke-expression)\b", line, re.IGNORECASE) and re.search(
        r"\b(?:iwr|irm|curl|wget|invoke-webrequest|downloadstring)\b", line, re.IGNORECASE
    ):
        bench.say("pipe.download", "deny", made.span, "runs what was downloaded", "执行下载的内容")
    bench.shell(line, made.span)


def cmd(bench: Bench, made: Call) -> None:
    """`cmd /c TEXT`."""
    words = list(made.args)
    for index, word in enumerate(words):
        if (word.value or "").lower() in ("/c", "/k", "-c"):
            text(bench, made, " ".join(value for rest in words[index + 1 :] for value in rest.values))
            return
