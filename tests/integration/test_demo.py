from __future__ import annotations

import io

import pytest
from rich.console import Console

from tests.demo.embedded import running_handrail
from tests.demo.run import tell
from tests.demo.story import RIGHT, SAMPLE, STEPS, WRONG


@pytest.mark.req("DEMO-1", "O10")
@pytest.mark.timeout(180)
def test_a_client_finds_mends_tests_and_commits_a_bug_over_http_and_every_step_is_audited() -> None:
    output = io.StringIO()
    with running_handrail() as running:
        passed = tell(running.url, running.paircode(), Console(file=output, width=160))
    assert passed, output.getvalue()
    assert f"All {len(STEPS)} steps passed" in output.getvalue()


def test_a_step_that_fails_ends_the_story_with_false() -> None:
    output = io.StringIO()
    assert not tell("http://127.0.0.1:9", "000000", Console(file=output, width=160))
    assert "failed" in output.getvalue()


@pytest.mark.req("DEMO-1")
def test_the_sample_has_the_bug_and_the_fix_mends_it() -> None:
    text = (SAMPLE / "fairshare" / "split.py").read_text("utf-8")
    assert WRONG in text
    broken: dict[str, object] = {}
    mended: dict[str, object] = {}
    exec(text, broken)  # noqa: S102 - our own sample
    exec(text.replace(WRONG, RIGHT), mended)  # noqa: S102 - our own sample
    assert broken["split_evenly"](1000, 3) == [333, 333, 333]  # type: ignore[operator]  # read from a namespace
    assert mended["split_evenly"](1000, 3) == [334, 333, 333]  # type: ignore[operator]  # read from a namespace
