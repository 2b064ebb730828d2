# ruff: noqa: E501 - a test may look at the disk; tables of patches
from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.api.files.patch import NoPlace, NotAPatch, applied, parse
from handrail.contract.errors import HandrailError
from handrail.kit import files as kit_files
from handrail.kit.errors import NoSpace
from tests.support.filecalls import Calls

LINES = st.lists(st.sampled_from(["a", "b", "c", "", " x", "-y", "+z", "\\w"]), max_size=12)


def diff(old: str, new: str, context: int) -> str:
    """As `diff -u` writes it."""
    lines = difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), "f", "f", n=context)
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)


@pytest.mark.req("FILE-1")
@given(LINES, LINES, st.booleans(), st.booleans(), st.integers(0, 3), st.booleans())
def test_a_diff_of_two_texts_makes_the_one_from_the_other(
    before: list[str], after: list[str], end_a: bool, end_b: bool, context: int, crlf: bool
) -> None:
    old, new = "\n".join(before) + "\n" * end_a, "\n".join(after) + "\n" * end_b
    text = diff(old, new, context)
    if not text:
        assert old == new
        return
    (found,) = parse(text.replace("\n", "\r\n") if crlf else text)
    assert applied(old, found.hunks) == new
    if "\n" in old and old.endswith("\n"):  # the same on a file with CRLF: kept lines keep it, new ones take it
        assert applied(old.replace("\n", "\r\n"), found.hunks) == new.replace("\n", "\r\n")


@pytest.mark.req("FILE-1")
def test_a_hunk_moves_only_to_the_one_place_where_it_fits() -> None:
    (found,) = parse("--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n")
    assert applied("x\ny\na\nb\n", found.hunks) == "x\ny\na\nB\n"
    assert applied("x\na\nb\na\nb\n", found.hunks) == NoPlace(1, 2, "a\nb")
    assert applied("x\n", found.hunks) == NoPlace(1, 0, "a\nb")
    assert applied("a\nb\na\nb\n", found.hunks) == "a\nB\na\nb\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1), ("hello", 1), ("--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n", 1), ("--- f\n+++ f\n", 1), ("--- f\n+++ f\n@@ x @@\n", 3),
        ("--- f\n+++ f\n@@ -1,2 +1 @@\n-a\n", 5), ("--- f\n+++ f\n@@ -1 +1 @@\n-a\n-b\n", 5), ("@@ -1 +1 @@\n-a\n+b\n", 1),
        ("--- /dev/null\n+++ /dev/null\n@@ -0,0 +1 @@\n+a\n", 1), ("diff --git a/f b/g\nrename from f\nrename to g\n", 2),
        ("diff --git a/f b/f\nold mode 100644\nnew mode 100755\n", 2), ("Binary files a/f and b/f differ\n", 1),
        ("--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n--- f\n+++ f\n@@ -2 +2 @@\n-a\n+b\n", 1), ("--- f\n+++ f\n@@ -1 +9999999999999 @@\n", 3),
    ],
)  # fmt: skip
def test_what_is_no_patch_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(NotAPatch) as caught:
        parse(text)
    assert caught.value.line == line


@given(st.text("-+ @\\\n1,0ab/", max_size=60))
def test_no_text_breaks_the_parser(text: str) -> None:
    for whole in (text, "--- f\n+++ f\n@@ -1 +1 @@\n" + text):
        try:
            for found in parse(whole):
                applied("a\nb\n", found.hunks)
        except NotAPatch as exc:
            assert exc.line >= 1  # noqa: PT017 - either outcome is fine


GIT = """diff --git a/src/a.py b/src/a.py
index 1111111..2222222 100644
--- a/src/a.py
+++ b/src/a.py
@@ -1,3 +1,3 @@ def f():
 one
-two
+2
 three
diff --git a/new.sh b/new.sh
new file mode 100755
--- /dev/null
+++ b/new.sh
@@ -0,0 +1 @@
+#!/bin/sh
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-bye
"""


def three(work: Path) -> dict[str, bytes]:
    (work / "src").mkdir()
    (work / "src/a.py").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    (work / "gone").write_bytes(b"bye\n")
    return state(work)


def state(work: Path) -> dict[str, bytes]:
    return {str(path.relative_to(work)): path.read_bytes() for path in work.rglob("*") if path.is_file()}


@pytest.mark.req("FILE-1")
async def test_a_patch_changes_makes_and_deletes_files(calls: Calls, work: Path) -> None:
    three(work)
    answer = await calls("Patch", patch=GIT)
    assert [(item["path"].removeprefix(str(work) + "/"), item["action"]) for item in answer["files"]] == [
        ("src/a.py", "changed"), ("new.sh", "created"), ("gone", "deleted"),
    ]  # fmt: skip
    assert state(work) == {"src/a.py": b"one\r\n2\r\nthree\r\n", "new.sh": b"#!/bin/sh\n"}
    assert not (work / "new.sh").stat().st_mode & 0o111, "a patch never makes a file executable"
    await calls("Restore", trashId=answer["files"][2]["trashId"])
    assert (work / "gone").read_bytes() == b"bye\n"


@pytest.mark.req("FILE-1")
@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (("src/a.py", b"one\nchanged\nthree\n"), "patch_no_match"), (("gone", b"bye\nmore\n"), "patch_no_match"), (("new.sh", b"there\n"), "exists"),
        (("gone", None), "not_found"), (("src/a.py", b"\0\1\2"), "not_text"),
    ],
)  # fmt: skip
async def test_a_patch_that_does_not_fit_somewhere_changes_nothing(
    calls: Calls, work: Path, spoil: tuple[str, bytes | None], code: str
) -> None:
    three(work)
    name, data = spoil
    if data is None:
        (work / name).unlink()
    else:
        (work / name).write_bytes(data)
    before = state(work)
    with pytest.raises(HandrailError) as caught:
        await calls("Patch", patch=GIT)
    assert caught.value.code == code
    assert state(work) == before


@pytest.mark.req("FILE-1")
@pytest.mark.parametrize("fails_at", [0, 1])
async def test_a_patch_that_breaks_off_takes_back_what_it_did(
    calls: Calls, work: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    """The disk is full at the n-th file: what was written before it is as it was."""
    before = three(work)
    mode = 0o640
    (work / "src/a.py").chmod(mode)
    real, count = kit_files.write, 0

    def failing(*args: Any, **more: Any) -> Any:
        nonlocal count
        count += 1
        if count == fails_at + 1:
            raise NoSpace("x")
        return real(*args, **more)

    monkeypatch.setattr(kit_files, "write", failing)
    with pytest.raises(NoSpace):
        await calls("Patch", patch=GIT)
    assert state(work) == before
    assert (work / "src/a.py").stat().st_mode & 0o777 == mode


@pytest.mark.req("FILE-1")
async def test_a_patch_whose_deletion_fails_takes_everything_back(calls: Calls, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = three(work)
    trash = calls.service.trash(calls.actor)

    def refuse(*_args: object) -> object:
        raise NoSpace("trash")

    monkeypatch.setattr(type(trash), "put", refuse)
    with pytest.raises(NoSpace):
        await calls("Patch", patch=GIT)
    assert state(work) == before


@pytest.mark.req("FILE-1")
async def test_several_edits_are_made_together_or_not_at_all(calls: Calls, work: Path) -> None:
    (work / "f").write_bytes("één\r\ntwee\r\ndrie\r\n".encode("utf-16"))
    steps = [
        {"old_string": "één\n", "new_string": "1\n"},
        {"old_string": "1\ntwee", "new_string": "2"},
        {"old_string": "e", "new_string": "E", "replace_all": True},
    ]
    answer = await calls("MultiEdit", path="f", edits=steps)
    assert [edit["matchStrategy"] for edit in answer["edits"]] == ["line-endings", "line-endings", "exact"]
    assert (work / "f").read_bytes() == "2\r\ndriE\r\n".encode("utf-16")
    inode = os.stat(work / "f").st_ino
    with pytest.raises(HandrailError) as caught:
        await calls("MultiEdit", path="f", edits=[{"old_string": "2", "new_string": "3"}, {"old_string": "absent", "new_string": "x"}])
    assert (caught.value.code, caught.value.extra["edit"]) == ("edit_no_match", 2)
    with pytest.raises(HandrailError) as caught:
        await calls("MultiEdit", path="f", edits=[{"old_string": "2", "new_string": "3"}, {"old_string": "3", "new_string": "2"}])
    assert caught.value.code == "edit_no_change"
    assert os.stat(work / "f").st_ino == inode
