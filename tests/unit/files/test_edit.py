# ruff: noqa: E501, PLR0917 - a test may look at the disk; tables of cases; what hypothesis draws
from __future__ import annotations

import itertools
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handrail.api.files.edit import Edited, NotEdited, apply, nearest
from handrail.api.files.edit.lines import split, to_dominant_eol
from handrail.api.files.edit.verbatim import exact
from handrail.contract.errors import HandrailError
from handrail.kit.text import Encoding, encode
from tests.support import naiveedit
from tests.support.filecalls import Calls

CASES = [json.loads(line) for line in (Path(__file__).parent / "edit_cases.jsonl").read_text().splitlines()]
MORE: list[dict[str, Any]] = [
    {"id": "bom", "text": "\ufeffone\r\ntwo\r\n", "old_string": "one\n", "new_string": "1\n", "result": "\ufeff1\r\ntwo\r\n", "matchStrategy": "line-endings"},
    {"id": "bom all", "text": "\ufeffone", "old_string": "\ufeffone", "new_string": "\ufeff1", "result": "\ufeff1", "matchStrategy": "line-endings"},
    {"id": "blank old", "text": "a\n\t\nb\n", "old_string": "a\n    \nb\n", "new_string": "c\n", "result": "c\n", "matchStrategy": "trailing-whitespace"},
    {"id": "deeper old", "text": "if x:\n  a()\n\n  b()\n", "old_string": "    a()\n\n    b()\n", "new_string": "    a()\n\n    c()\n",
     "result": "if x:\n  a()\n\n  c()\n", "matchStrategy": "indentation"},
    {"id": "ambiguous blanks", "text": "call()  \nx\ncall()\t\n", "old_string": "call()\n", "new_string": "done()\n", "error": "edit_ambiguous"},
    {"id": "ambiguous indent", "text": "  go(1) \nx\n    go(1) \n", "old_string": " go(1)\n", "new_string": " go(2)\n", "error": "edit_ambiguous"},
    {"id": "count", "text": "a,a", "old_string": "a", "new_string": "b", "replace_all": True, "expected_replacements": 3, "error": "edit_count_mismatch"},
    {"id": "no-op", "text": "abc", "old_string": "b", "new_string": "b", "error": "edit_no_change"},
    {"id": "no-op by line end", "text": "a\r\nb\r\n", "old_string": "a\nb", "new_string": "a\nb", "error": "edit_no_change"},
    {"id": "separators are text", "text": "a\u2028b\x0bc\n", "old_string": "b\x0bc", "new_string": "d", "result": "a\u2028d\n", "matchStrategy": "exact"},
    {"id": "a CR before a pair", "text": "x\r\r\ny", "old_string": "x\r", "new_string": "z", "result": "z\r\ny", "matchStrategy": "exact"},
    {"id": "ideographic blank", "text": "词　\n", "old_string": "词\n", "new_string": "字\n", "result": "字\n", "matchStrategy": "trailing-whitespace"},
]  # fmt: skip


@pytest.mark.req("F6", "F7")
@pytest.mark.parametrize("case", [*CASES, *MORE], ids=lambda case: str(case["id"]))
async def test_every_case_of_the_reference_holds_on_a_real_file(calls: Calls, work: Path, case: dict[str, Any]) -> None:
    (work / "f").write_bytes(case["text"].encode())
    arguments = {name: case[name] for name in ("old_string", "new_string", "replace_all", "expected_replacements") if name in case}
    if "error" in case:
        with pytest.raises(HandrailError) as caught:
            await calls("Edit", path="f", **arguments)
        assert caught.value.code == case["error"]
        assert (work / "f").read_bytes() == case["text"].encode()
        return
    answer = await calls("Edit", path="f", **arguments)
    assert (work / "f").read_bytes() == case["result"].encode()
    assert (answer["matchStrategy"], answer["replacements"]) == (case["matchStrategy"], case.get("replacements", 1))
    assert ("note" in answer) == (case["matchStrategy"] != "exact")


@pytest.mark.req("F6")
@pytest.mark.parametrize(("alphabet", "longest"), [("a \n\r", 5), ("a\t \n", 5), ("ab\n ", 4), ("\ufeffa\n", 5)])
def test_the_matcher_agrees_with_a_naive_model_on_every_small_text(alphabet: str, longest: int) -> None:
    texts = ["".join(chars) for size in range(longest + 1) for chars in itertools.product(alphabet, repeat=size)]
    olds = ["".join(chars) for size in range(1, 4) for chars in itertools.product(alphabet, repeat=size)]
    seen: set[str] = set()
    for number, (text, old) in enumerate(itertools.product(texts, olds)):
        new, replace_all = ("", " b\n", "b\r\nc", "  \n b")[number % 4], bool(number % 3)
        seen.add(_agree(text, old, new, replace_all=replace_all))
    assert seen >= {"exact", "no_match", "ambiguous", "trailing-whitespace"}


def _agree(text: str, old: str, new: str, *, replace_all: bool, expected: int | None = None) -> str:
    outcome = apply(text, old, new, replace_all=replace_all, expected=expected)
    model = naiveedit.edit(text, old, new, replace_all=replace_all, expected=expected)
    ours = (outcome.text, outcome.strategy, outcome.replacements) if isinstance(outcome, Edited) else outcome.reason
    assert ours == model, (text, old, new, replace_all)
    return ours[1] if isinstance(ours, tuple) else ours


CODE = st.lists(st.sampled_from(["if x:", "  go()", "    go()", "\tgo()", "go()", "go()  ", "", " ", "end\r"]), max_size=8)
ENDS = st.sampled_from(["\n", "\r\n"])


@pytest.mark.req("F6")
@settings(max_examples=600, deadline=None)
@given(CODE, ENDS, st.integers(0, 7), st.integers(1, 4), st.sampled_from(["", "  ", "\t"]), ENDS, st.booleans(), st.data())
def test_the_matcher_agrees_with_the_model_on_indented_code(
    lines: list[str], end: str, first: int, count: int, prefix: str, old_end: str, replace_all: bool, data: st.DataObject
) -> None:
    text = end.join(lines)
    chosen = [prefix + line if line.strip() else line for line in lines[first : first + count]]
    old = old_end.join(chosen) + data.draw(st.sampled_from(["", old_end]))
    if old:
        new = data.draw(st.sampled_from([old.replace("go", "stop"), "  x\n\n  y", "x", ""]))
        _agree(text, old, new, replace_all=replace_all, expected=data.draw(st.sampled_from([None, 1, 2])))


SMALL = st.text("ab \t\r\n", max_size=14)


@pytest.mark.req("F6")
@given(SMALL, st.text("ab \t\r\n", min_size=1, max_size=5), SMALL, st.booleans())
def test_no_edit_ever_splits_a_crlf_pair(text: str, old: str, new: str, replace_all: bool) -> None:
    for hit in exact(text, old, new):
        for edge in (hit.start, hit.end):
            assert not (0 < edge < len(text) and text[edge - 1 : edge + 1] == "\r\n")
    _agree(text, old, new, replace_all=replace_all)


ENCODINGS: list[tuple[Encoding, bool, str]] = [
    ("utf-8", False, "naïve 中文 🙂"), ("utf-8", True, "naïve 中文 🙂"), ("utf-16-le", True, "naïve 中文 🙂"), ("utf-16-be", True, "naïve 中文 🙂"),
    ("utf-16-le", False, "plain ascii enough to tell, ü"), ("utf-16-be", False, "plain ascii enough to tell, ü"), ("utf-32-le", True, "中文 🙂"),
    ("gb18030", False, "这是一个中文文件的内容，我们可以在这里看到"), ("big5", False, "這是一個中文檔案的內容，我們可以在這裡看到"),
    ("shift_jis", False, "これは日本語のファイルです。ここに内容があります"), ("latin-1", False, "une fenêtre déjà ouverte à l'été"),
]  # fmt: skip
FILLER = st.lists(st.sampled_from(["{}", "  {} x", "", "\t{}\t", "{}  ", "tail {}"]), min_size=1, max_size=12)


@pytest.mark.req("F5", "F6", "F7")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize(("encoding", "bom", "words"), ENCODINGS, ids=lambda value: str(value)[:10])
@given(FILLER, FILLER, st.lists(st.sampled_from(["\n", "\r\n", "\r\n", "\n"]), min_size=30, max_size=30), st.booleans())
async def test_untouched_bytes_of_a_file_never_change(
    calls: Calls,
    work: Path,
    encoding: Encoding,
    bom: bool,
    words: str,
    before: list[str],
    after: list[str],
    ends: list[str],
    one_kind: bool,
) -> None:
    """Before and after the edited place every byte stays, whatever the encoding, the line endings and the mark."""
    if one_kind:
        ends = ends[:1] * len(ends)
    lines = [line.format(words) for line in [*before, "NEEDLE  ", *after]]
    head = "".join(line + end for line, end in zip(lines[: len(before)], ends, strict=False))
    tail = ends[29] + "".join(line + end for line, end in zip(lines[len(before) + 1 :], ends[len(before) :], strict=False))
    head, tail = words + ends[28] + head, tail + words
    raw = encode(head + "NEEDLE  " + tail, encoding, bom=bom)
    (work / "f").write_bytes(raw)
    await calls("Read", path="f")
    answer = await calls("Edit", path="f", old_string="NEEDLE\n", new_string=f"{words}\nsecond\n")
    assert (answer["matchStrategy"], answer["encoding"]) == ("trailing-whitespace", encoding)
    filling = to_dominant_eol(f"{words}\nsecond\n", head + tail)
    assert (work / "f").read_bytes() == encode(head + filling + tail.removeprefix(ends[29]), encoding, bom=bom)


def test_new_text_takes_the_files_line_ending() -> None:
    assert to_dominant_eol("x\ny", "a\r\nb\r\n") == "x\r\ny"
    assert to_dominant_eol("x\r\ny", "a\nb\n") == "x\ny"
    assert to_dominant_eol("x\r\ny", "one line") == "x\r\ny"
    assert to_dominant_eol("x\ny", "a\r\nb\nc\n") == "x\ny"
    assert to_dominant_eol("x\ny", "a\r\nb\n") == "x\r\ny"


@given(st.text("ab\r\n", max_size=12))
def test_lines_joined_are_the_text(text: str) -> None:
    lines = split(text)
    assert "".join(text[a:b] for a, b in itertools.pairwise(lines.starts)) == text
    assert all(text[start:].startswith(content) for start, content in zip(lines.starts, lines.contents, strict=False))
    assert lines.ended == text.endswith("\n")


def test_hostile_texts_take_linear_time() -> None:
    began = time.process_time()
    many = "a\n" * 100_000
    assert isinstance(apply(many, "a \n" * 30_000 + "b\n", "x"), NotEdited)
    assert isinstance(apply(" a\n" * 100_000 + "  a\n", "a\n" * 5000 + " a\n", "x\n"), NotEdited)
    assert isinstance(apply("\r\n" * 300_000, "\n" * 100_000 + "b", "x"), NotEdited)
    assert nearest(many, "aa\n" * 10_000) is not None
    assert time.process_time() - began < 20


def test_an_absent_text_tells_the_nearest_lines_and_what_differs() -> None:
    text = "def f():\n    return compute(x, y)\n\ndef g():\n\treturn “quoted”\n"

    def first(old: str) -> tuple[int, str]:
        found = nearest(text, old)
        assert found is not None
        return found.differences[0].line, found.differences[0].kind

    assert first("DEF f():\n    return compute(x, y)\n") == (1, "case")
    assert first("def f():\n    return  compute(x,y)\n") == (2, "white space")
    assert first("def f():\n    return compute(x, z)\n") == (2, "text")
    assert first("def g():\n  return “quoted”\n") == (5, "indentation")
    assert first('\treturn "quoted"') == (5, "characters that look alike")
    assert first("return “quoted”\nmore\n")[0] == 5
    assert nearest(text, "nothing of this kind at all") is None
    assert nearest("", "x") is None


@pytest.mark.req("F6")
async def test_the_refusal_of_an_edit_helps_the_next_attempt(calls: Calls, work: Path) -> None:
    (work / "f").write_text("a = 1\n\tb = 2\nc = 3\nb = 4\nb = 4\n")
    with pytest.raises(HandrailError) as caught:
        await calls("Edit", path="f", old_string="a = 1\n  b = 2\n", new_string="x")
    body = caught.value.body("en")
    assert body["nearest"] == {
        "startLine": 1, "endLine": 2, "linesAlike": 1, "differences": [{"line": 2, "differs": "indentation", "file": "\tb = 2", "wanted": "  b = 2"}],
    }  # fmt: skip
    assert "line 2 differs in indentation" in str(body["error"])
    assert "缩进" in str(caught.value.body("zh")["error"])
    with pytest.raises(HandrailError) as caught:
        await calls("Edit", path="f", old_string="b = 4", new_string="x")
    assert (caught.value.extra["count"], caught.value.extra["lines"]) == (2, [4, 5])
