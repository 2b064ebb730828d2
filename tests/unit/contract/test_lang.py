"""Which language an answer is in."""

from __future__ import annotations

import pytest

from handrail.contract.lang import negotiate


@pytest.mark.parametrize(
    ("header", "default", "expected"),
    [
        ("", "en", "en"),
        ("", "zh", "zh"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "en", "zh"),
        ("en-US,en;q=0.9", "zh", "en"),
        ("fr", "zh", "zh"),
        ("fr,zh;q=0.1", "en", "zh"),
        ("en;q=0.2, zh;q=0.7", "en", "zh"),
        ("zh;q=0", "en", "en"),
        ("*", "zh", "zh"),
        ("zh;q=nonsense,en;q=0.1", "zh", "en"),
        (",,;;q=", "en", "en"),
    ],
)
def test_the_better_of_zh_and_en_is_chosen(header: str, default: str, expected: str) -> None:
    assert negotiate(header, default) == expected


def test_a_huge_header_is_cut_and_never_an_error() -> None:
    assert negotiate("xx," * 100_000 + "zh", "en") == "en"
