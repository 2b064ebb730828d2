from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from handrail.api.files import picture
from handrail.api.files.errors import NotAPicture, TooManyPictures
from handrail.api.files.picture_arguments import ImageArgs
from handrail.api.tools.registry import Invocation
from handrail.api.tools.repeats import RepeatedCall, Repeats
from handrail.kit.errors import FileMissing, OutOfBounds
from handrail.kit.fetch import Fetched, Fetcher
from handrail.kit.urlguard import UrlRefused
from tests.support.filecalls import Calls
from tests.unit.files.test_documents import PNG


class Web(Fetcher):
    """One picture at every address."""

    async def get(self, url: str) -> Fetched:
        return Fetched(url, "text/html", PNG)


@pytest.mark.req("F10")
async def test_pictures_come_from_files_urls_and_base64(calls: Calls, work: Path) -> None:
    (work / "a.dat").write_bytes(PNG)
    (work / "b.svg").write_text("<?xml version='1.0'?><svg onload='alert(1)'><script>alert(1)</script></svg>")
    data = base64.b64encode(PNG).decode()
    args = ImageArgs(path="a.dat", sources=["b.svg", f"data:image/jpeg;base64,{data}", "https://example.com/x.png"], base64=data)
    tool = calls.registry.get("Image")
    assert tool is not None
    answer = await picture.show_with(Web())(calls.service, Invocation(calls.actor, tool, args, {}, None))
    shown: list[dict[str, Any]] = answer["images"]
    assert [(one["source"], one["mimeType"]) for one in shown] == [
        ("path", "image/png"), ("base64", "image/png"), ("path", "image/svg+xml"), ("base64", "image/png"), ("url", "image/png"),
    ]  # fmt: skip
    assert [one.get("renderAs") for one in shown] == [None, None, "img", None, None], "an SVG is never markup of the page"


@pytest.mark.req("F10", "ATK-30")
async def test_what_is_no_picture_or_lies_outside_is_refused(calls: Calls, work: Path) -> None:
    (work / "a.png").write_text("<html>")
    with pytest.raises(NotAPicture):
        await calls("Image", path="a.png")
    with pytest.raises(OutOfBounds):
        await calls("Image", path="/etc/passwd")
    for wrong in ({}, {"paths": ["a.png"] * 7, "sources": ["a.png"] * 6}):
        with pytest.raises(TooManyPictures):
            await calls("Image", **wrong)
    with pytest.raises(UrlRefused):
        await calls("Image", url="http://127.0.0.1:8080/x")
    with pytest.raises(UrlRefused):
        picture.judge(calls.actor, ImageArgs(url="http://allowed.example\\@127.0.0.1/"))


@pytest.mark.req("F10")
def test_a_url_needs_a_persons_yes_and_a_file_does_not(calls: Calls) -> None:
    verdict = picture.judge(calls.actor, ImageArgs(source="HTTPS://example.com/?secret=1"))
    assert verdict.level == "confirm"
    assert "secret=1" in verdict.reasons[0].en
    assert picture.judge(calls.actor, ImageArgs(source="a.png", base64="x")).level == "allow"


class Watch:
    """A clock that a test moves."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.mark.req("F15")
def test_the_same_failing_call_is_told_to_stop_the_third_time(calls: Calls) -> None:
    watch = Watch()
    repeats = Repeats(watch)  # type: ignore[arg-type]  # only the monotonic clock is asked

    def fail(arguments: bytes = b"{}") -> dict[str, object]:
        repeats.refuse(calls.actor, "Read", arguments)
        error = FileMissing("x")
        repeats.failed(calls.actor, "Read", arguments, error)
        return error.extra

    assert fail() == {}
    assert fail() == {"repeated": 2, "stop": False}
    assert fail(b'{"other":1}') == {}
    assert fail() == {"repeated": 3, "stop": True}
    with pytest.raises(RepeatedCall) as caught:
        fail()
    assert "Stop" in caught.value.text("en")
    assert fail(b'{"other":1}') == {"repeated": 2, "stop": False}
    repeats.succeeded(calls.actor)
    assert fail() == {}
    fail()
    fail()
    watch.now = 121
    assert fail() == {}, "after a while another try is allowed"
