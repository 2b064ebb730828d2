from __future__ import annotations

import json
from pathlib import Path

import pytest

from handrail.cli.errors import ConfigUnreadable, DataInsideWorkRoot, RemoteHostRefused, UnknownConfigKey
from handrail.cli.options import Given, decide, dumps, is_loopback, remember, remembered, undump
from handrail.cli.settings import CliSettings


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    for name in list(os.environ):
        if name.startswith("HANDRAIL_"):
            monkeypatch.delenv(name)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data"
    path.mkdir()
    return path


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    path = tmp_path / "project"
    path.mkdir()
    return path


def write(data: Path, value: object) -> None:
    (data / "config.json").write_text(value if isinstance(value, str) else json.dumps(value))


@pytest.mark.req("A5", "A20")
def test_without_anything_the_defaults_of_the_wire_count(data: Path, cwd: Path) -> None:
    options = decide(Given(str(data)), CliSettings.load(), cwd)
    assert (options.host, options.port, options.workdir) == ("127.0.0.1", 18910, str(cwd))
    assert options.address == "http://127.0.0.1:18910"


@pytest.mark.req("A5", "A20")
def test_an_option_beats_the_environment_which_beats_the_file(data: Path, cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(data, {"port": 1001, "host": "127.0.0.3"})
    assert decide(Given(str(data)), CliSettings.load(), cwd).port == 1001
    monkeypatch.setenv("HANDRAIL_PORT", "1002")
    assert decide(Given(str(data)), CliSettings.load(), cwd).port == 1002
    options = decide(Given(str(data), port=1003), CliSettings.load(), cwd)
    assert (options.port, options.host) == (1003, "127.0.0.3")


@pytest.mark.req("A20")
def test_the_other_fields_of_the_file_reach_the_services(data: Path, cwd: Path) -> None:
    write(data, {"pairCodeTTL": 60, "commandTimeout": 1000, "fileMaxSize": 5, "allowedPaths": ["/srv/a", "/srv/b"]})
    assert decide(Given(str(data)), CliSettings.load(), cwd).env == {
        "HANDRAIL_PAIR_CODE_TTL": "60",
        "HANDRAIL_COMMAND_TIMEOUT": "1000",
        "HANDRAIL_FILE_MAX_SIZE": "5",
        "HANDRAIL_ALLOWED_PATHS": "/srv/a,/srv/b",
    }


@pytest.mark.req("A20", "PF-B12")
@pytest.mark.parametrize(
    ("value", "named"),
    [
        ("{broken", "JSON"),
        ("[]", "object"),
        ('{"port":1,"port":2}', "duplicate"),
        ({"port": "x"}, "port"),
        ({"port": 0}, "port"),
        ({"port": True}, "port"),
        ({"allowedPaths": "x"}, "allowedPaths"),
        ({"allowedPaths": ["relative"]}, "allowedPaths"),
        ({"workdir": "relative"}, "workdir"),
        ({"pairCodeTTL": 1}, "pairCodeTTL"),
    ],
)
def test_a_broken_file_is_an_error_that_says_where_and_never_the_defaults(data: Path, cwd: Path, value: object, named: str) -> None:
    write(data, value)
    with pytest.raises(ConfigUnreadable, match=named) as caught:
        decide(Given(str(data)), CliSettings.load(), cwd)
    assert str(data / "config.json") in caught.value.text("zh")


@pytest.mark.req("A20")
def test_an_unknown_key_is_named_with_the_one_that_was_meant(data: Path, cwd: Path) -> None:
    write(data, {"pairCodeTtl": 30})
    with pytest.raises(UnknownConfigKey, match=r"unknown key pairCodeTtl.*pairCodeTTL \?"):
        decide(Given(str(data)), CliSettings.load(), cwd)


@pytest.mark.req("A5")
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", "localhost.example.org"])
def test_a_host_that_others_can_reach_needs_an_explicit_yes(data: Path, cwd: Path, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RemoteHostRefused, match="ssh -L"):
        decide(Given(str(data), host=host), CliSettings.load(), cwd)
    monkeypatch.setenv("HANDRAIL_ALLOW_REMOTE", "1")
    assert decide(Given(str(data), host=host), CliSettings.load(), cwd).host == host


@pytest.mark.req("A5")
@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback_is_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.req("A19")
def test_data_directory_and_work_root_may_not_contain_each_other(data: Path, cwd: Path, tmp_path: Path) -> None:
    for given in (
        Given(str(data), workdir=str(tmp_path)),
        Given(str(data), workdir=str(data)),
        Given(str(data), workdir=str(data / "x")),
        Given(str(cwd / "sub" / "data")),
    ):
        with pytest.raises(DataInsideWorkRoot):
            decide(given, CliSettings.load(), cwd)
    (tmp_path / "link").symlink_to(data)
    with pytest.raises(DataInsideWorkRoot):
        decide(Given(str(data), workdir=str(tmp_path / "link")), CliSettings.load(), cwd)


@pytest.mark.req("A8", "PF-B12")
def test_restart_remembers_what_was_typed_and_the_work_root_that_was_meant(data: Path, cwd: Path, tmp_path: Path) -> None:
    given = Given(str(data), port=1234)
    options = decide(given, CliSettings.load(), cwd)
    remember(data, given, options)
    write(data, {"port": 9999, "host": "127.0.0.2", "workdir": str(tmp_path / "elsewhere")})  # changed while it runs
    again = decide(remembered(data), CliSettings.load(), tmp_path)
    assert (again.port, again.workdir) == (1234, str(cwd))  # typed, and meant: kept
    assert again.host == "127.0.0.2"  # never typed: the file counts


def test_a_damaged_memory_of_the_last_start_is_no_memory(data: Path) -> None:
    (data / "start.json").write_text("{")
    assert remembered(data) == Given(str(data))


def test_a_start_travels_to_the_background_whole(data: Path, cwd: Path) -> None:
    write(data, {"fileMaxSize": 7})
    given = Given(str(data), "127.0.0.1", 5, None, "zh")
    options = decide(given, CliSettings.load(), cwd)
    assert undump(dumps(given, options)) == (given, options)
