# ruff: noqa: ASYNC240 - a test may look at the disk
from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from handrail.api.files.errors import NotText
from handrail.api.files.reading import READ_BYTES
from handrail.api.files.service import INLINE_MAX
from handrail.kit.errors import DirectoryMissing, FileMissing, NotADirectory, OutOfBounds, RootChanged, TooLarge, UnsupportedTarget
from handrail.kit.versions import FileVersion
from tests.support.filecalls import Calls, actor_in, calls_in


@pytest.mark.req("C4")
async def test_the_wire_reads_a_file_whole(calls: Calls, work: Path) -> None:
    (work / "a.txt").write_text("héllo\n中文\r\n")
    answer = await calls("ReadWire", path="a.txt")
    assert FileVersion.parse(answer.pop("version")).matches(FileVersion.of((work / "a.txt").stat()))
    assert answer == {
        "success": True, "content": "héllo\n中文\r\n", "size": 15, "path": str(work / "a.txt"),
        "encoding": "utf-8", "bom": False, "lossy": False, "binary": False,
    }  # fmt: skip


@pytest.mark.req("C4")
async def test_large_files_are_read_in_a_thread_and_are_the_same(calls: Calls, work: Path) -> None:
    for size in (INLINE_MAX, INLINE_MAX + 1, 3_000_000):
        (work / "big").write_text("x" * size)
        assert (await calls("ReadWire", path="big"))["content"] == "x" * size


@pytest.mark.req("C4", "C20")
async def test_a_file_over_the_limit_is_413(tmp_path: Path) -> None:
    calls = calls_in(tmp_path, limit=1000)
    (tmp_path / "work" / "f").write_bytes(b"x" * 1001)
    with pytest.raises(TooLarge) as caught:
        await calls("ReadWire", path="f")
    assert (caught.value.status, caught.value.code) == (413, "too_large")
    with pytest.raises(TooLarge):
        await calls("WriteWire", path="g", content="é" * 501)
    with pytest.raises(TooLarge):
        await calls("WriteWire", path="g", content="A" * 1336 + "AA==", encoding="base64")
    assert sorted(os.listdir(tmp_path / "work")) == ["f"]


@pytest.mark.req("C4")
async def test_the_extensions_memory_file_is_missing_not_forbidden(calls: Calls, tmp_path: Path) -> None:
    for path in ("~/.ai-helper-agent/memory/global-memory.json", f"{tmp_path}/home/.ai-helper-agent/memory/global-memory.json"):
        with pytest.raises(FileMissing) as caught:
            await calls("ReadWire", path=path)
        assert caught.value.status == 404
        assert "File does not exist" in caught.value.text("en")
        assert "文件不存在" in caught.value.text("zh")
    with pytest.raises(OutOfBounds):
        await calls("ReadWire", path="~/.ai-helper-agent/config.json")


@pytest.mark.req("PF-B16")
async def test_what_is_missing_is_404_in_both_languages(calls: Calls, work: Path) -> None:
    for tool, error in (("ReadWire", FileMissing), ("Stat", FileMissing), ("ListWire", DirectoryMissing), ("Read", FileMissing)):
        with pytest.raises(error) as caught:
            await calls(tool, path="none")
        assert caught.value.status == 404
        assert caught.value.text("en") != caught.value.text("zh")


@pytest.mark.req("PF-C1", "ATK-23")
async def test_pipes_never_hold_anything_up(calls: Calls, work: Path) -> None:
    os.mkfifo(work / "fifo")
    (work / "n.txt").write_text("n")
    began = time.monotonic()
    outcomes = await asyncio.gather(
        *(
            calls(tool, path="fifo")
            for tool in ("ReadWire", "Read", "Edit", "WriteWire")
            for _ in range(10)
            if tool in ("ReadWire", "Read")
        ),
        return_exceptions=True,
    )
    assert {type(outcome) for outcome in outcomes} == {UnsupportedTarget}
    assert (await calls("ReadWire", path="n.txt"))["content"] == "n"
    found = await calls("SearchContent", pattern="n")
    assert [hit["file"] for hit in found["results"]] == [str(work / "n.txt")]
    assert time.monotonic() - began < 5


@pytest.mark.req("PF-B9")
async def test_binary_is_marked_on_the_wire_and_refused_by_the_tools(calls: Calls, work: Path) -> None:
    (work / "b").write_bytes(b"\x7fELF\0\xff\xfe")
    answer = await calls("ReadWire", path="b")
    assert (answer["encoding"], answer["lossy"], answer["binary"]) == ("binary", True, True)
    with pytest.raises(NotText):
        await calls("Read", path="b")
    with pytest.raises(NotText):
        await calls("Edit", path="b", old_string="ELF", new_string="X")
    assert (work / "b").read_bytes() == b"\x7fELF\0\xff\xfe"


@pytest.mark.req("F3")
async def test_read_numbers_lines_and_says_what_it_shows(calls: Calls, work: Path) -> None:
    (work / "f").write_text("".join(f"line {n}\n" for n in range(1, 501)))
    whole = await calls("Read", path="f", limit=1000)
    assert (whole["view"], whole["totalLines"], whole["endLine"]) == ("full", 500, 500)
    assert whole["content"].splitlines()[41] == "    42\tline 42"
    part = await calls("Read", path="f", start_line=499, limit=10)
    assert (part["content"], part["view"]) == ("   499\tline 499\n   500\tline 500\n", "partial")
    assert (await calls("Read", path="f"))["endLine"] == 200
    beyond = await calls("Read", path="f", start_line=900)
    assert (beyond["content"], beyond["totalLines"]) == ("", 500)


@pytest.mark.req("F3")
async def test_read_cuts_at_its_cap_and_says_so(calls: Calls, work: Path) -> None:
    (work / "wide").write_text("\n".join("x" * 1000 for _ in range(1000)))
    cut = await calls("Read", path="wide", limit=1000)
    assert cut["truncated"]
    assert len(cut["content"].encode()) <= READ_BYTES
    after = await calls("Read", path="wide", start_line=cut["endLine"] + 1, limit=1000)
    assert after["startLine"] == cut["endLine"] + 1
    (work / "one").write_text("中" * READ_BYTES)
    one = await calls("Read", path="one")
    assert (one["lineCut"], one["truncated"], one["endLine"]) == (True, True, 1)
    assert len(one["content"]) > READ_BYTES / 4


@pytest.mark.req("F3")
async def test_only_line_feeds_end_lines(calls: Calls, work: Path) -> None:
    (work / "plain").write_bytes(b"a\x0cb\xe2\x80\xa8c\nd")
    assert (await calls("Read", path="plain"))["content"] == "     1\ta\x0cb\u2028c\n     2\td"
    (work / "f").write_bytes(b"a\r\nb\rc\x0cd\xe2\x80\xa8e\n")
    read = await calls("Read", path="f")
    assert read["totalLines"] == 2
    assert read["content"] == "     1\ta\r\n     2\tb\rc\x0cd\u2028e\n"


@pytest.mark.req("C6")
async def test_the_wire_lists_everything_by_name(calls: Calls, work: Path) -> None:
    (work / "b").write_text("12")
    (work / ".a").mkdir()
    (work / "l").symlink_to("b")
    answer = await calls("ListWire", path=".")
    shown = [(e["name"], e["type"], e.get("isSymbolicLink", False)) for e in answer["entries"]]
    assert shown == [(".a", "directory", False), ("b", "file", False), ("l", "file", True)]
    assert answer["entries"][1]["size"] == 2
    assert abs(answer["entries"][1]["mtime"] - time.time() * 1000) < 60_000
    with pytest.raises(NotADirectory) as caught:
        await calls("ListWire", path="b")
    assert caught.value.status == 400


@pytest.mark.req("C8", "PF-B20")
async def test_stat_shows_the_link_and_what_it_leads_to(calls: Calls, work: Path) -> None:
    (work / "f.html").write_text("x")
    (work / "in").symlink_to("f.html")
    (work / "out").symlink_to("/etc/passwd")
    info = (await calls("Stat", path="f.html"))["info"]
    assert {
        "name",
        "path",
        "type",
        "size",
        "mtime",
        "ctime",
        "atime",
        "mode",
        "isDirectory",
        "isFile",
        "isSymbolicLink",
        "uid",
        "gid",
    } <= set(info)
    assert (info["type"], info["mimeType"], info["isFile"], info["isSymbolicLink"]) == ("file", "text/html", True, False)
    inside = (await calls("Stat", path="in"))["info"]
    assert (inside["type"], inside["isSymbolicLink"], inside["linkTarget"], inside["targetType"]) == ("symlink", True, "f.html", "file")
    outside = (await calls("Stat", path="out"))["info"]
    assert (outside["targetType"], outside["targetProblem"], outside["size"]) == ("unknown", "out_of_bounds", len("/etc/passwd"))


@pytest.mark.req("F4")
async def test_list_goes_down_to_a_depth_in_pages(calls: Calls, work: Path) -> None:
    for path in ("a/b/c/d.txt", "a/x.txt", ".git/config", "node_modules/m/i.js", ".env", "z.txt"):
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_text("x")
    paths = [entry["path"] for entry in (await calls("List"))["entries"]]
    assert paths == [".env", "a", "a/b", "a/x.txt", "z.txt"]
    deep = await calls("List", depth=9, offset=2, max_results=3)
    assert [entry["path"] for entry in deep["entries"]] == ["a/b", "a/b/c", "a/b/c/d.txt"]
    assert (deep["total"], deep["hasMore"]) == (7, True)
    assert [entry["path"] for entry in (await calls("List", path="a"))["entries"]] == ["a/b", "a/b/c", "a/x.txt"]
    assert (await calls("List", path="z.txt"))["entries"] == [{"path": "z.txt", "type": "file"}]
    assert [entry["path"] for entry in (await calls("List", path="node_modules"))["entries"]] == ["node_modules/m", "node_modules/m/i.js"]


async def test_a_replaced_root_stays_closed_until_a_person_confirms_it(calls: Calls, work: Path, tmp_path: Path) -> None:
    (work / "f").write_text("old")
    assert (await calls("ReadWire", path="f"))["content"] == "old"
    work.rename(tmp_path / "away")
    work.mkdir()
    (work / "f").write_text("new")
    for _ in range(2):
        with pytest.raises(RootChanged):
            await calls("ReadWire", path="f")
    calls.service.confirm_root(str(work))
    assert (await calls("ReadWire", path="f"))["content"] == "new"


async def test_an_extra_directory_that_is_gone_does_not_close_the_others(calls: Calls, work: Path, tmp_path: Path) -> None:
    (work / "f").write_text("x")
    calls.actor = actor_in(work, extra=(tmp_path / "gone", tmp_path / "there"))
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "g").write_text("y")
    assert (await calls("ReadWire", path="f"))["content"] == "x"
    assert (await calls("ReadWire", path=f"{tmp_path}/there/g"))["content"] == "y"
    with pytest.raises(OutOfBounds):
        await calls("ReadWire", path=f"{tmp_path}/gone/g")
    (tmp_path / "gone").mkdir()
    (tmp_path / "gone" / "g").write_text("back")
    assert (await calls("ReadWire", path=f"{tmp_path}/gone/g"))["content"] == "back"
