"""Renaming and moving entries: never over something that is there, across file systems too."""

from __future__ import annotations

import errno
import os

from handrail.kit import names, openat2, tree
from handrail.kit.component_walk import Spot
from handrail.kit.errors import AlreadyExists, DirectoryMissing, FileMissing, IntoItself, NotADirectory, from_os
from handrail.kit.listing import kind_of
from handrail.kit.paths import Location, Scope
from handrail.kit.pending import temporary_name


def rename(scope: Scope, location: Location, new_name: str) -> Location:
    """Give the entry another name in its directory; where it is now. Raises InvalidName, AlreadyExists, FileMissing, RootItself."""
    raw = names.check_name(new_name)
    scope.refuse_holder(location)
    parent, _, _ = location.path.rpartition("/")
    target = scope.locate(f"{parent}/{new_name}")
    with scope.entry(location) as spot:
        move_entry(spot, Spot(spot.root, (*spot.parts[:-1], raw), spot.dir_fd, raw), location.path, target.path)
    return target


def move(scope: Scope, location: Location, directory: Location) -> Location:
    """Put the entry into an existing directory under its own name. Raises AlreadyExists, DirectoryMissing, IntoItself, RootItself, ..."""
    scope.refuse_holder(location)
    try:
        info = scope.stat(directory)
    except FileMissing as exc:
        raise DirectoryMissing(directory.path) from exc
    if kind_of(info.st_mode) != "directory":
        raise NotADirectory(directory.path)
    target = directory.child(location.relative.rpartition(b"/")[2])
    scope.refuse_protected(target.path)
    with scope.entry(location) as source, scope.entry(target) as spot:
        move_entry(source, spot, location.path, target.path)
    return target


def remove_directory(scope: Scope, location: Location) -> None:
    """An empty directory; a missing one is fine. Raises DirectoryNotEmpty, RootItself, ..."""
    scope.refuse_holder(location)
    with scope.entry(location) as spot:
        try:
            os.rmdir(spot.name, dir_fd=spot.dir_fd)
        except FileNotFoundError:
            return
        except OSError as exc:
            raise from_os(exc, location.path) from exc


def move_entry(source: Spot, target: Spot, path: str, target_path: str) -> None:
    """One entry to another place, never replacing. Across file systems: copied under a temporary name, renamed, then removed."""
    try:
        openat2.rename_noreplace(source.dir_fd, source.name, target.dir_fd, target.name)
    except FileExistsError as exc:
        raise AlreadyExists(target_path) from exc
    except OSError as exc:
        if exc.errno == errno.EINVAL:
            raise IntoItself(path) from exc
        if exc.errno != errno.EXDEV:
            raise from_os(exc, path) from exc
        _across(source, target, path, target_path)


def _across(source: Spot, target: Spot, path: str, target_path: str) -> None:
    temp = temporary_name()
    if _exists(target):  # before the long copy
        raise AlreadyExists(target_path)
    try:
        if _lies_within(target.dir_fd, os.stat(source.name, dir_fd=source.dir_fd, follow_symlinks=False)):
            raise IntoItself(path)
        tree.copy(source.dir_fd, source.name, target.dir_fd, temp)
        try:
            openat2.rename_noreplace(target.dir_fd, temp, target.dir_fd, target.name)
        except OSError:
            tree.remove(target.dir_fd, temp)
            raise
        tree.remove(source.dir_fd, source.name)
    except FileExistsError as exc:
        raise AlreadyExists(target_path) from exc
    except OSError as exc:
        raise from_os(exc, path) from exc


def _exists(spot: Spot) -> bool:
    try:
        os.stat(spot.name, dir_fd=spot.dir_fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _lies_within(dir_fd: int, ancestor: os.stat_result) -> bool:
    """Whether the open directory is `ancestor` or below it, by identity up to the top (a mount below itself would copy for ever)."""
    fd = os.dup(dir_fd)
    try:
        while True:
            here = os.fstat(fd)
            if (here.st_dev, here.st_ino) == (ancestor.st_dev, ancestor.st_ino):
                return True
            up = os.open(b"..", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=fd)
            os.close(fd)
            fd = up
            above = os.fstat(fd)
            if (above.st_dev, above.st_ino) == (here.st_dev, here.st_ino):
                return False
    finally:
        os.close(fd)
