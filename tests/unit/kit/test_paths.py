from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from handrail.contract.errors import HandrailError
from handrail.kit import files, moves, openat2
from handrail.kit.clock import SYSTEM
from handrail.kit.errors import (
    FileMissing,
    InvalidPath,
    NotADirectory,
    NotAFile,
    OutOfBounds,
    ProtectedPath,
    RootChanged,
    RootItself,
    UnsupportedTarget,
)
from handrail.kit.listing import list_directory
from handrail.kit.paths import Location, Root, Scope
from handrail.kit.trash import Trash
from tests.support.filetree import SECRET, World

LIMIT = 1 << 20


def read(scope: Scope, text: object) -> bytes:
    return files.read(scope, scope.locate(text), LIMIT)[0]


READABLE = {
    "file.txt": b"inside\n",
    "./file.txt": b"inside\n",
    "dir/../file.txt": b"inside\n",
    "dir//sub///deep.txt": b"deep\n",
    "file.txt/": b"inside\n",
    "in": b"inside\n",
    "in_abs": b"inside\n",
    "in_up": b"inside\n",
    "in_dir/sub/deep.txt": b"deep\n",
    "in_abs_dir/sub/deep.txt": b"deep\n",
    "chain": b"inside\n",
    "hard": b"inside\n",
    "to_extra/other.txt": b"extra\n",
    "{extra}/other.txt": b"extra\n",
    "{work}/file.txt": b"inside\n",
    "{work}/../work/file.txt": b"inside\n",
    "//{work}/file.txt": b"inside\n",
}

REFUSED: dict[str, type[HandrailError]] = {
    "..": OutOfBounds,
    "../outside/secret": OutOfBounds,
    "dir/../../outside/secret": OutOfBounds,
    "{work}/../outside/secret": OutOfBounds,
    "{work}-evil/secret": OutOfBounds,
    "{outside}/secret": OutOfBounds,
    "/etc/passwd": OutOfBounds,
    "/": OutOfBounds,
    "~/x": OutOfBounds,
    "~": OutOfBounds,
    "/proc/self/environ": OutOfBounds,
    "/proc/self/root/etc/passwd": OutOfBounds,
    "/proc/self/fd/0": OutOfBounds,
    "/sys/kernel/uevent_seqnum": OutOfBounds,
    "/dev/zero": OutOfBounds,
    "/dev/tcp/127.0.0.1/80": OutOfBounds,
    "out": OutOfBounds,
    "out_rel": OutOfBounds,
    "out_dir/secret": OutOfBounds,
    "out_chain/secret": OutOfBounds,
    "out_chain/dir/deep": OutOfBounds,
    "evil": OutOfBounds,
    "slash/etc/passwd": OutOfBounds,
    "dangling_out": OutOfBounds,
    "proc_root/etc/passwd": OutOfBounds,
    "proc_cwd/x": OutOfBounds,
    "proc_fd": OutOfBounds,
    "{data}/config.json": ProtectedPath,
    "{DATA}/config.json": ProtectedPath,
    "%2e%2e/outside/secret": FileMissing,
    "..%2foutside": FileMissing,
    "file.txt ": FileMissing,
    " file.txt": FileMissing,
    "File.txt": FileMissing,
    "fi\u200ble.txt": FileMissing,
    "\uff0e\uff0e/outside/secret": FileMissing,
    "..\\outside\\secret": FileMissing,
    "dangling": FileMissing,
    "dir/none/x": FileMissing,
    "~other/x": FileMissing,
    "file.txt/x": NotADirectory,
    "loop": InvalidPath,
    "loop/x": InvalidPath,
    "self": InvalidPath,
    "": InvalidPath,
    "a\0b": InvalidPath,
    "file.txt\0": InvalidPath,
    "a\nb": InvalidPath,
    "a\x1b[0m": InvalidPath,
    "a\x7f": InvalidPath,
    "n" * 256: InvalidPath,
    "d/" * 2000 + "x": FileMissing,
    "n" * 4000: InvalidPath,
    "n" * 5000: InvalidPath,
    "\ud800": InvalidPath,
    ".": NotAFile,
    "dir": NotAFile,
    "in_dir": NotAFile,
    "fifo": UnsupportedTarget,
    "socket": UnsupportedTarget,
}  # fmt: skip


def fill(world: World, text: str) -> str:
    names = {"{work}": world.work, "{extra}": world.extra, "{outside}": world.outside, "{data}": world.data}
    for key, path in names.items():
        text = text.replace(key, str(path))
    return text.replace("{DATA}", str(world.data).upper() if "{DATA}" in text else "")


@pytest.mark.req("C1", "C2")
@pytest.mark.parametrize("text", READABLE)
def test_what_lies_inside_is_read_by_every_spelling(world: World, scope: Scope, text: str) -> None:
    assert read(scope, fill(world, text)) == READABLE[text]


@pytest.mark.req("C1", "ATK-21", "ATK-22", "ATK-23", "ATK-24", "PF-A5")
@pytest.mark.parametrize("text", REFUSED)
def test_what_lies_outside_is_refused_by_every_spelling(world: World, scope: Scope, text: str) -> None:
    with pytest.raises(REFUSED[text]) as caught:
        read(scope, fill(world, text))
    assert type(caught.value) is REFUSED[text]
    assert world.untouched()


@pytest.mark.req("C1")
@pytest.mark.parametrize("value", [None, 1, 1.5, True, [], {}, b"file.txt"])
def test_what_is_no_text_is_refused(scope: Scope, value: object) -> None:
    with pytest.raises(InvalidPath):
        scope.locate(value)


def _write(scope: Scope, text: str) -> object:
    return files.write(scope, scope.locate(text), b"changed")


def _list(scope: Scope, text: str) -> object:
    return list_directory(scope, scope.locate(text))


def _stat(scope: Scope, text: str) -> object:
    return scope.lstat(scope.locate(text))


def _mkdir(scope: Scope, text: str) -> object:
    return files.make_directory(scope, scope.locate(text + "/new"))


def _move_into(scope: Scope, text: str) -> object:
    return moves.move(scope, scope.locate("file.txt"), scope.locate(text))


def _move_away(scope: Scope, text: str) -> object:
    return moves.move(scope, scope.locate(text + "/secret"), scope.locate("dir"))


def _rename(scope: Scope, text: str) -> object:
    return moves.rename(scope, scope.locate(text + "/secret"), "renamed")


def _delete(scope: Scope, text: str) -> object:
    trash = Trash(Path(scope.home).parent / "data" / "trash", "w", "u", SYSTEM)
    return trash.put(scope, scope.locate(text + "/secret"))


OPERATIONS: list[Callable[[Scope, str], object]] = [_write, _list, _mkdir, _move_into, _move_away, _rename, _delete]
LEADS_OUT = ["..", "../outside", "{outside}", "{work}-evil", "out_dir", "out_chain", "slash", "proc_root", "/proc/self", "/etc", "~"]


@pytest.mark.req("C1", "C18", "ATK-22")
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("text", LEADS_OUT)
def test_every_operation_refuses_what_leads_out(world: World, scope: Scope, operation: Callable[[Scope, str], object], text: str) -> None:
    with pytest.raises(OutOfBounds):
        operation(scope, fill(world, text))
    assert world.untouched()


@pytest.mark.req("C1")
@pytest.mark.parametrize("operation", [*OPERATIONS, _stat])
@pytest.mark.parametrize("text", ["", "a\0b", "a\tb", "x" * 5000])
def test_every_operation_refuses_what_is_no_path(scope: Scope, operation: Callable[[Scope, str], object], text: str) -> None:
    with pytest.raises(InvalidPath):
        operation(scope, text or "\0")


@pytest.mark.req("C8", "PF-B20")
@pytest.mark.parametrize("name", ["out", "out_dir", "loop", "dangling", "dangling_out", "proc_root", "in"])
def test_an_operation_on_an_entry_takes_the_link_itself(world: World, scope: Scope, name: str) -> None:
    assert os.path.islink(world.work / name)
    assert scope.lstat(scope.locate(name)).st_mode & 0o170000 == 0o120000
    moved = moves.rename(scope, scope.locate(name), "moved")
    assert os.path.islink(world.work / "moved")
    moves.move(scope, moved, scope.locate("dir"))
    item = _delete_entry(scope, "dir/moved")
    assert not item.is_dir
    assert not os.path.lexists(world.work / "dir" / "moved")
    assert world.untouched()


def _delete_entry(scope: Scope, text: str):  # noqa: ANN202
    return Trash(Path(scope.home).parent / "data" / "trash", "w", "u", SYSTEM).put(scope, scope.locate(text))


def test_writing_through_a_link_that_stays_inside_changes_its_target(world: World, scope: Scope) -> None:
    for name in ("in", "in_abs", "in_up", "chain"):
        files.write(scope, scope.locate(name), name.encode())
        assert os.path.islink(world.work / name)
        assert (world.work / "file.txt").read_bytes() == name.encode()


def test_writing_to_a_dangling_link_inside_creates_its_target(world: World, scope: Scope) -> None:
    files.write(scope, scope.locate("dangling"), b"x")
    assert (world.work / "nowhere").read_bytes() == b"x"


@pytest.mark.req("ATK-23")
def test_writing_to_a_hard_link_leaves_the_other_name_alone(world: World, scope: Scope) -> None:
    os.link(world.outside / "secret", world.work / "hard_out")
    files.write(scope, scope.locate("hard_out"), b"x")
    assert (world.outside / "secret").read_bytes() == SECRET


@pytest.mark.req("ATK-23", "PF-C1")
def test_a_pipe_is_refused_at_once(world: World, scope: Scope) -> None:
    began = time.monotonic()
    for _ in range(50):
        with pytest.raises(UnsupportedTarget):
            read(scope, "fifo")
        with pytest.raises(UnsupportedTarget):
            _write(scope, "fifo")
    assert time.monotonic() - began < 2


@pytest.mark.req("ATK-24")
@pytest.mark.parametrize("text", ["to_data/config.json", "data/config.json", "DATA/config.json", "Data", "sub/../data/x"])
def test_the_agents_own_data_is_refused_even_inside_of_a_root(world: World, text: str) -> None:
    for fast in (True, False):
        scope = Scope([Root(str(world.base))], home="/nonexistent", protected=[str(world.data)], use_openat2=fast)
        with pytest.raises(ProtectedPath):
            read(scope, ("work/" if text.startswith("to_data") else "") + text)
        with pytest.raises(ProtectedPath):
            moves.rename(scope, scope.locate("work"), "DATA")


def test_a_directory_that_holds_protected_data_cannot_be_taken_away(world: World, scope: Scope) -> None:
    inner = world.work / "dir" / "agent"
    inner.mkdir()
    guarded = world.scope(fast=True, protected=inner)
    with pytest.raises(ProtectedPath):
        moves.rename(guarded, guarded.locate("dir"), "gone")
    with pytest.raises(ProtectedPath):
        _delete_entry(guarded, "dir")


def test_a_root_cannot_be_taken_away(world: World, scope: Scope) -> None:
    for text in (".", str(world.work), str(world.extra)):
        with pytest.raises(RootItself):
            _delete_entry(scope, text)


@pytest.mark.req("C1")
def test_a_replaced_root_fails_closed(world: World, scope: Scope) -> None:
    assert read(scope, "file.txt")
    world.work.rename(world.base / "away")
    with pytest.raises(RootChanged):
        read(scope, "file.txt")
    shutil.copytree(world.base / "away", world.work, symlinks=True, ignore=shutil.ignore_patterns("fifo", "socket"))
    for operation in (lambda: read(scope, "file.txt"), lambda: _write(scope, "new"), lambda: _list(scope, "."), lambda: _stat(scope, "in")):
        with pytest.raises(RootChanged):
            operation()
    assert not (world.work / "new").exists()
    assert read(scope, str(world.extra / "other.txt")) == b"extra\n"


def test_a_root_swapped_for_a_link_fails_closed(world: World, scope: Scope) -> None:
    world.work.rename(world.base / "away")
    world.work.symlink_to(world.outside)
    with pytest.raises(RootChanged):
        read(scope, "secret")


@pytest.mark.req("ATK-23")
@pytest.mark.parametrize("path", ["/", "/proc", "/proc/self", "/sys", "/dev", "/dev/shm", "/proc/../proc", "relative"])
def test_the_kernels_directories_can_never_be_a_root(path: str) -> None:
    with pytest.raises(OutOfBounds):
        Root(path)


def test_descriptors_are_not_leaked(world: World, scope: Scope) -> None:
    def all_of_it() -> None:
        for text in ("file.txt", "in_abs", "out", "chain", "loop", "fifo", "dir/none/x", "dir", "to_extra/other.txt", "out_chain/secret"):
            for operation in (read, _write, _list, _stat, _mkdir, _move_into, _delete):
                with contextlib.suppress(HandrailError):
                    operation(scope, text)

    all_of_it()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        all_of_it()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_scope_closes_its_roots_when_nobody_uses_it(world: World) -> None:
    before = len(os.listdir("/proc/self/fd"))
    held = world.scope(fast=True)
    assert len(os.listdir("/proc/self/fd")) == before + 2
    del held
    assert len(os.listdir("/proc/self/fd")) == before


def test_the_longest_root_owns_a_path(world: World) -> None:
    scope = Scope([Root(str(world.work)), Root(str(world.work / "dir"))], home="/x")
    location = scope.locate("dir/sub/deep.txt")
    assert (location.root.path, location.relative) == (str(world.work / "dir"), b"sub/deep.txt")


def test_a_refused_system_call_means_the_component_walk(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    openat2.available.cache_clear()

    def refuse(*_args: object) -> int:
        raise PermissionError(1, "seccomp")

    monkeypatch.setattr(openat2, "open_beneath", refuse)
    try:
        assert not openat2.available()
        scope = Scope([Root(str(world.work))], home="/x")
        assert read(scope, "chain") == b"inside\n"
        with pytest.raises(OutOfBounds):
            read(scope, "out")
    finally:
        openat2.available.cache_clear()


def test_locations_are_remembered_within_a_bound(scope: Scope) -> None:
    for number in range(5000):
        assert isinstance(scope.locate(f"f{number}"), Location)
    assert len(scope._located) <= 2048


@pytest.mark.req("PF-B20")
def test_a_name_with_bytes_that_are_no_utf8_is_read_and_listed(world: World, scope: Scope) -> None:
    raw = os.fsencode(world.work) + b"/caf\xe9\xff\n.txt"
    with open(raw, "wb") as file:
        file.write(b"odd")
    entry = next(entry for entry in list_directory(scope, scope.locate(".")) if entry.odd_name)
    assert (entry.kind, entry.size) == ("file", 3)
    assert entry.name.encode()
    assert read(scope, entry.name) == b"odd"
    assert moves.rename(scope, scope.locate(entry.name), "plain.txt").path.endswith("/plain.txt")
    assert read(scope, "plain.txt") == b"odd"
