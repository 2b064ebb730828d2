"""A small world of files for the resolver: a work root with every kind of link, an extra root, and what must stay out of reach."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from pathlib import Path

from handrail.kit.paths import Root, Scope

SECRET = b"must never be read\n"


@dataclass(frozen=True)
class World:
    base: Path
    work: Path
    extra: Path
    outside: Path
    evil: Path
    data: Path

    def scope(self, *, fast: bool, protected: Path | None = None) -> Scope:
        return Scope(
            [Root(str(self.work)), Root(str(self.extra))],
            home=str(self.base / "home"),
            protected=[str(protected or self.data)],
            use_openat2=fast,
        )

    def untouched(self) -> bool:
        """Whether everything outside is as it was."""
        return (
            (self.outside / "secret").read_bytes() == SECRET
            and sorted(os.listdir(self.outside)) == ["dir", "secret"]
            and sorted(os.listdir(self.outside / "dir")) == ["deep"]
            and sorted(os.listdir(self.evil)) == ["secret"]
        )


def build(base: Path) -> World:
    world = World(base, base / "work", base / "extra", base / "outside", base / "work-evil", base / "data")
    for path in (world.work / "dir" / "sub", world.extra, world.outside / "dir", world.evil, world.data, base / "home"):
        path.mkdir(parents=True)
    (world.work / "file.txt").write_text("inside\n")
    (world.work / "dir" / "sub" / "deep.txt").write_text("deep\n")
    (world.extra / "other.txt").write_text("extra\n")
    (world.data / "config.json").write_bytes(SECRET)
    (world.outside / "secret").write_bytes(SECRET)
    (world.outside / "dir" / "deep").write_bytes(SECRET)
    (world.evil / "secret").write_bytes(SECRET)
    links = {
        "in": "file.txt",
        "in_dir": "dir",
        "in_abs": str(world.work / "file.txt"),
        "in_abs_dir": str(world.work / "dir"),
        "in_up": f"../{world.work.name}/file.txt",
        "chain": "chain2",
        "chain2": "dir/chain3",
        "dir/chain3": "../file.txt",
        "to_extra": str(world.extra),
        "out": str(world.outside / "secret"),
        "out_dir": str(world.outside),
        "out_rel": "../outside/secret",
        "out_chain": "dir/out_chain2",
        "dir/out_chain2": "../../outside",
        "evil": "../work-evil/secret",
        "loop": "loop2",
        "loop2": "loop",
        "self": "self",
        "dangling": "nowhere",
        "dangling_out": str(world.outside / "new"),
        "proc_root": "/proc/self/root",
        "proc_cwd": "/proc/self/cwd",
        "proc_fd": "/proc/self/fd/0",
        "to_data": str(world.data),
        "slash": "/",
    }
    for name, target in links.items():
        (world.work / name).symlink_to(target)
    os.link(world.work / "file.txt", world.work / "hard")
    os.mkfifo(world.work / "fifo")
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(world.work / "socket"))
    return world
