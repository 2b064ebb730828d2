from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from handrail.kit import files, pending
from handrail.kit.errors import AlreadyExists, DirectoryMissing, FileMissing, NoSpace, NotADirectory, NotAFile, StaleFile, TooLarge
from handrail.kit.files import Version
from handrail.kit.listing import list_directory
from handrail.kit.paths import Root, Scope
from tests.support.filetree import World

LIMIT = 1 << 26


@pytest.fixture
def work(tmp_path: Path) -> Path:
    path = tmp_path / "w"
    path.mkdir()
    return path


@pytest.fixture(params=["unnamed temporary file", "named temporary file"])
def plain(work: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Scope:
    if request.param == "named temporary file":
        monkeypatch.setattr(pending, "SELF_FD", "/nonexistent")
    return Scope([Root(str(work))], home="/x")


def put(scope: Scope, name: str, data: bytes, **options: object) -> files.Written:
    return files.write(scope, scope.locate(name), data, **options)  # type: ignore[arg-type]  # a test passes what it likes


@pytest.mark.req("C5")
def test_a_write_creates_the_file_and_the_directories_above(plain: Scope, work: Path) -> None:
    written = put(plain, "a/b/c.txt", b"hello")
    assert (work / "a/b/c.txt").read_bytes() == b"hello"
    assert (written.size, written.created) == (5, True)
    assert written.version == Version.of(os.stat(work / "a/b/c.txt"))
    assert not put(plain, "a/b/c.txt", b"again").created
    assert (work / "a/b/c.txt").read_bytes() == b"again"
    assert os.listdir(work / "a/b") == ["c.txt"]


@pytest.mark.req("C5", "C19", "PF-B10")
@pytest.mark.parametrize("mode", [0o600, 0o700, 0o644, 0o755, 0o640, 0o444, 0o7755])
def test_an_existing_file_keeps_its_mode_and_never_gains_any(plain: Scope, work: Path, mode: int) -> None:
    path = work / "s.sh"
    path.write_text("old")
    path.chmod(mode)
    put(plain, "s.sh", b"#!/bin/sh\n")
    assert stat.S_IMODE(path.stat().st_mode) == mode & 0o1777  # set-id bits are not given back to new content


@pytest.mark.req("C19")
@pytest.mark.parametrize(
    "name", ["x.sh", "x.bash", "x.zsh", "x.py", "x.js", "x.mjs", "x.rb", "x.pl", "x.php", "x.lua", "noext", "Makefile"]
)
def test_a_new_script_has_no_execute_bit(plain: Scope, work: Path, name: str) -> None:
    for umask in (0o022, 0o000, 0o077):
        previous = os.umask(umask)
        try:
            put(plain, name, b"#!/usr/bin/env python3\n")
        finally:
            os.umask(previous)
        assert stat.S_IMODE((work / name).stat().st_mode) == 0o666 & ~umask
        (work / name).unlink()


@pytest.mark.req("C5")
def test_an_existing_file_keeps_its_owner(plain: Scope, work: Path) -> None:
    (work / "f").write_text("x")
    if os.geteuid() == 0:
        os.chown(work / "f", 12345, 12346)
    before = (work / "f").stat()
    put(plain, "f", b"y")
    assert ((work / "f").stat().st_uid, (work / "f").stat().st_gid) == (before.st_uid, before.st_gid)


@pytest.mark.req("C5", "F5")
def test_a_version_that_is_gone_refuses_the_write(plain: Scope, work: Path) -> None:
    version = put(plain, "f", b"one").version
    put(plain, "f", b"two")
    with pytest.raises(StaleFile):
        put(plain, "f", b"three", expect=version)
    assert (work / "f").read_bytes() == b"two"
    put(plain, "f", b"three", expect=Version.of(os.stat(work / "f")))
    (work / "f").unlink()
    with pytest.raises(StaleFile):
        put(plain, "f", b"four", expect=version)


def test_of_racing_writers_with_one_version_exactly_one_wins(plain: Scope, work: Path) -> None:
    for _ in range(20):
        version = put(plain, "f", b"start").version
        outcomes: list[str] = []
        gate = threading.Barrier(6)

        def writer(number: int, expected: Version = version, barrier: threading.Barrier = gate, out: list[str] = outcomes) -> None:
            barrier.wait()
            try:
                put(plain, "f", b"writer %d" % number, expect=expected)
                out.append("won")
            except StaleFile:
                out.append("stale")

        threads = [threading.Thread(target=writer, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(outcomes) == ["stale"] * 5 + ["won"]


def test_an_exclusive_write_never_replaces(plain: Scope, work: Path) -> None:
    put(plain, "f", b"one", exclusive=True)
    with pytest.raises(AlreadyExists):
        put(plain, "f", b"two", exclusive=True)
    assert (work / "f").read_bytes() == b"one"
    assert os.listdir(work) == ["f"]


@pytest.mark.req("PF-B16")
def test_a_directory_or_a_missing_parent_is_a_clear_refusal(plain: Scope, work: Path) -> None:
    (work / "d").mkdir()
    (work / "f").write_text("x")
    with pytest.raises(NotAFile):
        put(plain, "d", b"x")
    with pytest.raises(NotAFile):
        put(plain, ".", b"x")
    with pytest.raises(NotADirectory):
        put(plain, "f/x", b"x")
    with pytest.raises(FileMissing):
        put(plain, "none/x", b"x", parents=False)
    with pytest.raises(FileMissing):
        files.make_directory(plain, plain.locate("none/d"))
    with pytest.raises(AlreadyExists):
        files.make_directory(plain, plain.locate("d"))


@pytest.mark.req("PF-B3")
def test_a_reader_sees_the_old_bytes_or_the_new_ones(plain: Scope, work: Path) -> None:
    contents = [bytes([65 + number]) * 300_000 for number in range(4)]
    put(plain, "f", contents[0])
    done = threading.Event()
    seen: set[bytes] = set()
    odd: list[int] = []

    def reader() -> None:
        while not done.is_set():
            data = (work / "f").read_bytes()
            if data not in contents:
                odd.append(len(data))
            seen.add(data[:1])

    thread = threading.Thread(target=reader)
    thread.start()
    try:
        for number in range(200):
            put(plain, "f", contents[number % 4])
    finally:
        done.set()
        thread.join()
    assert odd == []
    assert len(seen) > 1


def test_a_failed_write_leaves_nothing(plain: Scope, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(plain, "f", b"old")

    def full(_fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NoSpace) as caught:
        put(plain, "f", b"new")
    assert (caught.value.code, caught.value.status) == ("no_space", 507)
    monkeypatch.undo()
    assert os.listdir(work) == ["f"]
    assert (work / "f").read_bytes() == b"old"


@pytest.mark.req("C4", "C20")
def test_a_read_is_bounded(plain: Scope, work: Path) -> None:
    (work / "f").write_bytes(b"x" * 3_000_000)
    assert len(files.read(plain, plain.locate("f"), 3_000_000)[0]) == 3_000_000
    with pytest.raises(TooLarge) as caught:
        files.read(plain, plain.locate("f"), 2_999_999)
    assert (caught.value.status, caught.value.params["size"]) == (413, 3_000_000)


def test_a_file_that_grows_while_it_is_read_is_bounded_too(plain: Scope, work: Path) -> None:
    (work / "f").write_bytes(b"x" * 10)
    fd, info = plain.open_file(plain.locate("f"))
    try:
        with (work / "f").open("ab") as more:
            more.write(b"y" * 100)
        with pytest.raises(TooLarge):
            files.read_open(fd, info, 50, "f")
        os.lseek(fd, 0, os.SEEK_SET)
        assert files.read_open(fd, info, 200, "f") == b"x" * 10 + b"y" * 100
    finally:
        os.close(fd)


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 5 << 20])
def test_every_size_is_read_whole(plain: Scope, work: Path, size: int) -> None:
    data = os.urandom(size)
    put(plain, "f", data)
    assert files.read(plain, plain.locate("f"), LIMIT)[0] == data


@pytest.mark.req("C6")
def test_a_list_is_sorted_and_whole(world: World, scope: Scope) -> None:
    (world.work / ".hidden").write_text("x")
    (world.work / "Zeta").write_text("x")
    (world.work / "中文.txt").write_text("x")
    (world.work / ".handrail-00ff.tmp").write_text("half a write")
    entries = list_directory(scope, scope.locate("."))
    names = [entry.name for entry in entries]
    assert names == sorted(set(os.listdir(world.work)) - {".handrail-00ff.tmp"})
    kinds = {entry.name: (entry.kind, entry.is_link) for entry in entries}
    assert kinds["file.txt"] == ("file", False)
    assert kinds["dir"] == ("directory", False)
    assert kinds["fifo"] == kinds["socket"] == ("unknown", False)
    assert kinds["in"] == kinds["in_abs"] == ("file", True)
    assert kinds["in_dir"] == kinds["to_extra"] == ("directory", True)


@pytest.mark.req("C6", "ATK-25")
def test_a_list_tells_nothing_of_what_a_link_leads_to_outside(world: World, scope: Scope) -> None:
    shown = {entry.name: entry for entry in list_directory(scope, scope.locate("."))}
    for name in ("out", "out_dir", "proc_root", "loop", "dangling", "to_data"):
        assert (shown[name].kind, shown[name].is_link) == ("unknown", True)
        assert shown[name].size == os.lstat(world.work / name).st_size


@pytest.mark.req("C6")
def test_ten_thousand_entries_are_listed(work: Path) -> None:
    for number in range(10_000):
        os.close(os.open(work / f"f{number:05}", os.O_CREAT | os.O_WRONLY))
    scope = Scope([Root(str(work))], home="/x")
    names = [entry.name for entry in list_directory(scope, scope.locate("."))]
    assert names == [f"f{number:05}" for number in range(10_000)]


@pytest.mark.req("PF-B16")
def test_listing_what_is_no_directory_says_so(scope: Scope) -> None:
    with pytest.raises(NotADirectory):
        list_directory(scope, scope.locate("file.txt"))
    with pytest.raises(DirectoryMissing) as caught:
        list_directory(scope, scope.locate("none"))
    assert (caught.value.status, caught.value.text("en")[:24]) == (404, "Directory does not exist")
