from __future__ import annotations

from collections import Counter

import pytest

from tools.requirements import Index, fragments, index, marks, marks_in, requirements


@pytest.mark.req("HAB-2")
def test_every_requirement_is_named_by_a_test() -> None:
    named = {mark.id for mark in marks()}
    assert [f"{row.file}: {row.id}" for row in requirements() if row.id not in named] == []


@pytest.mark.req("HAB-2")
def test_every_marker_names_a_requirement() -> None:
    known = {row.id for row in requirements()}
    assert [f"{mark.file}:{mark.line}: {mark.id}" for mark in marks() if mark.id not in known] == []


def test_an_id_stands_in_one_fragment_only() -> None:
    count = Counter(row.id for row in requirements())
    assert [ident for ident, times in count.items() if times > 1] == []


def test_every_source_resolves() -> None:
    known = index()
    assert [f"{row.file}: {row.id}: {row.source}" for row in requirements() if not known.resolves(row.source)] == []


def test_every_row_is_a_sentence() -> None:
    assert [
        row.id for row in requirements() if not row.text.rstrip().endswith(".") or len(row.text.split()) < len("who does what".split())
    ] == []


def test_the_index_of_sources_is_no_fragment() -> None:
    names = [path.name for path in fragments()]
    assert names[0] == "requirements.toml"
    assert "sources.toml" not in names


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ('@pytest.mark.req("A1", "ATK-5")\ndef test_x(): ...', ["A1", "ATK-5"]),
        ('pytestmark = pytest.mark.req("B1")', ["B1"]),
        ('x = pytest.param(1, marks=pytest.mark.req("C1"))', ["C1"]),
        ("text = \"@pytest.mark.req('D1')\"", []),
    ],
)
def test_markers_are_found_wherever_pytest_accepts_them(text: str, ids: list[str]) -> None:
    assert [ident for _, ident in marks_in(text)] == ids


def test_a_computed_id_is_refused() -> None:
    with pytest.raises(TypeError, match="literals"):
        list(marks_in('@pytest.mark.req(f"A{1}")\ndef test_x(): ...'))


@pytest.mark.parametrize(
    "source",
    [
        "features.md D35",
        "attacks.md 62",
        "attacks.md 19b",
        "peer-faults.md B22",
        "wire.md section 4",
        "issue 2 section 5",
        "features.md A1; attacks.md 5",
    ],
)
def test_a_source_that_exists_resolves(source: str) -> None:
    assert index().resolves(source)


@pytest.mark.parametrize(
    "source", ["features.md D36", "features.md Z1", "attacks.md 63", "wire.md section 13", "nowhere.md 1", "", "features.md", "issue x"]
)
def test_a_source_that_does_not_exist_is_refused(source: str) -> None:
    assert not index().resolves(source)


def test_an_index_without_a_document_resolves_nothing() -> None:
    assert not Index({}, {}, {}).resolves("features.md A1")
