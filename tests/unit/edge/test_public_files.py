"""The page's files are ours alone and load nothing from elsewhere."""

from __future__ import annotations

import re

from handrail.kit.assets import asset_dir


def test_no_file_of_the_page_names_another_address() -> None:
    foreign = {
        path.name: found
        for path in asset_dir("services/web").glob("*.*")
        if path.suffix in {".html", ".js", ".css"}
        and (found := re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]+", path.read_text(encoding="utf-8")))
    }
    assert foreign == {}


def test_scripts_never_write_markup() -> None:
    for path in asset_dir("services/web").glob("*.js"):
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", path.read_text(encoding="utf-8")), path.name
