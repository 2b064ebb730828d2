"""The ring log against a model: whatever is written, a reader sees the newest bytes, in order, stream by stream."""

from __future__ import annotations

import itertools
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.kit import ringlog

WRITES = st.lists(st.tuples(st.sampled_from([0, 1]), st.text(max_size=600)), max_size=60)


def read_all(directory: str, limit: int) -> tuple[int, list[tuple[int, bytes]]]:
    cursor = 0
    start: int | None = None
    out: list[tuple[int, bytes]] = []
    while True:
        page = ringlog.read(directory, cursor, limit)
        start = page.start if start is None else start
        assert sum(len(piece.data) for piece in page.pieces) == page.end - page.start <= limit
        for piece in page.pieces:
            piece.data.decode()  # whole characters
            out.append((piece.stream, piece.data))
        if page.end == cursor or not page.has_more:
            return start, out
        cursor = page.end


@pytest.mark.req("SBX-41", "SBX-42")
@settings(deadline=None)  # file system under load
@given(writes=WRITES, capacity=st.integers(8192, 20_000), limit=st.integers(4, 5000))
def test_a_reader_sees_the_newest_bytes_of_both_streams_in_order(writes: list[tuple[int, str]], capacity: int, limit: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        writer = ringlog.Writer(directory, capacity)
        model: list[tuple[int, int]] = []
        for stream, text in writes:
            data = text.encode("utf-8", "replace")
            writer.write(stream, data)
            model += [(stream, byte) for byte in data]
            used = sum(entry.stat().st_size for entry in os.scandir(directory))
            assert used <= capacity + 64
        writer.close()
        assert writer.total == len(model)
        assert ringlog.size(directory) == (writer.dropped, writer.total)
        start, pieces = read_all(directory, limit)
        assert start == writer.dropped
        assert [(stream, byte) for stream, data in pieces for byte in data] == model[start:]
        assert ringlog.read(directory, 0, limit).truncated == (start > 0)
        assert ringlog.read(directory, writer.total + 5, limit).end == writer.total


@pytest.mark.req("SBX-40")
@given(text=st.binary(max_size=300), cuts=st.lists(st.integers(0, 300), max_size=8))
def test_decoding_in_pieces_gives_what_decoding_at_once_gives(text: bytes, cuts: list[int]) -> None:
    decoder = ringlog.Utf8()
    out = b""
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    for begin, end in itertools.pairwise(edges):
        part = decoder.feed(text[begin:end])
        part.decode()
        out += part
    out += decoder.end()
    assert out.decode() == text.decode("utf-8", "replace")


def test_a_log_that_is_not_there_reads_as_empty(tmp_path: Path) -> None:
    for directory in (tmp_path, tmp_path / "missing"):
        page = ringlog.read(str(directory), 7)
        assert (page.start, page.end, page.total, page.pieces, page.has_more) == (0, 0, 0, (), False)
        assert ringlog.size(str(directory)) == (0, 0)


def test_a_reader_while_the_writer_goes_on_sees_a_prefix(tmp_path: Path) -> None:
    writer = ringlog.Writer(str(tmp_path), 64 * 1024)
    seen = b""
    for number in range(400):
        writer.write(number % 2, f"line {number} 中\n".encode())
        page = ringlog.read(str(tmp_path), len(seen))
        seen += b"".join(piece.data for piece in page.pieces)
    writer.close()
    assert seen.decode() == "".join(f"line {number} 中\n" for number in range(400))
