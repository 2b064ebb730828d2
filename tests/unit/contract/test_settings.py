from __future__ import annotations

import os
from pathlib import Path

import pytest

from handrail.contract.setting_names import SETTINGS
from handrail.contract.settings import CommaList, InvalidSetting, MissingSecret, Settings, UnknownSetting, system_lang


class Sample(Settings):
    port: int = 18910
    allowed_hosts: CommaList = ()


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("HANDRAIL_"):
            monkeypatch.delenv(name)


@pytest.mark.req("SET-1")
@pytest.mark.parametrize(("name", "near"), [("HANDRAIL_PROT", "HANDRAIL_PORT"), ("HANDRAIL_ZZZZ", ""), ("handrail_port", "")])
def test_an_unknown_variable_is_named_with_the_nearest_known_one(monkeypatch: pytest.MonkeyPatch, name: str, near: str) -> None:
    monkeypatch.setenv(name, "1")
    with pytest.raises(UnknownSetting) as caught:
        Sample.load()
    assert name in caught.value.text("en")
    assert name in caught.value.text("zh")
    assert near in caught.value.text("en")


@pytest.mark.req("SET-1")
def test_a_wrong_value_is_told_by_the_name_of_its_variable_and_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDRAIL_PORT", "hunter2")
    with pytest.raises(InvalidSetting, match="HANDRAIL_PORT") as caught:
        Sample.load()
    assert "hunter2" not in str(caught.value)
    monkeypatch.delenv("HANDRAIL_PORT")
    monkeypatch.setenv("HANDRAIL_DATA_DIR", "relative")
    with pytest.raises(InvalidSetting, match="HANDRAIL_DATA_DIR"):
        Sample.load()


def test_values_come_typed_lists_by_commas_and_empty_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDRAIL_ALLOWED_HOSTS", " a.example , b.example,")
    monkeypatch.setenv("HANDRAIL_PORT", "")
    monkeypatch.setenv("HANDRAIL_DATA_DIR", "/srv/x")
    settings = Sample.load()
    assert (settings.allowed_hosts, settings.port) == (("a.example", "b.example"), 18910)
    assert (settings.run_dir, settings.log_dir) == (Path("/srv/x/run"), Path("/srv/x/logs"))


def test_a_field_that_the_list_of_names_lacks_cannot_be_declared() -> None:
    with pytest.raises(TypeError, match="HANDRAIL_NOWHERE"):

        class Wrong(Settings):  # pyright: ignore[reportUnusedClass]  # making it is the test
            nowhere: int = 1


def test_a_secret_is_the_text_of_its_file_and_its_absence_is_told_with_the_path(tmp_path: Path) -> None:
    settings = Sample(secrets_dir=tmp_path)
    (tmp_path / "key").write_text("s3cret\n")
    assert settings.secret("key") == "s3cret"
    with pytest.raises(MissingSecret, match=str(tmp_path / "other")):
        settings.secret("other")


@pytest.mark.parametrize(
    ("environ", "lang"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "de_DE", "HANDRAIL_LANG": "zh"}, "zh"),
    ],
)
def test_the_language_follows_the_system_unless_told(environ: dict[str, str], lang: str) -> None:
    assert system_lang(environ) == lang


def test_every_service_settings_class_reads_only_names_of_the_list_with_the_default_that_it_says() -> None:
    from handrail.api.settings import ApiSettings
    from handrail.sandbox.settings import SandboxSettings
    from handrail.worker.settings import WorkerSettings

    by_name = {setting.name: setting for setting in SETTINGS}
    for cls in (ApiSettings, SandboxSettings, WorkerSettings):
        for name, field in cls.model_fields.items():
            setting = by_name["HANDRAIL_" + name.upper()]
            if name not in Settings.model_fields and type(field.default) in (int, float, str):
                shown = f"{field.default:g}" if isinstance(field.default, float) else str(field.default)
                assert (name, setting.default) == (name, shown)
