from __future__ import annotations

import io

import pytest
from rich.console import Console

from tests.bench import run
from tests.bench.load import http_request

ROW = {"name": "n", "value": 1.5, "unit": "ms", "baseline": 1.0, "ratio": 1.5, "target": "<= 2 x", "ok": True}


def test_every_bench_is_found_by_its_file_name() -> None:
    assert "http" in run.benches([])
    assert run.benches(["http"]) == ["http"]


def test_an_unknown_bench_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(SystemExit, match="http"):
        run.benches(["nothing"])


@pytest.mark.parametrize("row", [{**ROW, "more": 1}, {"name": "n"}])
def test_a_row_with_other_keys_is_refused(row: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="exactly"):
        run.checked([row])


@pytest.mark.parametrize(("value", "text"), [(None, ""), (1234.5, "1,234"), (0.12345, "0.123"), (99.9, "99.9"), (True, "True")])
def test_figures_are_readable(value: object, text: str) -> None:
    assert run.number(value) == text


def test_a_missed_target_is_seen_in_the_table() -> None:
    output = io.StringIO()
    Console(file=output, width=160).print(run.table({"http": [ROW, {**ROW, "ok": False}]}))
    assert "ok" in output.getvalue()
    assert "missed" in output.getvalue()


def test_the_load_generators_request_is_whole() -> None:
    raw = http_request("/x", "t", b"{}")
    assert raw.startswith(b"POST /x HTTP/1.1\r\n")
    assert b"Content-Length: 2\r\n\r\n{}" in raw
