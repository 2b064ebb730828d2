"""An attacker who swaps directories and files of the work root for links to the outside while the service works in it."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from handrail.api.files.transfer_sources import ArchiveSource, FileSource
from handrail.contract.errors import HandrailError
from handrail.kit import files, moves
from handrail.kit.clock import SYSTEM
from handrail.kit.incoming import Incoming
from handrail.kit.listing import list_directory
from handrail.kit.paths import Scope
from handrail.kit.trash import Trash
from handrail.kit.walk import Stop, open_found, walk
from tests.support.filetree import SECRET, World


@contextmanager
def attacker(world: World) -> Generator[None]:
    """Swaps `work/d` (a directory), `work/d/e` and `work/d/f` (a file) with links that lead out, as fast as it can."""
    work = world.work
    (work / "d" / "e").mkdir(parents=True)
    (work / "d" / "f").write_bytes(b"inside")
    (work / "d" / "e" / "f").write_bytes(b"inside")
    (work / "bad_dir").symlink_to(world.outside)
    (work / "bad_file").symlink_to(world.outside / "secret")
    (work / "bad_up").symlink_to("../outside")
    done = threading.Event()

    def swap(name: str, bad: str) -> None:
        aside = work / f"aside_{name.replace('/', '_')}"
        if aside.is_dir():
            shutil.rmtree(aside, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.rename(work / name, aside)
            os.symlink(os.readlink(work / bad), work / name)
            os.unlink(work / name)
        with contextlib.suppress(OSError):
            os.rename(aside, work / name)

    def run() -> None:
        while not done.is_set():
            swap("d", "bad_dir")
            swap("d/f", "bad_file")
            swap("d", "bad_up")
            swap("d/e", "bad_dir")
            for name in ("d/e", "d"):
                with contextlib.suppress(OSError):
                    (work / name).mkdir()
            with contextlib.suppress(OSError):  # the attacker itself must not write through a link
                os.close(os.open(work / "d" / "f", os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW))

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def operations(world: World, scope: Scope, trash_base: Path) -> dict[str, Callable[[], None]]:
    """One call each of what a client can ask for, at the place that is being swapped."""
    trash = Trash(trash_base, "w", "u", SYSTEM)

    def read(text: str) -> None:
        data, _ = files.read(scope, scope.locate(text), 1000)
        assert SECRET not in data

    def listed() -> None:
        for entry in list_directory(scope, scope.locate("d")):
            assert entry.name not in {"secret", "deep", "dir"}

    def walked() -> None:
        for found in walk(scope, scope.locate("."), Stop(5), enter=lambda _: True):
            if found.is_file and (opened := open_found(found)) is not None:
                try:
                    assert os.read(opened[0], 100) != SECRET
                finally:
                    os.close(opened[0])

    def delete() -> None:
        item = trash.put(scope, scope.locate("d/f"))
        stored = trash_base / "w" / "u" / item.id / "data"
        if not stored.is_symlink():
            assert stored.is_dir() or stored.read_bytes() != SECRET
        with contextlib.suppress(HandrailError):
            trash.restore(scope, item.id)

    def upload(text: str) -> None:
        with Incoming(scope, scope.locate(text)) as incoming:
            incoming.write(b"ins")
            incoming.write(b"ide")
            incoming.commit()

    def download(text: str) -> None:
        source = FileSource(scope, scope.locate(text))
        try:
            assert SECRET not in b"".join(source.pieces(0, source.size))
        finally:
            source.close()

    def archive() -> None:
        source = ArchiveSource(scope, [scope.locate("d")], name="d.zip", kind="directory")
        try:
            assert SECRET not in b"".join(source.pieces(0, source.size))
        finally:
            source.close()

    return {
        "upload": lambda: upload("d/f"),
        "upload deep": lambda: upload("d/e/up"),
        "download": lambda: download("d/f"),
        "archive": archive,
        "read": lambda: read("d/f"),
        "read deep": lambda: read("d/e/f"),
        "read what is only outside": lambda: read("d/secret"),
        "write": lambda: files.write(scope, scope.locate("d/f"), b"inside") and None,
        "write new": lambda: files.write(scope, scope.locate(f"d/new{random.randrange(3)}"), b"inside") and None,
        "write deep": lambda: files.write(scope, scope.locate("d/e/x/y"), b"inside") and None,
        "list": listed,
        "walk": walked,
        "stat": lambda: scope.lstat(scope.locate("d/secret")) and None,
        "mkdir": lambda: files.make_directory(scope, scope.locate(f"d/m{random.randrange(3)}")),
        "rename": lambda: moves.rename(scope, scope.locate("d/secret"), "stolen") and None,
        "move out": lambda: moves.move(scope, scope.locate("d/secret"), scope.locate("dir")) and None,
        "move in": lambda: moves.move(scope, scope.locate("file.txt"), scope.locate("d/e")) and None,
        "delete": delete,
        "delete what is only outside": lambda: trash.put(scope, scope.locate("d/secret")) and None,
        "delete outside directory": lambda: trash.put(scope, scope.locate("d/dir")) and None,
    }


def race(world: World, scope: Scope, rounds: int) -> dict[str, int]:
    """`rounds` operations in turn under attack; how many of each succeeded. AssertionError when one touched the outside."""
    succeeded: dict[str, int] = {}
    todo = operations(world, scope, world.data / "trash")
    with attacker(world):
        for number in range(rounds):
            name = list(todo)[number % len(todo)]
            try:
                todo[name]()
                succeeded[name] = succeeded.get(name, 0) + 1
            except HandrailError:
                pass
            if number % 500 == 0:
                assert world.untouched()
                if not (world.work / "file.txt").exists():
                    (world.work / "file.txt").write_text("inside\n")
    assert world.untouched()
    return succeeded
