from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from handrail.kit import pending
from handrail.kit.clock import FakeClock
from handrail.kit.errors import AlreadyExists, NotAFile, OutOfBounds, RootChanged, UnsupportedTarget
from handrail.kit.incoming import Incoming
from handrail.kit.parts import LIFE_MS, Parts, UploadBusy, UploadDiffers, UploadIdInvalid, UploadUnknown, every_part
from handrail.kit.paths import Root, Scope


@pytest.fixture(params=["unnamed", "named"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scope:
    if request.param == "named":
        monkeypatch.setattr(pending, "SELF_FD", "/nonexistent")
    (tmp_path / "work").mkdir()
    return Scope([Root(str(tmp_path / "work"))], home=str(tmp_path))


@pytest.mark.req("PF-B2", "C9")
def test_nothing_is_seen_before_the_commit_and_the_old_file_survives_an_abort(place: Scope, tmp_path: Path) -> None:
    target = tmp_path / "work" / "keep.txt"
    target.write_text("old")
    target.chmod(0o640)
    with Incoming(place, place.locate("keep.txt")) as incoming:
        incoming.write(b"x" * 100_000)
        assert target.read_text() == "old"
    assert target.read_text() == "old"
    assert os.listdir(tmp_path / "work") == ["keep.txt"]
    with Incoming(place, place.locate("keep.txt")) as incoming:
        incoming.write(b"new")
        written = incoming.commit()
    assert (target.read_text(), written.created, written.size, target.stat().st_mode & 0o777) == ("new", False, 3, 0o640)
    assert incoming.sha256 == hashlib.sha256(b"new").hexdigest()
    assert os.listdir(tmp_path / "work") == ["keep.txt"]


@pytest.mark.req("C19")
def test_a_new_file_has_no_execute_bit_and_its_directories_are_made(place: Scope, tmp_path: Path) -> None:
    with Incoming(place, place.locate("a/b/run.sh")) as incoming:
        incoming.write(b"#!/bin/sh\n")
        incoming.commit()
    assert (tmp_path / "work" / "a" / "b" / "run.sh").stat().st_mode & 0o111 == 0


def test_an_exclusive_commit_never_replaces_and_may_try_another_name(place: Scope, tmp_path: Path) -> None:
    (tmp_path / "work" / "f").write_text("old")
    with Incoming(place, place.locate("f")) as incoming:
        incoming.write(b"new")
        with pytest.raises(AlreadyExists):
            incoming.commit(exclusive=True)
        incoming.commit_as(place.locate("f_1"), exclusive=True)
    assert ((tmp_path / "work" / "f").read_text(), (tmp_path / "work" / "f_1").read_text()) == ("old", "new")


@pytest.mark.req("ATK-22", "C2")
def test_a_directory_that_is_swapped_while_bytes_arrive_gets_nothing(place: Scope, tmp_path: Path) -> None:
    work, outside = tmp_path / "work", tmp_path / "outside"
    outside.mkdir()
    (work / "d").mkdir()
    with Incoming(place, place.locate("d/f")) as incoming:
        incoming.write(b"x")
        (work / "d").rename(work / "aside")
        (work / "d").symlink_to(outside)
        with pytest.raises(OutOfBounds):
            incoming.commit()
        (work / "d").unlink()
        (work / "d").mkdir()
        with pytest.raises(RootChanged):
            incoming.commit()
    assert (os.listdir(outside), os.listdir(work / "aside")) == ([], [])


def test_what_is_no_file_is_refused_before_a_byte_is_taken(place: Scope, tmp_path: Path) -> None:
    (tmp_path / "work" / "d").mkdir()
    os.mkfifo(tmp_path / "work" / "fifo")
    for name, refusal in (("d", NotAFile), (".", NotAFile), ("fifo", UnsupportedTarget)):
        with pytest.raises(refusal):
            Incoming(place, place.locate(name))


@pytest.mark.req("C9")
def test_a_part_waits_for_its_rest_and_is_for_one_sender_and_one_target(tmp_path: Path) -> None:
    clock = FakeClock()
    parts = Parts(tmp_path, "w", "u", clock)
    with parts.open("upload-1", "/w/f", 10, "") as part:
        part.write(b"hello")
        with pytest.raises(UploadBusy):
            parts.open("upload-1", "/w/f", 10, "")
    for path, total, digest in (("/w/g", 10, ""), ("/w/f", 11, ""), ("/w/f", 10, "a" * 64)):
        with pytest.raises(UploadDiffers):
            parts.open("upload-1", path, total, digest)
    with parts.open("upload-1", "/w/f", 10, "") as part:
        assert part.received == 5
        part.write(b"world")
        assert b"".join(part.pieces()) == b"helloworld"
    assert (parts.status("upload-1")[1], parts.used()) == (10, 10)
    for other in (Parts(tmp_path, "w", "v", clock), Parts(tmp_path, "x", "u", clock)):
        with pytest.raises(UploadUnknown):
            other.status("upload-1")
    parts.drop("upload-1")
    with pytest.raises(UploadUnknown):
        parts.status("upload-1")


@pytest.mark.req("ATK-26")
@pytest.mark.parametrize("upload_id", ["", "short", "../../../x", "a/b/c/d/e", "x" * 65, "-leading-dash", "nul\0nul\0nul"])
def test_an_upload_id_is_a_plain_name(tmp_path: Path, upload_id: str) -> None:
    with pytest.raises(UploadIdInvalid):
        Parts(tmp_path, "w", "u", FakeClock()).open(upload_id, "/w/f", 1, "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.req("C9")
def test_what_gets_nothing_for_a_day_goes(tmp_path: Path) -> None:
    clock = FakeClock(tmp_path.stat().st_mtime)
    with Parts(tmp_path, "w", "u", clock).open("upload-1", "/w/f", 10, "") as part:
        part.write(b"hello")
    assert [parts.sweep() for parts in every_part(tmp_path, clock)] == [0]
    clock.advance(LIFE_MS / 1000 + 60)
    assert [parts.sweep() for parts in every_part(tmp_path, clock)] == [1]
    assert Parts(tmp_path, "w", "u", clock).used() == 0
