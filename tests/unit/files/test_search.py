# ruff: noqa: E501, ASYNC240 - tables of cases; a test may look at the disk
from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.api.files import searching
from handrail.api.files.errors import GlobInvalid, PatternInvalid, RegexInvalid
from handrail.api.files.search import engine
from handrail.api.files.search.content import WINDOW, search_file
from handrail.api.files.search.dialect import re2_pattern, rust_pattern, tokens
from handrail.api.files.search.globs import Glob
from handrail.api.files.search.linear import compile_lines
from handrail.kit.errors import DirectoryMissing
from handrail.kit.walk import Stop
from tests.support import searchtree
from tests.support.filecalls import Calls, actor_in, calls_in


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[Calls, Path]]:
    """One tree for the tests that only read."""
    base = tmp_path_factory.mktemp("corpus")
    made = calls_in(base)
    searchtree.build(base / "work")
    yield made, base / "work"
    made.service.close()


async def both(calls: Calls, tool: str, **arguments: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The answers with ripgrep and without."""
    found = calls.service.rg()
    assert found is not None, "ripgrep is part of the test environment"
    calls.service.rg = lambda: found
    with_rg = await calls(tool, **arguments)
    calls.service.rg = lambda: None
    without = await calls(tool, **arguments)
    del calls.service.rg
    assert without.pop("engine") == "fallback"
    return with_rg, without


@pytest.mark.req("C14", "PF-B6")
@pytest.mark.parametrize("case", [False, True])
@pytest.mark.parametrize("pattern", searchtree.FIXED)
async def test_both_engines_find_the_same_plain_text(corpus: tuple[Calls, Path], pattern: str, case: bool) -> None:
    calls, _ = corpus
    arguments: dict[str, Any] = {"pattern": pattern, "caseSensitive": case, "maxResults": 5000, "contextLines": 1}
    with_rg, without = await both(calls, "SearchContent", **arguments)
    assert with_rg.pop("engine") == "rg"
    assert with_rg == without


@pytest.mark.req("C14", "F4")
@pytest.mark.parametrize("pattern", searchtree.REGEX)
async def test_both_engines_find_the_same_by_regular_expression(corpus: tuple[Calls, Path], pattern: str) -> None:
    calls, _ = corpus
    for case in (False, True):
        with_rg, without = await both(calls, "Grep", pattern=pattern, ignore_case=case, head_limit=5000, context=2)
        del with_rg["engine"]
        assert with_rg == without


async def test_most_regular_expressions_do_run_on_ripgrep(corpus: tuple[Calls, Path]) -> None:
    calls, _ = corpus
    engines = [(await calls("Grep", pattern=pattern))["engine"] for pattern in searchtree.REGEX]
    assert engines.count("rg") >= len(engines) - 6


@pytest.mark.req("C14")
@pytest.mark.parametrize(
    "options",
    [
        {"filePattern": "*.py"}, {"filePattern": "*.PY"}, {"filePattern": "*.{py,txt}"}, {"filePattern": "sub/*.py"}, {"filePattern": "**/x.py"},
        {"filePattern": "*.py|*.txt"}, {"filePattern": "*"}, {"filePattern": "[a-b].*"}, {"filePattern": "?.py"}, {"filePattern": "-*"},
        {"filePattern": "build*"}, {"filePattern": "!*.py"}, {"path": "sub"}, {"path": "a.py"}, {"path": ".git"}, {"path": "node_modules"},
        {"path": "link_dir"}, {"path": "link.txt"}, {"recursive": False}, {"maxResults": 1}, {"maxResults": 3}, {"maxResults": -5},
        {"contextLines": 0}, {"contextLines": -3}, {"contextLines": 999}, {"path": "a:12:b.txt"}, {"path": "sub", "recursive": False},
    ],
)  # fmt: skip
async def test_both_engines_agree_on_options(corpus: tuple[Calls, Path], options: dict[str, Any]) -> None:
    calls, _ = corpus
    with_rg, without = await both(calls, "SearchContent", **{"pattern": "foo", **options})
    assert with_rg.pop("engine") == "rg"
    assert with_rg == without


@pytest.mark.req("C14", "PF-B6")
async def test_results_are_what_the_wire_says(corpus: tuple[Calls, Path]) -> None:
    calls, tree = corpus
    for answer in await both(calls, "SearchContent", pattern="foo(b", contextLines=1):
        assert answer["total"] == 1
        assert answer["results"] == [
            {
                "file": str(tree / "a.py"), "line": 3, "content": "def foo(bar):",
                "context": [
                    {"line": 2, "content": "", "isMatch": False},
                    {"line": 3, "content": "def foo(bar):", "isMatch": True},
                    {"line": 4, "content": "    return bar  # TODO", "isMatch": False},
                ],
            }
        ]  # fmt: skip
    for answer in await both(calls, "SearchContent", pattern="colons", contextLines=0):
        assert answer["results"] == [{"file": str(tree / "a:12:b.txt"), "line": 1, "content": "colons foo"}]


@pytest.mark.req("C14", "PF-B5")
async def test_the_limit_is_one_for_all_files(calls: Calls, work: Path) -> None:
    for number in range(50):
        (work / f"n{number:02}").write_text("foo\n" * 1000)
    for answer in await both(calls, "SearchContent", pattern="foo"):
        assert (answer["total"], len(answer["results"]), answer["truncated"]) == (100, 100, True)
    for answer in await both(calls, "SearchContent", pattern="foo", maxResults=10**9):
        assert answer["total"] == 5000


@pytest.mark.req("C14")
async def test_binary_skipped_and_hidden_directories_are_no_part_of_it(corpus: tuple[Calls, Path]) -> None:
    calls, tree = corpus
    for answer in await both(calls, "SearchContent", pattern="foo", maxResults=5000):
        files = {os.path.relpath(hit["file"], tree) for hit in answer["results"]}
        assert not files & {
            "bin_start",
            "bin_late",
            "pic.png",
            ".git/config",
            "node_modules/m/index.js",
            "dist/out.js",
            "sub/build/out.js",
            ".config/x",
        }
        assert {".hidden", "a.py", "ignored", "wide.txt", "wide_be.txt", "latin.txt", "build.txt", "many.txt"} <= files
        assert not any("link" in name for name in files)
    grep = (await calls("Grep", pattern="foo", output_mode="files", head_limit=5000))["files"]
    assert {".config/x"} <= {row["path"] for row in grep}
    assert not {".git/config"} & {row["path"] for row in grep}


@pytest.mark.req("C14", "PF-A4")
@pytest.mark.parametrize(
    "pattern", ["--pre=/bin/true", "--pre={prog}", "-e", "--files", "--", "-f/etc/passwd", "--hostname-bin={prog}", "--search-zip"]
)
async def test_a_pattern_is_never_an_option(calls: Calls, work: Path, tmp_path: Path, pattern: str) -> None:
    marker = tmp_path / "ran"
    program = tmp_path / "prog"
    program.write_text(f"#!/bin/sh\ntouch {marker}\ncat\n")
    program.chmod(0o755)
    pattern = pattern.replace("{prog}", str(program))
    (work / "f").write_text(f"before\nsee {pattern} here\n")
    for tool, more in (("SearchContent", {}), ("Grep", {"fixed_strings": True})):
        with_rg, without = await both(calls, tool, pattern=pattern, **more)
        assert (with_rg.pop("engine"), with_rg["total"]) == ("rg", 1)
        assert with_rg == without
    for glob in (f"--pre={program}", "-g", "!*"):
        await both(calls, "SearchContent", pattern="see", filePattern=glob)
    await calls("SearchFiles", pattern="--exec=touch")
    assert not marker.exists()


@pytest.mark.req("C14")
async def test_a_hostile_expression_cannot_hang_the_search(calls: Calls, work: Path) -> None:
    (work / "f").write_text("a" * 200_000 + "\n")
    (work / "g").write_text(("ac" * 50 + "\n") * 2000)
    began = time.monotonic()
    for pattern in ("(a+)+$x", "(a|a)*b", "(.*)*x", "(a|aa)+$b", "((a{1,100}){1,9})*b", "([a-z]+)*[0-9]", ".*.*.*.*=.*"):
        for answer in await both(calls, "Grep", pattern=pattern):
            assert answer["total"] == 0
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("pattern", ["a(", "[", "*", r"(?=x)", r"\1", "(?P<x", "a{99999}", r"\8", "(?<!a)b", "((a{100}){100}){100}"])
async def test_an_expression_outside_of_the_dialect_is_400(calls: Calls, work: Path, pattern: str) -> None:
    with pytest.raises(RegexInvalid) as caught:
        await calls("Grep", pattern=pattern)
    assert caught.value.status == 400


@pytest.mark.req("PF-B16")
@pytest.mark.parametrize("pattern", ["", "a\nb", "a\0b", "\r"])
async def test_a_pattern_that_is_no_line_is_400(calls: Calls, work: Path, pattern: str) -> None:
    with pytest.raises(PatternInvalid):
        await calls("SearchContent", pattern=pattern)


@pytest.mark.req("PF-B16")
async def test_a_missing_place_is_404_and_a_bad_glob_400(calls: Calls, work: Path) -> None:
    for tool in ("SearchContent", "SearchFiles", "Grep", "Glob"):
        with pytest.raises(DirectoryMissing) as caught:
            await calls(tool, path="none", pattern="x")
        assert caught.value.status == 404
    with pytest.raises(GlobInvalid):
        await calls("SearchFiles", pattern="{a")
    with pytest.raises(GlobInvalid):
        await calls("SearchContent", pattern="a", filePattern="|")


@pytest.mark.req("C15", "C14")
async def test_without_ripgrep_or_with_a_broken_one_the_search_goes_on(corpus: tuple[Calls, Path], tmp_path: Path) -> None:
    calls, _ = corpus
    wanted = (await calls("SearchContent", pattern="foo"))["results"]
    broken = tmp_path / "rg"
    broken.write_text("#!/bin/sh\nexit 2\n")
    broken.chmod(0o755)
    for program in (None, "/nonexistent/rg", str(broken), "/etc/passwd", str(tmp_path)):
        calls.service.rg = lambda program=program: program
        answer = await calls("SearchContent", pattern="foo")
        assert (answer["engine"], answer["results"]) == ("fallback", wanted)
    del calls.service.rg


async def test_a_ripgrep_that_names_files_outside_tells_nothing(calls: Calls, work: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("foo secret\n")
    (work / "ok").write_text("foo ok\n")
    (work / "out").symlink_to(tmp_path)
    liar = tmp_path / "rg"
    liar.write_text(f"#!/bin/sh\nprintf '../secret\\0{tmp_path}/secret\\0/etc/passwd\\0out/secret\\0none\\0ok\\0'\n")
    liar.chmod(0o755)
    calls.service.rg = lambda: str(liar)
    answer = await calls("SearchContent", pattern="foo")
    assert [hit["content"] for hit in answer["results"]] == ["foo ok"]


async def test_more_candidates_than_the_first_guess_are_all_used(calls: Calls, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "BYTES_A_PATH", 1)
    for number in range(300):
        (work / f"file_with_a_long_name_{number:03}").write_bytes(b"foo\0" if number % 2 else b"foo\n")
    for answer in await both(calls, "SearchContent", pattern="foo", maxResults=200):
        assert (answer["total"], answer["truncated"]) == (150, False)


async def test_a_cancelled_search_ends_its_thread(calls: Calls, work: Path) -> None:
    for number in range(3000):
        (work / f"f{number}").write_text("nothing here\n" * 50)
    calls.service.rg = lambda: None
    task = asyncio.create_task(calls("SearchContent", pattern="absent"))
    async with asyncio.timeout(10):
        while calls.service._waiting == 0:  # noqa: ASYNC110 - the other side is a thread
            await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    began = time.monotonic()
    calls.service._search_pool.shutdown(wait=True)
    assert time.monotonic() - began < 2


async def test_time_up_answers_what_was_found(calls: Calls, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (work / "f").write_text("foo\n")
    monkeypatch.setattr(engine, "SECONDS", 0.0)
    monkeypatch.setattr(searching, "SECONDS", 0.0)
    calls.service.rg = lambda: None
    answer = await calls("SearchContent", pattern="foo")
    assert (answer["timedOut"], answer["total"]) == (True, 0)
    assert (await calls("SearchFiles", pattern="*"))["timedOut"]


@pytest.mark.parametrize("context", [0, 3])
def test_a_file_of_several_windows_is_searched_like_a_small_one(tmp_path: Path, context: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from handrail.api.files.search import content

    path = tmp_path / "f"
    path.write_bytes(b"\xef\xbb\xbf" + b"".join(b"line %d %s\n" % (n, b"foo" if n % 37 == 0 else b"bar") for n in range(5000)))
    pattern = compile_lines("foo$|^line 0 ", fixed=False, ignore_case=False)
    fd = os.open(path, os.O_RDONLY)
    try:
        whole = search_file(fd, path.stat().st_size, pattern, limit=10_000, context=context, stop=Stop(60))
        assert len(whole) == 136
        for window in (1000, 4096, 33_333):
            monkeypatch.setattr(content, "WINDOW", window)
            assert search_file(fd, path.stat().st_size, pattern, limit=10_000, context=context, stop=Stop(60)) == whole
    finally:
        os.close(fd)
    assert WINDOW > 1 << 20


@pytest.mark.req("C13")
async def test_files_are_found_by_glob_whatever_their_case(corpus: tuple[Calls, Path]) -> None:
    calls, tree = corpus

    async def found(**options: Any) -> list[str]:
        return [os.path.relpath(hit["path"], tree) for hit in (await calls("SearchFiles", **options))["results"]]

    assert await found(pattern="*.PY") == ["a.py", "sub/deep/er/x.py", "sub/x.py"]
    assert await found(pattern="x.*") == ["sub/deep/er/x.py", "sub/x.py"]
    assert await found(pattern="deep") == ["sub/deep"]
    assert await found(pattern="*.py", recursive=False) == ["a.py"]
    assert await found(pattern="*.py", path="sub") == ["sub/deep/er/x.py", "sub/x.py"]
    assert await found(pattern="index.js") == []
    assert await found(pattern=".hidden") == [".hidden"]
    assert await found(pattern="a:12:?.txt") == ["a:12:b.txt"]
    answer = await calls("SearchFiles", pattern="*", maxResults=3)
    assert (answer["total"], answer["truncated"], answer["engine"]) == (3, True, "fallback")
    kinds = {hit["name"]: hit["type"] for hit in (await calls("SearchFiles"))["results"]}
    assert (kinds["a.py"], kinds["sub"], kinds["fifo"], kinds["link.txt"], kinds["link_dir"], kinds["link_out"]) == (
        "file", "directory", "unknown", "file", "directory", "unknown",
    )  # fmt: skip


@pytest.mark.req("F4")
async def test_glob_pages_files_by_path(corpus: tuple[Calls, Path]) -> None:
    calls, _ = corpus
    assert (await calls("Glob", pattern="*.py"))["paths"] == ["a.py", "sub/x.py"]
    assert (await calls("Glob", pattern="*.py", include_ignored=True))["paths"] == ["a.py", "sub/deep/er/x.py", "sub/x.py"]
    assert (await calls("Glob", pattern="sub/**/*.py", include_ignored=True))["paths"] == ["sub/deep/er/x.py", "sub/x.py"]
    assert (await calls("Glob", pattern="sub/*.py"))["paths"] == ["sub/x.py"]
    assert (await calls("Glob", pattern="**/deep/**", include_ignored=True))["paths"] == ["sub/deep/er/x.py", "sub/deep/gone.txt"]
    page = await calls("Glob", pattern="*", offset=2, max_results=2)
    everything = await calls("Glob", pattern="*", max_results=5000)
    assert page["paths"] == everything["paths"][2:4]
    assert (page["hasMore"], everything["hasMore"]) == (True, False)


@pytest.mark.req("F4")
async def test_grep_shows_lines_with_context_files_and_counts(corpus: tuple[Calls, Path]) -> None:
    calls, _ = corpus
    answer = await calls("Grep", pattern="def", path="a.py", context=1)
    assert answer["content"] == "a.py-2- \na.py:3: def foo(bar):\na.py-4-     return bar  # TODO\n--"
    files = await calls("Grep", pattern="TODO", output_mode="files", ignore_case=False)
    assert files["files"] == [{"path": "a.py", "count": 1, "firstLine": 4}, {"path": "b.txt", "count": 1, "firstLine": 2}]
    assert await calls("Grep", pattern="TODO", output_mode="count", ignore_case=False) == {
        "pattern": "TODO", "mode": "count", "engine": "rg", "timedOut": False, "fileCount": 2, "matchCount": 2, "hasMore": False,
    }  # fmt: skip
    paged = await calls("Grep", pattern="foo", offset=3, head_limit=2)
    whole = await calls("Grep", pattern="foo", head_limit=5000)
    assert paged["matches"] == whole["matches"][3:5]
    assert paged["hasMore"]
    long = await calls("Grep", pattern="xfooy", path="long.min.js")
    assert len(long["matches"][0]["text"]) == 403


@pytest.mark.req("ATK-25")
async def test_a_search_never_leaves_the_root_or_enters_the_data_directory(calls: Calls, work: Path, tmp_path: Path) -> None:
    (tmp_path / "data" / "config.json").write_text("needle")
    (tmp_path / "secret").write_text("needle")
    (work / "up").symlink_to("..")
    (work / "abs").symlink_to(tmp_path)
    (work / "f").write_text("needle")
    for answer in await both(calls, "SearchContent", pattern="needle"):
        assert [hit["file"] for hit in answer["results"]] == [str(work / "f")]
    calls.actor = actor_in(tmp_path)
    for answer in await both(calls, "SearchContent", pattern="needle"):
        assert sorted(hit["file"] for hit in answer["results"]) == [str(tmp_path / "secret"), str(work / "f")]
    assert not any("config.json" in path for path in (await calls("Glob", pattern="*"))["paths"])


@given(st.text("ab[]{}*?,!^-\\/.|", max_size=12), st.binary(max_size=12))
def test_any_glob_compiles_or_is_refused(glob: str, name: bytes) -> None:
    try:
        compiled = Glob(glob, ignore_case=True, alternatives=True)
    except GlobInvalid:
        return
    assert compiled.matches(name) in (True, False)


@pytest.mark.parametrize(
    ("glob", "path", "hit"),
    [
        ("*.py", "a.py", True), ("*.py", "d/a.py", True), ("*.py", "a.pyc", False), ("/*.py", "d/a.py", False), ("/*.py", "a.py", True),
        ("d/*.py", "d/a.py", True), ("d/*.py", "d/e/a.py", False), ("**/a.py", "a.py", True), ("**/a.py", "x/y/a.py", True), ("d/**", "d/a/b", True),
        ("d/**/b", "d/b", True), ("d/**/b", "d/x/y/b", True), ("a?c", "abc", True), ("a?c", "ac", False), ("[ab]c", "bc", True), ("[!ab]c", "bc", False),
        ("[!ab]c", "cc", True), ("[", "[", True), ("{a,b}.c", "b.c", True), ("{a,{b,c}}", "c", True), ("a\\*", "a*", True), ("a\\*", "ab", False),
        ("a,b", "a,b", True), ("}", "}", True), ("a|b", "a|b", True), ("*", ".hidden", True), ("中*", "中文.txt", True), ("?", "中", True), ("**", "a/b", True),
        ("a**b", "axxb", True), ("[]]", "]", True), ("[a-c]", "b", True), ("./x", "x", True),
    ],
)  # fmt: skip
def test_globs_mean_what_they_say(glob: str, path: str, hit: bool) -> None:
    assert Glob(glob, ignore_case=False).matches(path.encode()) is hit


@given(st.text("ab[]^$\\QEAzwdb-&~:.*+?(){}|", max_size=20))
def test_tokens_joined_are_the_pattern(pattern: str) -> None:
    assert "".join(text for _, text, _ in tokens(pattern)) == pattern
    assert isinstance(re2_pattern(pattern), str)
    assert isinstance(rust_pattern(pattern), str | None)
