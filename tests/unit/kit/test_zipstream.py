from __future__ import annotations

import io
import struct
import zipfile
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.kit.zipstream import BLOCK, READ, Member, MemberChanged, length, stream

SIZES = st.one_of(st.integers(0, 300), st.sampled_from([BLOCK - 1, BLOCK, BLOCK + 1, READ - 1, READ, READ + 1, 2 * READ + 7]))


class Trickle(io.BytesIO):
    """Gives fewer bytes than asked for."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(size or 0, 1000) if size and size > 0 else size)


def built(contents: dict[str, bytes], opener: type[io.BytesIO] = io.BytesIO) -> bytes:
    members = [Member(name, len(data), 1_700_000_000.0, 0o640, name) for name, data in contents.items()]
    out = b"".join(stream(members, lambda member: opener(contents[str(member.key)])))
    assert len(out) == length(members)
    return out


@pytest.mark.req("PF-B7", "TR-4")
@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.text("abc/é中.", min_size=1, max_size=20).map(lambda name: name.strip("/") or "x"), SIZES, max_size=5))
def test_an_archive_has_the_promised_length_and_every_byte(sizes: dict[str, int]) -> None:
    contents = {name: bytes(index % 251 for index in range(size)) for name, size in sizes.items()}
    archive = zipfile.ZipFile(io.BytesIO(built(contents)))
    assert archive.testzip() is None
    assert {name: archive.read(name) for name in archive.namelist()} == contents


def test_a_source_that_gives_small_pieces_makes_the_same_archive() -> None:
    contents = {"a": bytes(range(256)) * 1000, "b": b""}
    assert built(contents, Trickle) == built(contents)


def test_a_reader_that_only_goes_forward_finds_the_end_of_each_member() -> None:
    contents = {"a": b"text" * 50_000, "ünï 中.txt": b"", "c": bytes(READ + 1)}
    rest = built(contents)
    for name, data in contents.items():
        assert rest[:4] == b"PK\x03\x04"
        length_of_name = int.from_bytes(rest[26:28], "little")
        assert rest[30 : 30 + length_of_name].decode() == name
        inflater = zlib.decompressobj(-15)
        assert inflater.decompress(rest[30 + length_of_name :]) == data
        assert inflater.eof
        signature, checksum, _, size = struct.unpack_from("<IIII", inflater.unused_data)
        assert (signature, checksum, size) == (0x08074B50, zlib.crc32(data), len(data))
        rest = inflater.unused_data[16:]
    assert rest[:4] == b"PK\x01\x02"


def test_a_file_that_shrank_ends_the_archive_and_one_that_grew_is_cut() -> None:
    member = Member("f", 10, 0.0, 0o600)
    with pytest.raises(MemberChanged):
        list(stream([member], lambda _: io.BytesIO(b"short")))
    grown = b"".join(stream([member], lambda _: io.BytesIO(b"x" * 1000)))
    assert zipfile.ZipFile(io.BytesIO(grown)).read("f") == b"x" * 10


def test_more_entries_than_sixteen_bits_count() -> None:
    members = [Member(str(number), 0, 0.0, 0o600) for number in range(70_000)]
    out = b"".join(stream(members, lambda _: io.BytesIO()))
    assert len(out) == length(members)
    assert len(zipfile.ZipFile(io.BytesIO(out)).namelist()) == 70_000


def test_the_length_of_an_archive_beyond_four_gibibytes_counts_the_wide_fields() -> None:
    small, large = Member("s", 5, 0.0, 0o600), Member("l", 5 << 30, 0.0, 0o600)
    assert large.large
    blocks = -(-large.size // BLOCK)
    assert length([large, small]) == (
        (30 + 1 + 20 + large.size + 5 * blocks + 24)  # zip64 extra, 8-byte sizes in the descriptor
        + (30 + 1 + 10 + 16)
        + (46 + 1 + 20)  # both sizes
        + (46 + 1 + 12)  # the offset
        + (56 + 20 + 22)
    )
