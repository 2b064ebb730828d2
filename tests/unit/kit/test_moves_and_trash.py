from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from handrail.kit import moves, tree
from handrail.kit.clock import SYSTEM, FakeClock
from handrail.kit.component_walk import Spot
from handrail.kit.errors import (
    AlreadyExists,
    DirectoryMissing,
    FileMissing,
    IntoItself,
    InvalidName,
    NoSpace,
    NotADirectory,
    OriginalPlaceTaken,
    ParentGone,
    TrashIdMissing,
    UnknownTrashId,
)
from handrail.kit.paths import Root, Scope
from handrail.kit.trash import DATA, Trash, every_trash

DAY = 24 * 3600.0


@pytest.fixture
def work(tmp_path: Path) -> Path:
    path = tmp_path / "w"
    (path / "d" / "e").mkdir(parents=True)
    (path / "f").write_text("content")
    (path / "d" / "e" / "g").write_text("deep")
    return path


@pytest.fixture
def scope(work: Path) -> Scope:
    return Scope([Root(str(work))], home="/x")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Generator[Path]:
    """A directory on another file system."""
    path = Path(tempfile.mkdtemp(dir="/dev/shm"))
    assert path.stat().st_dev != tmp_path.stat().st_dev
    yield path
    shutil.rmtree(path)


@pytest.fixture(params=["same file system", "another file system"])
def base(tmp_path: Path, elsewhere: Path, request: pytest.FixtureRequest) -> Path:
    return tmp_path / "trash" if request.param == "same file system" else elsewhere


@pytest.mark.req("C18")
def test_rename_and_move_never_replace(scope: Scope, work: Path) -> None:
    (work / "f2").write_text("other")
    (work / "d" / "f").write_text("taken")
    with pytest.raises(AlreadyExists):
        moves.rename(scope, scope.locate("f"), "f2")
    with pytest.raises(AlreadyExists):
        moves.move(scope, scope.locate("f"), scope.locate("d"))
    assert (work / "f").read_text() == "content"
    assert (work / "f2").read_text() == "other"
    assert (work / "d" / "f").read_text() == "taken"


@pytest.mark.req("C18", "PF-B16")
def test_moves_that_cannot_be_say_why(scope: Scope, work: Path) -> None:
    cases = [
        ("none", "d", FileMissing),
        ("f", "none", DirectoryMissing),
        ("f", "d/e/g", NotADirectory),
        ("d", "d/e", IntoItself),
        ("d", "d", IntoItself),
    ]
    for name, target, error in cases:
        with pytest.raises(error):
            moves.move(scope, scope.locate(name), scope.locate(target))
    for name in ("a/b", "..", "", "x\n"):
        with pytest.raises(InvalidName):
            moves.rename(scope, scope.locate("f"), name)
    with pytest.raises(FileMissing):
        moves.rename(scope, scope.locate("none"), "x")


def spot(root: Root, path: Path, name: bytes) -> Spot:
    return Spot(root, (name,), os.open(path, os.O_RDONLY | os.O_DIRECTORY), name)


@pytest.mark.req("PF-B13")
def test_a_move_across_file_systems_keeps_content_mode_times_and_links(scope: Scope, work: Path, elsewhere: Path) -> None:
    (work / "d" / "run.sh").write_text("#!/bin/sh")
    (work / "d" / "run.sh").chmod(0o750)
    os.utime(work / "d" / "run.sh", ns=(10**18, 10**18))
    (work / "d" / "link").symlink_to("/etc")
    os.mkfifo(work / "d" / "fifo")
    source, target = spot(scope.workdir, work, b"d"), spot(scope.workdir, elsewhere, b"moved")
    moves.move_entry(source, target, "d", "moved")
    moved = elsewhere / "moved"
    assert not (work / "d").exists()
    assert (moved / "e" / "g").read_text() == "deep"
    assert (moved / "run.sh").stat().st_mode & 0o777 == 0o750
    assert (moved / "run.sh").stat().st_mtime_ns == 10**18
    assert os.readlink(moved / "link") == "/etc"
    assert sorted(os.listdir(elsewhere)) == ["moved"]
    (work / "d").mkdir()
    with pytest.raises(AlreadyExists):
        moves.move_entry(source, target, "d", "moved")
    source.close()
    target.close()


@pytest.mark.req("PF-B13")
def test_a_cut_copy_across_file_systems_leaves_the_original(
    scope: Scope, work: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tree, "_pour", full)
    source, target = spot(scope.workdir, work, b"d"), spot(scope.workdir, elsewhere, b"moved")
    with pytest.raises(NoSpace):
        moves.move_entry(source, target, "d", "moved")
    source.close()
    target.close()
    assert (work / "d" / "e" / "g").read_text() == "deep"
    assert os.listdir(elsewhere) == []


@pytest.mark.req("C7", "C16", "C17", "F9", "PF-B13")
@pytest.mark.parametrize("name", ["f", "d", "d/e/g", "link", "fifo", "empty"])
def test_what_is_deleted_can_be_restored(scope: Scope, work: Path, base: Path, name: str) -> None:
    (work / "link").symlink_to("/etc/passwd")
    (work / "empty").mkdir()
    os.mkfifo(work / "fifo")
    before = os.lstat(work / name)
    trash = Trash(base, "w1", "u1", SYSTEM)
    item = trash.put(scope, scope.locate(name))
    assert not os.path.lexists(work / name)
    assert trash.list() == [item]
    assert (item.original_path, item.is_dir) == (str(work / name), name in {"d", "empty"})
    assert trash.restore(scope, item.id) == str(work / name)
    after = os.lstat(work / name)
    assert (after.st_mode, after.st_size) == (before.st_mode, before.st_size)
    assert trash.list() == []
    assert os.listdir(base / "w1" / "u1") == []
    assert (work / "f").read_text() == "content"
    assert (work / "d/e/g").read_text() == "deep"


@pytest.mark.req("PF-B1", "C7")
def test_thirty_parallel_deletes_are_thirty_restorable_entries(scope: Scope, work: Path, base: Path) -> None:
    for number in range(30):
        (work / f"p{number}").write_text(str(number))
    trash = Trash(base, "w1", "u1", SYSTEM)
    barrier = threading.Barrier(30)

    def delete(number: int) -> str:
        barrier.wait()
        return trash.put(scope, scope.locate(f"p{number}")).id

    with ThreadPoolExecutor(30) as pool:
        ids = list(pool.map(delete, range(30)))
    assert sorted(item.id for item in trash.list()) == sorted(ids)
    assert len(set(ids)) == 30
    with ThreadPoolExecutor(30) as pool:
        list(pool.map(lambda trash_id: trash.restore(scope, trash_id), ids))
    assert [(work / f"p{number}").read_text() for number in range(30)] == [str(number) for number in range(30)]


@pytest.mark.req("C7")
def test_of_parallel_deletes_of_one_file_one_wins(scope: Scope, work: Path, base: Path) -> None:
    trash = Trash(base, "w1", "u1", SYSTEM)
    barrier = threading.Barrier(8)

    def delete(_: int) -> str:
        barrier.wait()
        try:
            return trash.put(scope, scope.locate("f")).id
        except FileMissing:
            return ""

    with ThreadPoolExecutor(8) as pool:
        won = [trash_id for trash_id in pool.map(delete, range(8)) if trash_id]
    # across file systems the copy and the removal are two steps: then several may hold a copy, none is lost
    assert len(won) >= 1
    restored = Trash(base, "w1", "u1", SYSTEM).restore(scope, won[0])
    assert Path(restored).read_text() == "content"


@pytest.mark.req("C16")
def test_the_trash_of_another_user_or_workspace_does_not_exist(scope: Scope, base: Path) -> None:
    item = Trash(base, "w1", "u1", SYSTEM).put(scope, scope.locate("f"))
    for workspace, user in (("w1", "u2"), ("w2", "u1")):
        other = Trash(base, workspace, user, SYSTEM)
        assert other.list() == []
        with pytest.raises(UnknownTrashId):
            other.restore(scope, item.id)


@pytest.mark.req("C16")
@pytest.mark.parametrize(
    "trash_id", ["x", "../u2/1700000000000_abcdef", "1700000000000_abcdef", "..", "/", "\0", "1700000000000_abcdef\n", "é"]
)
def test_an_unknown_id_is_refused(scope: Scope, base: Path, trash_id: str) -> None:
    with pytest.raises(UnknownTrashId):
        Trash(base, "w1", "u1", SYSTEM).restore(scope, trash_id)


@pytest.mark.req("C16")
def test_a_restore_never_replaces_and_needs_the_parent(scope: Scope, work: Path, base: Path) -> None:
    trash = Trash(base, "w1", "u1", SYSTEM)
    with pytest.raises(TrashIdMissing):
        trash.restore(scope, "")
    item = trash.put(scope, scope.locate("f"))
    (work / "f").write_text("newer")
    with pytest.raises(OriginalPlaceTaken) as caught:
        trash.restore(scope, item.id)
    assert caught.value.status == 400
    assert (work / "f").read_text() == "newer"
    deep = trash.put(scope, scope.locate("d/e/g"))
    shutil.rmtree(work / "d")
    with pytest.raises(ParentGone):
        trash.restore(scope, deep.id)
    assert [entry.id for entry in trash.list()] == [item.id, deep.id]


@pytest.mark.req("C17")
def test_entries_go_after_seven_days(scope: Scope, tmp_path: Path) -> None:
    clock = FakeClock()
    base = tmp_path / "trash"
    trash = Trash(base, "w1", "u1", clock)
    trash.put(scope, scope.locate("f"))
    clock.advance(6.9 * DAY)
    later = trash.put(scope, scope.locate("d"))
    assert trash.sweep() == 0
    clock.advance(0.2 * DAY)
    assert [found.sweep() for found in every_trash(base, clock)] == [1]
    assert [item.id for item in trash.list()] == [later.id]


def test_the_sweep_takes_what_a_crash_left_and_nothing_that_is_at_work(scope: Scope, work: Path, tmp_path: Path) -> None:
    trash = Trash(tmp_path / "trash", "w1", "u1", SYSTEM)
    item = trash.put(scope, scope.locate("f"))
    home = tmp_path / "trash" / "w1" / "u1"
    remnant = home / "1790000000000_remnan"
    remnant.mkdir()
    (remnant / "data.part").write_text("half a copy")
    with trash._new(
        trash.list()[0].__class__("1790000000001_atwork", "/x", "x", 1, 1_800_000_000_000, is_dir=False, deleted_by="u1")
    ) as fd:
        assert trash.sweep(retention_ms=10**15) == 1
        os.close(os.open(DATA, os.O_CREAT | os.O_WRONLY, dir_fd=fd))
    assert sorted(os.listdir(home)) == sorted([item.id, "1790000000001_atwork"])


def test_a_broken_entry_does_not_hide_the_others(scope: Scope, tmp_path: Path) -> None:
    trash = Trash(tmp_path / "trash", "w1", "u1", SYSTEM)
    item = trash.put(scope, scope.locate("f"))
    for number, text in enumerate([b"", b"{", b"[]", b'{"name": 1}', b"\xff"]):
        broken = tmp_path / "trash" / "w1" / "u1" / f"179000000000{number}_broken"
        broken.mkdir()
        (broken / "meta.json").write_bytes(text)
        (broken / "data").write_bytes(b"x")
    assert trash.list() == [item]


def test_the_trash_is_closed_to_others(scope: Scope, tmp_path: Path) -> None:
    base = tmp_path / "trash"
    item = Trash(base, "w1", "u1", SYSTEM).put(scope, scope.locate("f"))
    assert (base / "w1" / "u1" / item.id).stat().st_mode & 0o077 == 0
    assert (base / "w1" / "u1" / item.id / "meta.json").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["", "..", "a/b", ".hidden", "x" * 65])
def test_ids_that_are_no_plain_names_are_a_programming_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="plain name"):
        Trash(tmp_path, name, "u", SYSTEM)
    with pytest.raises(ValueError, match="plain name"):
        Trash(tmp_path, "w", name, SYSTEM)


def test_a_deep_tree_is_removed_and_a_too_deep_one_refused(tmp_path: Path) -> None:
    fd = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    inner = fd
    held: list[int] = []
    for _ in range(300):
        os.mkdir(b"d", dir_fd=inner)
        inner = os.open(b"d", os.O_RDONLY | os.O_DIRECTORY, dir_fd=inner)
        held.append(inner)
    for one in held:
        os.close(one)
    tree.remove(fd, b"d")
    assert os.listdir(tmp_path) == []
    os.close(fd)
