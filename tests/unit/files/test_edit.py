from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from handrail.api.files.edit import Edited, NotEdited, apply, exact, to_dominant_eol

SMALL = st.text("ab\r\n", max_size=12)


@given(SMALL, st.text("ab\r\n", min_size=1, max_size=3), SMALL, st.booleans())
def test_untouched_text_stays_and_the_count_is_right(text: str, old: str, new: str, replace_all: bool) -> None:
    outcome = apply(text, old, new, replace_all=replace_all)
    spans = exact(text, old)
    if isinstance(outcome, NotEdited):
        assert outcome.reason == ("no_match" if not spans else "ambiguous" if len(spans) > 1 and not replace_all else "no_change")
        return
    assert isinstance(outcome, Edited)
    filling = to_dominant_eol(new, text)
    kept: list[str] = []
    position = 0
    for start, end in spans:
        assert text[start:end] == old
        kept.append(text[position:start])
        position = end
    kept.append(text[position:])
    assert outcome.text == filling.join(kept)
    assert outcome.replacements == len(spans)


@given(SMALL, st.text("ab\r\n", min_size=1, max_size=3))
def test_a_crlf_pair_is_never_split(text: str, old: str) -> None:
    for start, end in exact(text, old):
        for edge in (start, end):
            assert not (0 < edge < len(text) and text[edge - 1 : edge + 1] == "\r\n")


def test_new_text_takes_the_files_line_ending() -> None:
    assert to_dominant_eol("x\ny", "a\r\nb\r\n") == "x\r\ny"
    assert to_dominant_eol("x\r\ny", "a\nb\n") == "x\ny"
    assert to_dominant_eol("x\r\ny", "one line") == "x\r\ny"
    assert to_dominant_eol("x\ny", "a\r\nb\nc\n") == "x\ny"
    assert to_dominant_eol("x\ny", "a\r\nb\n") == "x\r\ny"


def test_expected_replacements_hold() -> None:
    assert apply("aa", "a", "b", replace_all=True, expected=2) == Edited("bb", "exact", 2)
    assert apply("aa", "a", "b", replace_all=True, expected=1) == NotEdited("count_mismatch", 2, 2)
    assert apply("a", "a", "b", expected=1) == Edited("b", "exact", 1)
