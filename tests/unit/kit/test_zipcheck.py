from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable

import pytest

from handrail.kit.zipcheck import Caps, UnsafeArchive, check, inflate

CAPS = Caps(entries=100, total=4 << 20)


def archive(fill: Callable[[zipfile.ZipFile], object]) -> io.BytesIO:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        fill(file)
    return out


def named(name: str) -> io.BytesIO:
    return archive(lambda file: file.writestr(zipfile.ZipInfo(name), "x"))


def link(file: zipfile.ZipFile) -> None:
    info = zipfile.ZipInfo("link")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    file.writestr(info, "/etc/passwd")


def lying(size: int, says: int) -> io.BytesIO:
    """A member that inflates to `size` bytes and says that it has `says`."""
    raw = archive(lambda file: file.writestr("f", bytes(size))).getvalue()
    packed = struct.pack("<I", size)
    assert raw.count(packed) == 2
    return io.BytesIO(raw.replace(packed, struct.pack("<I", says)))


@pytest.mark.req("ATK-27", "TR-7")
@pytest.mark.parametrize(
    ("problem", "file"),
    [
        ("name", named("../x")),
        ("name", named("a/../../x")),
        ("name", named("/etc/passwd")),
        ("name", named("..\\x")),
        ("name", named("C:\\x")),
        ("name", archive(lambda file: [file.writestr(name, "x") for name in ("a", "A")])),
        ("link", archive(link)),
        ("depth", named("/".join("d" * 40))),
        ("entries", archive(lambda file: [file.writestr(f"{number}", "") for number in range(101)])),
        ("size", archive(lambda file: file.writestr("f", bytes(5 << 20)))),
        ("ratio", archive(lambda file: file.writestr("f", bytes(3 << 20)))),
        ("not_zip", io.BytesIO(b"PK\x03\x04 and no more")),
        ("not_zip", io.BytesIO(b"")),
        ("not_zip", io.BytesIO(zlib.compress(bytes(1000)))),
    ],
    ids=str,
)
def test_what_is_dangerous_to_unpack_is_refused_before_it_is_inflated(problem: str, file: io.BytesIO) -> None:
    with pytest.raises(UnsafeArchive) as refused:
        check(file, CAPS)
    assert refused.value.problem == problem


@pytest.mark.req("ATK-27", "TR-7")
def test_a_million_entries_are_refused_by_the_end_record_alone() -> None:
    record = struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, 10**6, 10**6, 50 << 20, 0)
    tail = (
        record
        + struct.pack("<IIQI", 0x07064B50, 0, 0, 1)
        + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    )
    with pytest.raises(UnsafeArchive) as refused:
        check(io.BytesIO(bytes(1000) + tail), CAPS)
    assert refused.value.problem == "entries"


@pytest.mark.req("ATK-27", "TR-7")
def test_sizes_that_are_a_lie_are_found_by_inflating() -> None:
    file = lying(8 << 20, 1000)
    members = check(file, CAPS)
    with pytest.raises(UnsafeArchive):
        inflate(file, members, CAPS)


def test_an_ordinary_archive_passes() -> None:
    file = archive(lambda it: [it.writestr(f"d/{number}.txt", "text " * number) for number in range(50)])
    inflate(file, check(file, CAPS), CAPS)
