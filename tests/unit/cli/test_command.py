from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from handrail.cli import errors, main, say
from handrail.cli.errors import CliError


def run(*argv: str, lang: str = "en") -> subprocess.CompletedProcess[str]:
    env = {"PATH": "/usr/bin:/bin", "HANDRAIL_LANG": lang}
    return subprocess.run([sys.executable, "-m", "handrail.cli.main", *argv], capture_output=True, text=True, env=env, check=False)


@pytest.mark.req("A9")
def test_every_promised_command_is_there() -> None:
    wanted = {"start", "stop", "restart", "status", "paircode", "help", "version", "logs", "audit verify", "policy explain"}
    wanted |= {"config show", "config get", "config set", "user add", "user list", "user remove", "device list", "device revoke"}
    wanted |= {"workspace add", "workspace list", "workspace member"}
    assert wanted <= set(main.commands())


def all_help(lang: str) -> dict[str, str]:
    """Command -> its help; one process a language, because help is worded at import."""
    code = """
import contextlib, io, json
from handrail.cli import main
out = {}
for command in main.commands():
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        assert main.run([*command.split(), "--help"]) == 0
    out[command] = text.getvalue()
print(json.dumps(out))
"""
    env = {"PATH": "/usr/bin:/bin", "HANDRAIL_LANG": lang}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
    return json.loads(done.stdout)


@pytest.mark.req("A9")
def test_every_command_takes_data_where_it_has_some_and_explains_itself_in_both_languages() -> None:
    english, chinese = all_help("en"), all_help("zh")
    han = re.compile(r"[\u4e00-\u9fff]")
    assert [command for command, text in english.items() if command not in ("help", "version") and "--data" not in text] == []
    assert [command for command, text in english.items() if han.search(text)] == []
    assert [command for command, text in chinese.items() if not han.search(text)] == []


@pytest.mark.req("A9")
def test_version_by_option_short_option_and_word() -> None:
    from handrail import __version__

    assert [run(*argv).stdout for argv in (["--version"], ["-v"], ["version"])] == [f"handrail {__version__}\n"] * 3
    assert json.loads(run("version", "--json").stdout) == {"version": __version__}


@pytest.mark.req("A9")
@pytest.mark.parametrize("argv", [["stop"], ["status"], ["paircode"], ["device", "list"]])
def test_without_a_running_instance_a_command_says_how_to_start_one(argv: list[str], tmp_path: Path) -> None:
    done = run(*argv, "--data", str(tmp_path))
    assert done.returncode == errors.NotRunning.exit_code
    assert "handrail start" in done.stderr
    assert done.stdout == ""
    assert "启动命令" in run(*argv, "--data", str(tmp_path), "--lang", "zh").stderr


def test_an_error_of_a_json_command_is_json(tmp_path: Path) -> None:
    body = json.loads(run("status", "--json", "--data", str(tmp_path)).stdout)
    assert (body["success"], body["code"]) == (False, "cli.not_running")


@pytest.mark.req("A9")
@pytest.mark.parametrize("argv", [["nonsense"], ["start", "--port", "0"], ["start", "--port", "x"], ["user"], ["start", "extra"]])
def test_wrong_usage_is_exit_code_2(argv: list[str]) -> None:
    assert run(*argv).returncode == 2


def test_an_unknown_setting_in_the_environment_is_named(tmp_path: Path) -> None:
    env = {"PATH": "/usr/bin:/bin", "HANDRAIL_PROT": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "handrail.cli.main", "status", "--data", str(tmp_path)], capture_output=True, text=True, env=env, check=False
    )
    assert done.returncode == 1
    assert "HANDRAIL_PROT" in done.stderr
    assert "HANDRAIL_PORT ?" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("argv", "kept"),
    [
        (["--lang", "zh", "status"], ["status"]),
        (["status", "--lang=zh", "--json"], ["status", "--json"]),
        (["policy", "explain", "--", "--lang", "xx"], ["policy", "explain", "--", "--lang", "xx"]),
    ],
)
def test_lang_may_stand_anywhere_before_a_double_dash(argv: list[str], kept: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDRAIL_LANG", "en")
    assert main.take_lang(argv) == kept


def test_no_text_of_ours_moves_the_cursor_or_turns_the_line_around() -> None:
    assert say.safe("a\x1b[2Jb\rc\u202ed\te\nf") == "a\\x1b[2Jb\\x0dc\\u202ed\te\nf"


def test_every_error_has_its_own_code_both_languages_and_the_same_fields() -> None:
    classes = CliError.__subclasses__()
    assert len({cls.code for cls in classes}) == len(classes)
    fields = re.compile(r"\{(\w+)\}")
    for cls in classes:
        assert set(fields.findall(cls.en)) == set(fields.findall(cls.zh)), cls
        assert cls.en != cls.zh or cls is errors.ServiceAnswered
        assert cls.exit_code > 0
