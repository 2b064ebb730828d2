"""Executors of Edit and MultiEdit: the tolerant replacement, and what a refusal tells to help the next attempt."""

from __future__ import annotations

from typing import cast

from handrail.api.files import edit
from handrail.api.files.arguments import EditArgs, EditStep, MultiEditArgs
from handrail.api.files.base import described, encoded, load, save
from handrail.api.files.errors import EditAmbiguous, EditCountMismatch, EditNoChange, EditNoMatch
from handrail.api.files.service import FileService
from handrail.api.tools.registry import Invocation, Result
from handrail.contract.errors import HandrailError, Lang

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

    def work() -> Result:
        base = load(files, call.actor, scope, location, args.expected_version)
        outcome = _edited(base.text.text, args, location.path)
        data = encoded(files, base, outcome.text)
        files.before_change(call.actor, [location])
        version = save(files, call.actor, scope, base, data)
        answer = described(base, outcome.text, version, call.actor.lang) | _told(outcome, args)
        if outcome.strategy in TAUGHT:
            answer["note"] = TAUGHT[outcome.strategy][call.actor.lang]
        return answer

    return await files.run(work)


async def multi_edit(files: FileService, call: Invocation) -> Result:
    """Several edits of one file, each on what the ones before made: all of them in one write, or none."""
    args = cast("MultiEditArgs", call.args)
    scope = files.scope(call.actor)
    location = scope.locate(args.path)

    def work() -> Result:
        base = load(files, call.actor, scope, location, args.expected_version)
        text, told = base.text.text, list[Result]()
        for number, step in enumerate(args.edits, 1):
            try:
                outcome = _edited(text, step, location.path)
            except HandrailError as exc:
                exc.extra["edit"] = number
                raise
            text = outcome.text
            told.append(_told(outcome, step))
        if text == base.text.text:
            raise EditNoChange(path=location.path)
        data = encoded(files, base, text)
        files.before_change(call.actor, [location])
        version = save(files, call.actor, scope, base, data)
        return described(base, text, version, call.actor.lang) | {"edits": told}

    return await files.run(work)


def _edited(text: str, step: EditArgs | EditStep, path: str) -> edit.Edited:
    outcome = edit.apply(text, step.old_string, step.new_string, replace_all=step.replace_all, expected=step.expected_replacements)
    if isinstance(outcome, edit.NotEdited):
        raise refusal(outcome, path, step, text)
    return outcome


def _told(outcome: edit.Edited, step: EditArgs | EditStep) -> Result:
    return {"replacements": outcome.replacements, "replaceAll": step.replace_all, "matchStrategy": outcome.strategy}


def refusal(outcome: edit.NotEdited, path: str, args: EditArgs | EditStep, text: str) -> HandrailError:
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
    return EditNoMatch(path=path, hint_en=hint_en + ".", hint_zh=hint_zh + "。", extra={"nearest": edit.shown(near)})
