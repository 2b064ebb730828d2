# ruff: noqa: ASYNC240 - a test may look at the disk
from __future__ import annotations

import asyncio
import base64
import os
from pathlib import Path

import pytest

from handrail.api.files.errors import BadBase64, CannotEncode, EditAmbiguous, EditCountMismatch, EditNoChange, EditNoMatch, TooManyFileTasks
from handrail.contract.errors import HandrailError
from handrail.kit import files as kit_files
from handrail.kit.errors import FileMissing, NotAFile, StaleFile, UnknownTrashId
from handrail.kit.trash import Trash
from tests.support.filecalls import Calls, actor_in


@pytest.mark.req("C5")
async def test_the_wire_writes_text_and_bytes(calls: Calls, work: Path) -> None:
    answer = await calls("WriteWire", path="a/b.txt", content="héllo")
    assert (answer["size"], answer["path"]) == (6, str(work / "a/b.txt"))
    assert (work / "a/b.txt").read_text() == "héllo"
    raw = bytes(range(256))
    assert (await calls("WriteWire", path="b.bin", content=base64.b64encode(raw).decode(), encoding="base64"))["size"] == 256
    assert (work / "b.bin").read_bytes() == raw
    assert (await calls("WriteWire", path="empty"))["size"] == 0
    for bad in ("not base64!", "AAA", "é", "AA==AA=="):
        with pytest.raises(BadBase64):
            await calls("WriteWire", path="b.bin", content=bad, encoding="base64")
    assert (work / "b.bin").read_bytes() == raw


@pytest.mark.req("PF-B16")
async def test_writing_on_a_directory_is_400(calls: Calls, work: Path) -> None:
    (work / "d").mkdir()
    for tool in ("WriteWire", "Write"):
        with pytest.raises(NotAFile) as caught:
            await calls(tool, path="d", content="x")
        assert caught.value.status == 400


@pytest.mark.req("PF-B9", "F5")
@pytest.mark.parametrize(
    ("encoding", "text", "more"),
    [
        ("gb18030", "中文内容，测试一下\r\n", "新的内容"),
        ("latin-1", "café crème\n", "déjà"),
        ("utf-16", "wide 中\r\n", "new 文"),
        ("utf-8-sig", "mark\n", "more é"),
        ("big5", "這是一個測試檔案。\n", "設定"),
        ("shift_jis", "これはテストです。\n", "日本語"),
    ],
)
async def test_what_was_read_and_written_back_keeps_its_encoding(calls: Calls, work: Path, encoding: str, text: str, more: str) -> None:
    path = work / "f.txt"
    path.write_bytes(text.encode(encoding))
    for tool in ("WriteWire", "Write"):
        content = (await calls("ReadWire", path="f.txt"))["content"]
        await calls(tool, path="f.txt", content=content)
        assert path.read_bytes() == text.encode(encoding)
    await calls("WriteWire", path="f.txt", content=text + more)
    assert path.read_bytes() == (text + more).encode(encoding)
    with pytest.raises(StaleFile):  # the page's own write is somebody else's to the tools
        await calls("Edit", path="f.txt", old_string=more, new_string=more + "!")
    assert (await calls("Read", path="f.txt"))["view"] == "full"
    await calls("Edit", path="f.txt", old_string=more, new_string=more + "!")
    assert path.read_bytes() == (text + more + "!").encode(encoding)


async def test_text_that_the_old_encoding_lacks_becomes_utf8_on_write_and_is_refused_on_edit(calls: Calls, work: Path) -> None:
    (work / "f").write_bytes("café crème".encode("latin-1"))
    with pytest.raises(CannotEncode):
        await calls("Edit", path="f", old_string="crème", new_string="奶油")
    assert (work / "f").read_bytes() == "café crème".encode("latin-1")
    assert (await calls("Write", path="f", content="咖啡"))["encoding"] == "utf-8"
    assert (work / "f").read_text() == "咖啡"


async def test_binary_is_overwritten_as_utf8(calls: Calls, work: Path) -> None:
    (work / "f").write_bytes(b"\0\1\2\xff" * 100)
    await calls("Write", path="f", content="tëxt")
    assert (work / "f").read_bytes() == "tëxt".encode()


@pytest.mark.req("F5")
async def test_edit_replaces_exactly_what_was_named(calls: Calls, work: Path) -> None:
    (work / "f").write_bytes(b"one\r\ntwo\r\nthree two\r\n")
    with pytest.raises(EditAmbiguous) as caught:
        await calls("Edit", path="f", old_string="two", new_string="2")
    assert (caught.value.code, caught.value.extra) == ("edit_ambiguous", {"count": 2, "lines": [2, 3]})
    with pytest.raises(EditCountMismatch):
        await calls("Edit", path="f", old_string="two", new_string="2", replace_all=True, expected_replacements=3)
    with pytest.raises(EditNoMatch):
        await calls("Edit", path="f", old_string="four", new_string="4")
    with pytest.raises(EditNoChange):
        await calls("Edit", path="f", old_string="one", new_string="one")
    with pytest.raises(FileMissing):
        await calls("Edit", path="none", old_string="a", new_string="b")
    assert (work / "f").read_bytes() == b"one\r\ntwo\r\nthree two\r\n"
    answer = await calls("Edit", path="f", old_string="one", new_string="1\n1b")
    assert (answer["replacements"], answer["matchStrategy"], answer["totalLines"]) == (1, "exact", 4)
    assert (work / "f").read_bytes() == b"1\r\n1b\r\ntwo\r\nthree two\r\n"
    await calls("Edit", path="f", old_string="two", new_string="2", replace_all=True)
    assert (work / "f").read_bytes() == b"1\r\n1b\r\n2\r\nthree 2\r\n"


@pytest.mark.req("F5")
async def test_an_edit_that_another_writer_overtook_is_refused(calls: Calls, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (work / "f").write_text("one")
    read = kit_files.read

    def read_then_overtaken(*args: object):  # noqa: ANN202
        result = read(*args)  # type: ignore[arg-type]  # passed through
        (work / "f").write_text("one and theirs")
        return result

    monkeypatch.setattr(kit_files, "read", read_then_overtaken)
    with pytest.raises(StaleFile):
        await calls("Edit", path="f", old_string="one", new_string="mine")
    assert (work / "f").read_text() == "one and theirs"


async def test_parallel_edits_of_one_file_lose_none(calls: Calls, work: Path) -> None:
    (work / "f").write_text("".join(f"<{n}>\n" for n in range(20)))

    async def edit(number: int) -> None:
        while True:
            try:
                await calls("Edit", path="f", old_string=f"<{number}>", new_string=f"[{number}]")
            except StaleFile:
                continue
            return

    await asyncio.gather(*(edit(number) for number in range(20)))
    assert (work / "f").read_text() == "".join(f"[{n}]\n" for n in range(20))


@pytest.mark.req("C7", "F9", "C16")
async def test_delete_goes_to_the_users_own_trash_and_comes_back(calls: Calls, work: Path) -> None:
    (work / "d").mkdir()
    (work / "d" / "f").write_text("x")
    answer = await calls("Delete", path="d")
    assert (answer["isDir"], answer["path"]) == (True, str(work / "d"))
    assert "7" in answer["message"]
    assert not (work / "d").exists()
    listed = (await calls("TrashList"))["entries"]
    assert [(e["id"], e["originalPath"], e["name"], e["isDir"]) for e in listed] == [(answer["trashId"], str(work / "d"), "d", True)]
    mine = calls.actor
    calls.actor = actor_in(work, user="u2")
    assert (await calls("TrashList"))["entries"] == []
    with pytest.raises(UnknownTrashId) as caught:
        await calls("Restore", trashId=answer["trashId"])
    assert caught.value.status == 404
    calls.actor = mine
    assert (await calls("Restore", trashId=answer["trashId"]))["restoredPath"] == str(work / "d")
    assert (work / "d" / "f").read_text() == "x"


@pytest.mark.req("PF-B20", "C7")
async def test_a_dangling_link_can_be_deleted(calls: Calls, work: Path) -> None:
    (work / "l").symlink_to("/nonexistent")
    assert not (await calls("Delete", path="l"))["isDir"]
    assert not os.path.lexists(work / "l")


@pytest.mark.req("C17")
async def test_the_retention_loop_sweeps_every_trash(calls: Calls, work: Path, tmp_path: Path) -> None:
    (work / "f").write_text("x")
    item = await calls("Delete", path="f")
    old = tmp_path / "data" / "trash" / "w1" / "u1" / ("1600000000000_" + item["trashId"][14:])
    (tmp_path / "data" / "trash" / "w1" / "u1" / item["trashId"]).rename(old)
    task = asyncio.create_task(calls.service.keep_swept())
    async with asyncio.timeout(10):
        while old.exists():  # noqa: ASYNC110 - the other side is a thread
            await asyncio.sleep(0)
    task.cancel()
    assert isinstance(calls.service.trash(calls.actor), Trash)


@pytest.mark.req("C18", "PF-B16")
async def test_mkdir_rename_and_move_answer_as_the_wire_says(calls: Calls, work: Path) -> None:
    assert await calls("Mkdir", path="d") == {"success": True, "path": str(work / "d")}
    (work / "f").write_text("x")
    assert await calls("Rename", path="f", newName="g") == {"success": True, "newPath": str(work / "g"), "newName": "g"}
    assert await calls("Move", path="g", destDir="d") == {"success": True, "newPath": str(work / "d" / "g")}
    failures = {
        ("Mkdir", "d", ""): 409, ("Mkdir", "x/y", ""): 404, ("Mkdir", "..", ""): 403, ("Mkdir", ".", ""): 409,
        ("Rename", "d", "a/b"): 400, ("Rename", "d", ""): 400, ("Rename", "none", "x"): 404, ("Rename", "/etc/passwd", "x"): 403,
        ("Rename", ".", "x"): 400, ("Move", "d", "d"): 400, ("Move", "none", "d"): 404, ("Move", "d", "none"): 404,
        ("Move", "d/g", "/etc"): 403, ("Move", "/etc/passwd", "d"): 403, ("Move", "d", "d/g"): 400,
    }  # fmt: skip
    for (tool, path, other), status in failures.items():
        extra = {"newName": other} if tool == "Rename" else {"destDir": other} if tool == "Move" else {}
        with pytest.raises(HandrailError) as caught:
            await calls(tool, path=path, **extra)
        assert (tool, path, caught.value.status) == (tool, path, status)


@pytest.mark.req("C20")
async def test_an_endless_queue_is_refused(calls: Calls, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from handrail.api.files import service

    monkeypatch.setattr(service, "MAX_WAITING", 3)
    outcomes = await asyncio.gather(*(calls("ListWire", path=".") for _ in range(10)), return_exceptions=True)
    refused = [outcome for outcome in outcomes if isinstance(outcome, TooManyFileTasks)]
    assert len(refused) == 7
    assert refused[0].status == 429
    assert (await calls("ListWire", path="."))["success"]
