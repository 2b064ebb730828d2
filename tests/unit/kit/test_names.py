from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.kit import names
from handrail.kit.errors import InvalidName, InvalidPath


@given(st.binary(min_size=1, max_size=40).filter(lambda raw: b"\0" not in raw))
def test_every_name_comes_back(raw: bytes) -> None:
    text = names.to_text(raw)
    text.encode()  # no lone surrogates: JSON can carry it
    assert not any(char < " " or char == "\x7f" for char in text)
    assert names.to_bytes(text) == raw


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Co"]), max_size=30))
def test_ordinary_text_is_its_utf8(text: str) -> None:
    assert names.to_bytes(text) == text.encode()
    assert names.to_text(text.encode()) == text


@pytest.mark.parametrize("char", ["\uf7e9", "\uf701", "\uf77f", "\uf7ff", "\uf700", "\uf720"])
def test_private_characters_in_valid_names_come_back(char: str) -> None:
    raw = char.encode()
    assert names.to_bytes(names.to_text(raw)) == raw


def test_a_control_character_is_shown_harmlessly() -> None:
    assert names.to_text(b"a\nb\x1b[31m\xff") == "a\uf70ab\uf71b[31m\uf7ff"


@given(st.text(st.sampled_from("a/.~ \\é"), min_size=1, max_size=30))
def test_an_absolute_path_has_no_dots_and_no_double_slash(text: str) -> None:
    path = names.absolute(text, workdir="/w/d", home="/h")
    assert path.startswith("/")
    assert "//" not in path
    assert not {".", ".."} & set(path.split("/"))


@pytest.mark.parametrize(
    ("text", "path"),
    [("x", "/w/x"), ("~", "/h"), ("~/x", "/h/x"), ("~x", "/w/~x"), ("/a/../b", "/b"), ("//a", "/a"), ("../../..", "/"), (" x ", "/w/ x ")],
)
def test_text_becomes_a_path(text: str, path: str) -> None:
    assert names.absolute(text, workdir="/w", home="/h") == path


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\\b", "a\0", "a\n", "é" * 128])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(InvalidName):
        names.check_name(name)


def test_lone_surrogates_are_refused() -> None:
    with pytest.raises(InvalidPath):
        names.to_bytes("a\ud800")
