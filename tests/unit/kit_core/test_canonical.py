"""Strict JSON in, canonical JSON out."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.kit.canonical import StrictJsonError, canonical, loads, sha256

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.req("H3", "PG-23")
@pytest.mark.parametrize(
    "raw",
    [
        b'{"a":1,"a":2}', b'{"a":{"b":1,"b":1}}', b"NaN", b"[Infinity]", b"[-Infinity]", b"1e999", b"9007199254740992",
        b"-9007199254740992",
        b"1" * 5000, b'"\xff"', b'"\\ud800"', b'{"\\udc00":1}', b"[" * 65 + b"]" * 65, b"[" * 100_000, b"", b"{", b"{}x", b"'a'", b"\x00",
        b'{"a":1,}', b"// x\n{}", b"\xef\xbb\xbf{}",
    ],
    ids=lambda raw: repr(raw[:24]),
)  # fmt: skip
def test_what_is_not_plain_json_is_refused(raw: bytes) -> None:
    with pytest.raises(StrictJsonError):
        loads(raw)


def test_depth_counts_nesting_and_not_brackets_in_strings() -> None:
    assert loads(json.dumps(["[" * 1000])) == ["[" * 1000]
    assert loads(b"[" * 64 + b"]" * 64) is not None


def test_the_largest_safe_integers_are_accepted() -> None:
    assert loads(b"[9007199254740991,-9007199254740991]") == [2**53 - 1, -(2**53) + 1]


@given(json_values)
def test_the_canonical_form_survives_a_round_trip(value: object) -> None:
    assert canonical(loads(canonical(value))) == canonical(value)


@given(st.dictionaries(st.text(), st.integers(0, 9), max_size=6))
def test_key_order_does_not_change_the_hash(value: dict[str, int]) -> None:
    assert sha256(dict(reversed(value.items()))) == sha256(value)


@pytest.mark.req("H3")
def test_different_types_have_different_hashes() -> None:
    assert len({sha256([value]) for value in (1, "1", True, None, [1], {"1": 1})}) == 6


@given(st.binary(max_size=200))
def test_random_bytes_never_raise_anything_else(raw: bytes) -> None:
    with contextlib.suppress(StrictJsonError):
        loads(raw)
