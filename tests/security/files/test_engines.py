# ruff: noqa: E501 - tables of patterns; an odd name
"""ripgrep and the fallback over one tree: more than 500 queries, answer for answer."""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from handrail.contract.errors import HandrailError
from tests.support import searchtree
from tests.support.filecalls import Calls, calls_in

ACROSS = [
    r"foo\nFOO", r"def.*return", r"^\n", r"\n\n", r"first\s+last", r"one$\n", r"\Aimport", r"foo\n\z", r"two foo\r\n\r\nfoo", r"(?-s)a.b", r"[^f]foo$",
    r"import os\n\ndef foo", r"TODO.*\n.*école", r"x\n", r"\S+\n\S+", r"foo(?:\n.*){3}", r".+",
]  # fmt: skip
OPTIONS: list[dict[str, Any]] = [
    {}, {"context": 3}, {"output_mode": "files"}, {"output_mode": "count"}, {"path": "sub"}, {"file_pattern": "*.txt|*.py"}, {"head_limit": 3, "offset": 2},
    {"include_ignored": True}, {"file_pattern": "sub/**/*.{py,txt}"}, {"path": "many.txt", "head_limit": 7},
]  # fmt: skip
WORDS = [
    "foo",
    "Foo",
    "o",
    "line",
    "翻译",
    "é",
    "ß",
    "[a-f]+",
    r"\d+",
    r"\w{4}",
    "^.",
    "$",
    "(a|b|c)o",
    "x{2,}",
    r"\s",
    r"[^\x00-\x7f]",
    "f.?o",
    "o+ ",
]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Generator[Calls]:
    base = tmp_path_factory.mktemp("engines")
    made = calls_in(base)
    work = base / "work"
    searchtree.build(work)
    more(work)
    yield made
    made.service.close()


def more(work: Path) -> None:
    """A file larger than the window, deep and odd names, random bytes and random text in several encodings."""
    with (work / "huge.txt").open("wb") as file:
        for number in range(400_000):
            file.write(b"line %d of a large file\n" % number if number % 50_000 else b"foo huge\n")
    rng = random.Random(7)
    pieces = ["foo ", "Foo", "\n", "\r\n", "line 12 ", "中文", "é", "ß", "\t", "x" * 30, "a.b", "\u2028", "🙂", "o" * 5]
    for number in range(60):
        encoding = ("utf-8", "utf-8-sig", "utf-16", "utf-16-be", "latin-1", "gb18030", "shift_jis")[number % 7]
        text = "".join(rng.choice(pieces) for _ in range(80))
        (work / f"random {number}").write_bytes(text.encode(encoding, "replace"))
        (work / f"bytes{number}").write_bytes(rng.randbytes(rng.randrange(3000)))
    deep = work
    for number in range(12):
        deep = deep / f"level {number} – é"
        deep.mkdir()
        (deep / "-n foo.txt").write_text("deep foo\n")
    with open(os.fsencode(work) + b"/sub/\xff\xfe:1:x", "wb") as file:
        file.write(b"odd foo\n")


def queries() -> Iterator[tuple[str, dict[str, Any]]]:
    for pattern, case in itertools.product(searchtree.FIXED, (False, True)):
        yield "SearchContent", {"pattern": pattern, "caseSensitive": case, "maxResults": 5000}
        yield "Grep", {"pattern": pattern, "fixed_strings": True, "ignore_case": not case, "head_limit": 5000}
    for pattern, case in itertools.product(searchtree.REGEX, (False, True)):
        yield "Grep", {"pattern": pattern, "ignore_case": case, "head_limit": 3000}
    for pattern, options in itertools.product(WORDS, OPTIONS):
        yield "Grep", {"pattern": pattern, **options}
    for pattern, case in itertools.product(ACROSS, (False, True)):
        yield "Grep", {"pattern": pattern, "multiline": True, "ignore_case": case, "context": 1, "head_limit": 2000}
    for pattern in ("a\nb", "foo\r\n", "line\n", "\n"):
        yield "Grep", {"pattern": pattern, "multiline": True, "fixed_strings": True}


def test_there_are_enough_queries() -> None:
    assert len(list(queries())) >= 500


@pytest.mark.req("C14", "F4", "PF-B6")
@pytest.mark.timeout(600)
async def test_both_engines_give_the_same_answer_to_every_query(corpus: Calls) -> None:
    found = corpus.service.rg()
    assert found is not None, "ripgrep is part of the test environment"
    by_rg = nothing = 0
    for tool, arguments in queries():
        answers: list[dict[str, Any]] = []
        for program in (found, None):
            corpus.service.rg = lambda program=program: program
            try:
                answers.append(await corpus(tool, **arguments))
            except HandrailError as exc:
                answers.append({"code": exc.code})
        by_rg += answers[0].pop("engine", "") == "rg"
        answers[1].pop("engine", None)
        assert answers[0] == answers[1], (tool, arguments)
        assert not answers[0].get("timedOut")
        nothing += not (answers[0].get("total") or answers[0].get("matchCount"))
    assert by_rg > 450
    assert nothing < 150
