from __future__ import annotations

import json
from pathlib import Path

import pytest

from handrail.cli import config
from handrail.cli.errors import ConfigUnreadable, UnknownConfigKey
from handrail.contract.setting_names import BY_CONFIG


@pytest.mark.req("A20", "PF-B12")
def test_a_save_keeps_every_key_that_it_does_not_know(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"mcpServers": [{"id": "x"}], "port": 1, "未来": true}')
    config.save_value(path, "port", 18911)
    assert json.loads(path.read_text()) == {"mcpServers": [{"id": "x"}], "port": 18911, "未来": True}
    assert list(json.loads(path.read_text())) == ["mcpServers", "port", "未来"]
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.req("A20")
def test_only_known_keys_with_good_values_are_saved(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    with pytest.raises(UnknownConfigKey):
        config.save_value(path, "prot", 1)
    with pytest.raises(ConfigUnreadable, match="port"):
        config.save_value(path, "port", "eighty")
    assert not path.exists()
    config.save_value(path, "port", 80)
    config.save_value(path, "port", None)
    assert path.read_text() == "{}\n"


@pytest.mark.req("PF-B12")
def test_a_broken_file_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text("{broken")
    with pytest.raises(ConfigUnreadable):
        config.save_value(path, "port", 80)
    assert path.read_text() == "{broken"


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("port", "18911", 18911),
        ("host", "127.0.0.1", "127.0.0.1"),
        ("workdir", "/srv/123", "/srv/123"),
        ("allowedPaths", "/a, /b", ["/a", "/b"]),
        ("allowedPaths", '["/a"]', ["/a"]),
        ("allowedPaths", "", []),
        ("port", "eighty", "eighty"),
    ],
)
def test_a_typed_value_gets_the_type_of_its_field(key: str, text: str, value: object) -> None:
    assert config.parse_value(key, text) == value


def test_the_fields_of_the_file_are_those_of_the_settings_list() -> None:
    assert set(config.ConfigFile.model_fields) == set(BY_CONFIG)
