"""Stale files, read-before-write and racing writers."""

from __future__ import annotations

import asyncio
import dataclasses
import os
from pathlib import Path

import pytest

from handrail.api.files.errors import BadVersion
from handrail.api.tools.registry import Invocation
from handrail.contract.errors import HandrailError
from handrail.kit.errors import FileMissing, StaleFile
from handrail.kit.versions import FileVersion
from tests.support.filecalls import Calls


def other(calls: Calls, device: str) -> Calls:
    """The same user on another device."""
    identity = dataclasses.replace(calls.actor.identity, device_id=device)
    return dataclasses.replace(calls, actor=dataclasses.replace(calls.actor, identity=identity))


@pytest.mark.req("F8")
async def test_a_file_that_changed_since_it_was_read_is_not_written(calls: Calls, work: Path) -> None:
    (work / "f").write_text("one\n")
    await calls("Read", path="f")
    (work / "f").write_text("two\n")
    for tool, arguments in (
        ("Write", {"content": "mine"}),
        ("Edit", {"old_string": "two", "new_string": "2"}),
        ("MultiEdit", {"edits": [{"old_string": "two", "new_string": "2"}]}),
    ):
        with pytest.raises(StaleFile):
            await calls(tool, path="f", **arguments)
    with pytest.raises(StaleFile):
        await calls("Patch", patch="--- f\n+++ f\n@@ -1 +1 @@\n-two\n+2\n")
    assert (work / "f").read_text() == "two\n"
    await calls("Read", path="f")
    answer = await calls("Edit", path="f", old_string="two", new_string="2")
    assert "autoRead" not in answer
    # its own change is no surprise to the caller
    assert "autoRead" not in await calls("Edit", path="f", old_string="2", new_string="3")


@pytest.mark.req("F8")
async def test_the_same_size_and_time_do_not_hide_a_change(calls: Calls, work: Path) -> None:
    (work / "f").write_text("one\n")
    version = (await calls("Read", path="f"))["version"]
    before = (work / "f").stat()
    with (work / "f").open("r+") as file:
        file.write("two\n")
    os.utime(work / "f", ns=(before.st_atime_ns, before.st_mtime_ns))
    for more in ({}, {"expected_version": version}):
        with pytest.raises(StaleFile):
            await calls("Write", path="f", content="mine", **more)
    with pytest.raises(StaleFile):
        await calls("WriteWire", path="f", content="mine", expectedVersion=version)
    assert (work / "f").read_text() == "two\n"


@pytest.mark.req("F8")
async def test_a_file_that_was_not_read_is_read_by_itself_and_the_answer_says_so(calls: Calls, work: Path) -> None:
    (work / "f").write_text("one\ntwo\n")
    answer = await calls("Write", path="f", content="new\n")
    assert (answer["autoRead"], answer["created"]) == ("full", False)
    assert "Read it" in answer["notice"]
    assert "autoRead" not in await calls("Write", path="g", content="new\n")
    (work / "f").write_text("one\ntwo\n")
    calls.service.seen.forget(calls.actor, calls.service.scope(calls.actor).locate("f"))
    await calls("Read", path="f", limit=1)
    assert (await calls("Edit", path="f", old_string="two", new_string="2"))["autoRead"] == "full"


@pytest.mark.req("F8", "C5")
async def test_an_expected_version_is_checked_and_absent_means_a_new_file(calls: Calls, work: Path) -> None:
    made = await calls("Write", path="f", content="a", expected_version="absent")
    for tool, arguments in (
        ("Write", {"content": "b", "expected_version": "absent"}),
        ("WriteWire", {"content": "b", "expectedVersion": "1-1-1-"}),
    ):
        with pytest.raises(StaleFile):
            await calls(tool, path="f", **arguments)
    with pytest.raises(StaleFile):
        await calls("WriteWire", path="g", content="b", expectedVersion="1-1-1-")
    await calls("WriteWire", path="f", content="b", expectedVersion=made["version"])
    with pytest.raises(StaleFile):
        await calls("Edit", path="f", old_string="b", new_string="c", expected_version=made["version"])
    now = (await calls("ReadWire", path="f"))["version"]
    await calls("Edit", path="f", old_string="b", new_string="c", expected_version=now)
    for bad in ("x", "1-2-3", "1-2-3-zz", "", "٣-1-1-", "9" * 30 + "-1-1-"):
        with pytest.raises(BadVersion):
            await calls("Edit", path="f", old_string="c", new_string="d", expected_version=bad)
    assert (work / "f").read_text() == "c"


@pytest.mark.req("F8")
async def test_of_two_racing_writers_exactly_one_wins(calls: Calls, work: Path) -> None:
    second = other(calls, "d2")
    for number in range(60):
        (work / "f").write_text(f"start {number}\n")
        for one in (calls, second):
            await one("Read", path="f")
        tool, arguments = [
            ("Write", {"content": "{}"}),
            ("Edit", {"old_string": "start", "new_string": "{}"}),
            ("Patch", {"patch": f"--- f\n+++ f\n@@ -1 +1 @@\n-start {number}\n+{{}}\n"}),
        ][number % 3]
        place = {} if tool == "Patch" else {"path": "f"}

        def filled(name: str, arguments: dict[str, str] = arguments) -> dict[str, str]:
            return {key: value.replace("{}", name) for key, value in arguments.items()}

        outcomes = await asyncio.gather(
            calls(tool, **place, **filled("first")), second(tool, **place, **filled("second")), return_exceptions=True
        )
        won = [not isinstance(outcome, BaseException) for outcome in outcomes]
        assert sum(won) == 1, outcomes
        assert [outcome.code for outcome in outcomes if isinstance(outcome, HandrailError)] == ["stale_file"]
        assert ("first" in (work / "f").read_text()) == won[0]


@pytest.mark.req("F8")
async def test_of_many_that_create_the_same_file_exactly_one_wins(calls: Calls, work: Path) -> None:
    for number in range(20):
        outcomes = await asyncio.gather(
            *(other(calls, f"d{n}")("Write", path=f"n{number}", content=str(n)) for n in range(6)), return_exceptions=True
        )
        winners = [n for n, outcome in enumerate(outcomes) if not isinstance(outcome, BaseException) and outcome["created"]]
        assert len(winners) == 1
        lost = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        assert all(isinstance(outcome, StaleFile) for outcome in lost)


@pytest.mark.req("F8")
async def test_a_file_that_went_away_is_forgotten(calls: Calls, work: Path) -> None:
    await calls("Write", path="d/f", content="a")
    await calls("Delete", path="d")
    assert (await calls("Write", path="d/f", content="b"))["created"]
    (work / "d/f").unlink()
    with pytest.raises(StaleFile):
        await calls("Write", path="d/f", content="c")
    with pytest.raises(FileMissing):
        await calls("Read", path="d/f")
    assert (await calls("Write", path="d/f", content="c"))["created"]


async def test_what_one_user_saw_says_nothing_of_another(calls: Calls, work: Path) -> None:
    (work / "f").write_text("a")
    await calls("Read", path="f")
    answer = await other(calls, "d2")("Edit", path="f", old_string="a", new_string="b")
    assert answer["autoRead"] == "full"
    with pytest.raises(StaleFile):
        await calls("Edit", path="f", old_string="b", new_string="c")


async def test_the_keeper_of_checkpoints_is_asked_before_and_can_prevent_a_change(calls: Calls, work: Path) -> None:
    asked: list[list[str]] = []

    class Keeper:
        def before(self, actor: object, locations: list[object]) -> None:
            asked.append([getattr(location, "name", "") for location in locations])
            if (work / "stop").exists():
                raise FileMissing("no room")

    calls.service.checkpoints = Keeper()  # type: ignore[assignment]  # the names are enough here
    await calls("Write", path="f", content="a\n")
    await calls("Edit", path="f", old_string="a", new_string="b")
    await calls("Patch", patch="--- f\n+++ f\n@@ -1 +1 @@\n-b\n+c\n--- /dev/null\n+++ g\n@@ -0,0 +1 @@\n+new\n")
    assert asked == [["f"], ["f"], ["f", "g"]]
    (work / "stop").touch()
    with pytest.raises(FileMissing):
        await calls("Edit", path="f", old_string="c", new_string="d")
    assert (work / "f").read_text() == "c\n"


def test_a_version_comes_back_from_its_text() -> None:
    version = FileVersion(1, -2, 3, "0" * 32)
    assert FileVersion.parse(str(version)) == version
    assert FileVersion.parse("1-2-3-") == FileVersion(1, 2, 3)
    assert Invocation  # the tools are called as the gate does
