"""Reading lines of texts of any size and encoding, piece by piece."""

from __future__ import annotations

import os
import resource
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.api.files.errors import BadOffset, NotText
from handrail.api.files.read import window
from handrail.kit.text import mark_of
from tests.support.filecalls import Calls

TEXTS = st.lists(st.sampled_from(["short", "", "中文内容，测试一下" * 3, "x" * 50, "é🙂" * 9, "\r", "tab\there"]), min_size=1, max_size=12)


@pytest.mark.req("F3")
@settings(max_examples=150, deadline=None)
@given(
    TEXTS,
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "gb18030"]),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(20, 90),
    st.integers(1, 5),
)
def test_pieces_read_one_after_the_other_are_the_file(
    tmp_path_factory: Any, lines: list[str], encoding: str, end: str, room: int, limit: int
) -> None:
    """Following `next` through a file, in any window, gives back every byte of it."""
    text = "some ascii first\n" + end.join(lines)
    if encoding == "utf-16-be":
        text = "\ufeff" + text
    path = tmp_path_factory.mktemp("w") / "f"
    path.write_bytes(text.encode(encoding))
    fd, size = os.open(path, os.O_RDONLY), path.stat().st_size
    try:
        shown, start, offset, rounds = "", 1, 0, 0
        while True:
            found = window.read(fd, size, start=start, limit=limit, offset=offset, room=room)
            assert found is not None
            assert found.total is not None
            assert sum(len(line.encode()) + window.NUMBER for _, line in found.lines) <= room
            assert [number for number, _ in found.lines] == list(range(start, start + len(found.lines)))
            shown += "".join(line for _, line in found.lines)
            rounds += 1
            assert rounds < 500
            if not found.more:
                break
            start, offset = found.next_line, found.next_offset
        # a short text can be taken for another encoding; its bytes come back in any case
        assert shown.encode(found.encoding) == path.read_bytes()[len(mark_of(found.encoding)) if found.bom else 0 :]
    finally:
        os.close(fd)


@pytest.mark.req("F3")
async def test_a_long_line_goes_on_at_the_very_byte(calls: Calls, work: Path) -> None:
    line = "中é🙂x" * 60_000
    (work / "long").write_text("first\n" + line + "\nlast\n")
    pieces, where, answer = "", {"start_line": 2, "line_offset": 0}, {}
    while where["start_line"] == 2:
        answer = await calls("Read", path="long", limit=1, **where)
        pieces += answer["content"].split("\t", 1)[1]
        assert (answer["startLine"], answer["endLine"], answer["totalLines"]) == (2, 2, 3)
        where = answer["next"]
    assert pieces == line + "\n"
    assert where == {"start_line": 3, "line_offset": 0}
    assert not answer["lineCut"]
    for offset in (1, 2, 4, len(line.encode()) + 1, 10**9):
        with pytest.raises(BadOffset):
            await calls("Read", path="long", start_line=2, line_offset=offset)
    assert (await calls("Read", path="long", start_line=2, line_offset=3))["content"][7] == "é"


@pytest.mark.req("F3")
async def test_a_huge_file_is_read_in_constant_memory(calls: Calls, work: Path) -> None:
    """2 GiB, sparse but for its ends: its last line is found and shown, and memory does not grow with it."""
    path = work / "huge"
    size = 2 << 30
    with path.open("wb") as file:
        file.write((b"x" * 1023 + b"\n") * 8192)
        file.seek(size)
        file.write(b"\nlast but one\nlast\n")
    resident = _resident()
    answer = await calls("Read", path="huge", start_line=8194)
    assert answer["content"] == "  8194\tlast but one\n  8195\tlast\n"
    assert (answer["totalLines"], answer["size"]) == (8195, size + 19)
    assert _resident() - resident < 30 << 20
    path.unlink()


def _resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


@pytest.mark.req("F3", "PF-B9")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030", "big5", "shift_jis", "latin-1"])
async def test_the_encoding_is_told_and_later_lines_of_a_large_file_are_readable(calls: Calls, work: Path, encoding: str) -> None:
    words = {
        "big5": "這是一個中文檔案的內容",
        "shift_jis": "これは日本語のファイルです",
        "latin-1": "une fenêtre déjà ouverte à l'été",
    }.get(encoding, "这是一个中文文件的内容")
    (work / "big").write_bytes((f"{words}\n" * 200_000).encode(encoding))
    answer = await calls("Read", path="big", start_line=199_999)
    assert answer["content"] == f"199999\t{words}\n200000\t{words}\n"
    assert answer["encoding"].replace("-le", "") == encoding.replace("-sig", "")
    assert answer["bom"] == (encoding in {"utf-8-sig", "utf-16"})
    ascii_first = ("plain\n" * 1_000_000).encode() + f"{words}\n".encode(encoding) if encoding in {"gb18030", "latin-1", "utf-8"} else b""
    if ascii_first:
        (work / "big").write_bytes(ascii_first)
        assert (await calls("Read", path="big", start_line=1_000_001))["content"] == f"1000001\t{words}\n"


@pytest.mark.req("F3")
async def test_bytes_that_are_no_text_are_said_to_be_lossy(calls: Calls, work: Path) -> None:
    (work / "big").write_bytes(b"a\n" * 3_000_000 + b"\xff\xfe\xfd broken \xc3\xa9\n")
    answer = await calls("Read", path="big", start_line=3_000_001)
    assert answer["lossy"] or answer["encoding"] != "utf-8"
    (work / "bin").write_bytes(b"\x7fELF\0\0\0")
    with pytest.raises(NotText):
        await calls("Read", path="bin")
    (work / "empty").touch()
    answer = await calls("Read", path="empty")
    assert (answer["content"], answer["totalLines"], answer["view"]) == ("", 0, "full")
    for name, data, lines in (("empty", "", 0), ("two", "a\nb", 2), ("two_ended", "a\nb\n", 2)):
        (work / name).write_text(data)
        answer = await calls("Read", path=name, start_line=5)
        assert (answer["content"], answer["totalLines"], answer["endLine"]) == ("", lines, 4)
        assert "next" not in answer
