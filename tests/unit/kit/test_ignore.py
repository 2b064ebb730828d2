# ruff: noqa: E501 - a table of cases
from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handrail.kit.ignore import compiled
from handrail.kit.paths import Root, Scope
from handrail.kit.walk import Stop, walk

PATHS = ["a", "b", "ab", "a.txt", "d/a", "d/b", "d/e/a", "d/e/a.txt", "d/e/f/b", "x y", "[", "!a", "#a", "é", "d/.h", "abc/a"]
PARTS = ["a", "b", "*", "**", "d", "e", "?", "[ab]", "[!a]", "a*", "*.txt", "\\#a", "\\!a", "x\\ y", "é", "[a-c]b", "*b*", ".*"]
LINES = st.builds(
    lambda negated, root, parts, directory: "!" * negated + "/" * root + "/".join(parts) + "/" * directory,
    st.booleans(),
    st.booleans(),
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=3),
    st.booleans(),
)


def git(where: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", "-C", str(where), *arguments], capture_output=True, check=False)


def kept(where: Path) -> set[str]:
    scope = Scope([Root(str(where))], home="/nonexistent")
    found = walk(scope, scope.locate("."), Stop(20), enter=lambda name: name != ".git", ignore=True)
    return {item.relative.decode() for item in found if item.is_file}


@pytest.mark.req("F4", "C13")
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LINES, max_size=5), st.lists(LINES, max_size=3), st.lists(LINES, max_size=2))
def test_the_walk_leaves_out_exactly_what_git_does(tmp_path: Path, top: list[str], below: list[str], exclude: list[str]) -> None:
    if not (tmp_path / ".git").exists():
        git(tmp_path, "init", "-q")
        for path in PATHS:
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).touch()
    (tmp_path / ".gitignore").write_text("\n".join(top) + "\n")
    (tmp_path / "d/.gitignore").write_text("\n".join(below))
    (tmp_path / ".git/info/exclude").write_text("\r\n".join(exclude))
    listed = git(tmp_path, "-c", "core.excludesFile=/dev/null", "ls-files", "-z", "--others", "--exclude-standard").stdout
    assert kept(tmp_path) == {name.decode() for name in listed.split(b"\0") if name}


@pytest.mark.parametrize(
    ("line", "path", "is_dir", "ignored"),
    [
        ("a  ", "a", False, True), ("a\\ ", "a ", False, True), ("# a", "# a", False, False), ("", "a", False, False), ("/", "a", True, False),
        ("a/**", "a", True, False), ("a/**", "a/b", False, True), ("**/a", "x/y/a", False, True), ("a/**/b", "a/b", False, True),
        ("[a", "[a", False, False), ("build/", "build", False, False), ("build/", "build", True, True), ("[]a]", "]", False, True),
    ],
)  # fmt: skip
def test_rules_that_are_easily_got_wrong(line: str, path: str, is_dir: bool, ignored: bool) -> None:
    assert compiled(line).ignored(path.split("/"), is_dir=is_dir) == ignored


def test_a_hostile_pattern_takes_no_time() -> None:
    rules = compiled("\n".join(["*a" * 200 + "b", "/".join(["**", "*a*"] * 100) + "/b"]))
    began = time.process_time()
    for _ in range(50):
        assert not rules.ignored(["a" * 255] * 60, is_dir=False)
    assert time.process_time() - began < 10


def test_ignore_files_that_are_no_files_are_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    (tmp_path / ".gitignore").mkdir()
    (tmp_path / ".ignore").symlink_to("/etc/passwd")
    assert kept(tmp_path) == {"a"}
