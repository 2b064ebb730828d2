"""What a developer does all day works in the jail."""

from __future__ import annotations

import shutil

import pytest

from tests.support.sandbox import Box


@pytest.mark.req("SBX-50", "D21", "ATK-11")
def test_git_works_with_an_identity_of_last_resort_and_the_repositorys_own(box: Box) -> None:
    outcome = box.run(
        "rm -rf repo && git init -q repo && cd repo && echo a > a && git add . && git commit -qm first && git log --format='%an %s'"
        " && git config user.name Somebody && git config user.email s@example.org && git commit -q --allow-empty -m second"
        " && git log -1 --format='%an' && git status --short && git branch --show-current && git diff HEAD~1 --stat"
    )
    assert outcome["stdout"].splitlines() == ["Handrail first", "Somebody", "main"], outcome


@pytest.mark.req("SBX-50")
def test_git_works_in_a_repository_of_another_user(box: Box) -> None:
    repo = box.work / "foreign"
    shutil.rmtree(repo, ignore_errors=True)
    assert box.run("git init -q foreign && cd foreign && git commit -q --allow-empty -m x")["exit_code"] == 0
    # the directory's owner differs when the host's user made it
    assert box.run("git -C foreign log --format=%s")["stdout"] == "x\n"


@pytest.mark.req("SBX-51")
def test_a_virtual_environment_with_pip_works(box: Box) -> None:
    outcome = box.run(
        "rm -rf v && python3 -m venv v && v/bin/python -m pip --version && v/bin/python -m pip list --format=freeze", timeout_ms=120_000
    )
    assert outcome["exit_code"] == 0, outcome
    assert f"{box.work}/v/lib" in outcome["stdout"]


@pytest.mark.req("SBX-51")
def test_a_projects_tests_run(box: Box) -> None:
    box.own_file(
        box.work / "test_sum.py",
        "import unittest\nclass T(unittest.TestCase):\n    def test_sum(self): self.assertEqual(1 + 1, 2)\n",
        0o644,
    )
    outcome = box.run("python3 -m unittest -v test_sum")
    assert outcome["exit_code"] == 0, outcome
    assert "OK" in outcome["stderr"]


@pytest.mark.req("SBX-51")
def test_npm_works_where_node_is_there(box: Box) -> None:
    outcome = box.run(
        "if command -v npm > /dev/null; then npm --version && node -p 1+1 && npm init -y > /dev/null && npm pkg get name;"
        ' else echo "no node"; fi',
        timeout_ms=60_000,
    )
    assert outcome["exit_code"] == 0, outcome


@pytest.mark.req("SBX-51")
def test_a_c_program_is_built_and_run_where_a_compiler_is_there(box: Box) -> None:
    box.own_file(box.work / "m.c", '#include <stdio.h>\nint main(void) { puts("built"); return 0; }\n', 0o644)
    outcome = box.run("if command -v cc > /dev/null; then cc -o m m.c && ./m; else echo built; fi")
    assert outcome["stdout"] == "built\n", outcome


@pytest.mark.req("SBX-52")
def test_home_and_temporary_files_stay_from_one_command_to_the_next(box: Box) -> None:
    assert box.run("echo kept > ~/file; f=$(mktemp); echo $f > ~/where; echo t > $f")["exit_code"] == 0
    assert box.run('cat ~/file "$(cat ~/where)"')["stdout"] == "kept\nt\n"


@pytest.mark.req("SBX-53", "ATK-18")
def test_the_shell_is_bash_without_start_up_files(box: Box) -> None:
    box.run("echo 'touch started' > ~/.bashrc; cp ~/.bashrc ~/.bash_profile; cp ~/.bashrc ~/.profile")
    outcome = box.run("echo $BASH_VERSION; shopt -q login_shell || echo no login; echo $0")
    assert outcome["stdout"].splitlines()[1:] == ["no login", "/bin/bash"]
    assert not (box.work / "started").exists()
