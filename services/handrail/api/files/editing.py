"""Executor of Edit: the tolerant replacement, and what a refusal tells to help the next attempt."""

from __future__ import annotations

from typing import cast

from handrail.api.files import edit
from handrail.api.files.arguments import EditArgs
from handrail.api.files.errors import CannotEncode, EditAmbiguous, EditCountMismatch, EditNoChange, EditNoMatch, NotText
from handrail.api.files.service import FileService
from handrail.api.tools.registry import Invocation, Result
from handrail.contract.errors import HandrailError, Lang
from handrail.kit import files as kit_files
from handrail.kit.errors import TooLarge
from handrail.kit.files import Version
from handrail.kit.paths import Location, Scope
from handrail.kit.text import decode, encode

KINDS_ZH = {
    "text": "文本",
    "case": "大小写",
    "indentation": "缩进",
    "white space": "空白",
    "characters that look alike": "形近字符",
    "missing": "文件到此结束",
}
TAUGHT: dict[edit.Strategy, dict[Lang, str]] = {
    "line-endings": {
        "en": "Matched with line endings set aside; the new text has the file's.",
        "zh": "忽略换行符差异后匹配；新文本采用该文件的换行符。",
    },
    "trailing-whitespace": {
        "en": "Matched with white space at the ends of lines set aside; the matched lines were replaced whole.",
        "zh": "忽略行尾空白后匹配；匹配到的行已整行替换。",
    },
    "indentation": {
        "en": "Matched with another indentation; the new text was shifted alike. Copy the indentation exactly next time.",
        "zh": "缩进不同但整体一致，已匹配；新文本已按相同方式调整缩进。下次请准确复制缩进。",
    },
}


async def edit_file(files: FileService, call: Invocation) -> Result:
    """Replace text; encoding, byte order mark and line endings stay. The version that was read must still be there."""
    args = cast("EditArgs", call.args)
    scope = files.scope(call.actor)
    location = scope.locate(args.path)
    return await files.run(lambda: _edit(files, scope, location, args, call.actor.lang))


def _edit(files: FileService, scope: Scope, location: Location, args: EditArgs, lang: Lang) -> Result:
    raw, info = kit_files.read(scope, location, files.file_max_size)
    old = decode(raw)
    if old.binary:
        raise NotText(path=location.path)
    outcome = edit.apply(old.text, args.old_string, args.new_string, replace_all=args.replace_all, expected=args.expected_replacements)
    if isinstance(outcome, edit.NotEdited):
        raise refusal(outcome, location.path, args, old.text)
    try:
        data = encode(outcome.text, old.encoding, bom=old.bom)
    except UnicodeEncodeError as exc:
        raise CannotEncode(path=location.path, encoding=old.encoding) from exc
    if len(data) > files.file_max_size:
        raise TooLarge(location.path, size=len(data), limit=files.file_max_size)
    written = kit_files.write(scope, location, data, parents=False, expect=Version.of(info))
    answer: Result = {
        "path": location.path,
        "replacements": outcome.replacements,
        "replaceAll": args.replace_all,
        "matchStrategy": outcome.strategy,
        "size": written.size,
        "totalLines": outcome.text.count("\n") + (not outcome.text.endswith("\n") and bool(outcome.text)),
        "encoding": old.encoding,
    }
    if outcome.strategy in TAUGHT:
        answer["note"] = TAUGHT[outcome.strategy][lang]
    return answer


def refusal(outcome: edit.NotEdited, path: str, args: EditArgs, text: str) -> HandrailError:
    """The error of an edit that is not made."""
    match outcome.reason:
        case "no_match":
            return no_match(path, edit.nearest(text, args.old_string))
        case "ambiguous":
            extra: dict[str, object] = {"count": outcome.found, "lines": list(outcome.at)}
            return EditAmbiguous(path=path, count=outcome.found, lines=", ".join(map(str, outcome.at)), extra=extra)
        case "count_mismatch":
            counts: dict[str, object] = {"expected": args.expected_replacements, "actual": outcome.actual}
            return EditCountMismatch(path=path, expected=args.expected_replacements, actual=outcome.actual, extra=counts)
        case "no_change":
            return EditNoChange(path=path)


def no_match(path: str, near: edit.Nearest | None) -> EditNoMatch:
    """With the nearest window and what differs there, if anything in the file is like the text."""
    if near is None:
        return EditNoMatch(path=path, hint_en="", hint_zh="")
    hint_en, hint_zh = f" The nearest are lines {near.first}-{near.last}", f"最相近的是第 {near.first}-{near.last} 行"
    if near.differences:
        first = near.differences[0]
        hint_en += f"; line {first.line} differs in {first.kind}: {first.there!r}, wanted {first.wanted!r}"
        hint_zh += f"；第 {first.line} 行{KINDS_ZH[first.kind]}不同：{first.there!r}，期望 {first.wanted!r}"
    shown: dict[str, object] = {
        "startLine": near.first,
        "endLine": near.last,
        "linesAlike": near.alike,
        "differences": [{"line": one.line, "differs": one.kind, "file": one.there, "wanted": one.wanted} for one in near.differences],
    }
    return EditNoMatch(path=path, hint_en=hint_en + ".", hint_zh=hint_zh + "。", extra={"nearest": shown})
