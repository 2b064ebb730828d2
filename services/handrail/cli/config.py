"""config.json: the extension's seven fields with its defaults. An unknown key is an error that names it; a save keeps everything."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from handrail.cli.errors import ConfigUnreadable, UnknownConfigKey
from handrail.contract.setting_names import BY_CONFIG
from handrail.contract.settings import nearest_hint
from handrail.kit.canonical import StrictJsonError, loads

MAX_BYTES = 1024 * 1024


class ConfigFile(BaseModel):
    """The fields of config.json; None = not in the file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    port: int | None = Field(default=None, ge=1, le=65535)
    host: str | None = Field(default=None, min_length=1, max_length=255)
    workdir: str | None = None
    allowedPaths: list[str] | None = None  # noqa: N815 - the name in the file
    pairCodeTTL: int | None = Field(default=None, ge=5, le=600)  # noqa: N815 - seconds
    commandTimeout: int | None = Field(default=None, ge=1000, le=86_400_000)  # noqa: N815 - ms
    fileMaxSize: int | None = Field(default=None, ge=1)  # noqa: N815 - bytes

    @field_validator("workdir")
    @classmethod
    def _absolute(cls, value: str | None) -> str | None:
        if value is not None and not Path(value).expanduser().is_absolute():
            raise ValueError("must be an absolute path")
        return value

    @field_validator("allowedPaths")
    @classmethod
    def _all_absolute(cls, value: list[str] | None) -> list[str] | None:
        for path in value or ():
            if not Path(path).expanduser().is_absolute():
                raise ValueError("must be absolute paths")
            if "," in path:
                raise ValueError("a path with a comma cannot be used")
        return value


def load(path: Path) -> ConfigFile:
    """The checked contents; all None when there is no file. Raises ConfigUnreadable or UnknownConfigKey."""
    return check(path, load_raw(path))


def load_raw(path: Path) -> dict[str, Any]:
    """The object in the file as it is. Raises ConfigUnreadable for broken JSON: never defaults in silence."""
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return {}
    except OSError as exc:
        raise ConfigUnreadable(path=path, detail=exc.strerror or str(exc)) from exc
    try:
        value = loads(raw)
    except StrictJsonError as exc:
        raise ConfigUnreadable(path=path, detail=f"JSON: {exc}") from exc
    if not isinstance(value, dict):
        raise ConfigUnreadable(path=path, detail="not a JSON object")
    return cast("dict[str, Any]", value)


def check(path: Path, raw: dict[str, Any]) -> ConfigFile:
    """The typed form of `raw`. Raises ConfigUnreadable naming the field, or UnknownConfigKey."""
    for key in raw:
        check_key(path, key)
    try:
        return ConfigFile.model_validate(raw)
    except ValidationError as exc:
        first = exc.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise ConfigUnreadable(path=path, detail=f"{field}: {first['msg']}") from exc


def check_key(path: Path, key: str) -> None:
    """Raise UnknownConfigKey unless `key` is one of the fields."""
    if key not in BY_CONFIG:
        raise UnknownConfigKey(path=path, key=key[:64], hint=nearest_hint(key, BY_CONFIG), known=", ".join(BY_CONFIG))


def parse_value(key: str, text: str) -> object:
    """A value typed on the command line: JSON when it is JSON, a comma list for allowedPaths, else the text itself."""
    if key == "allowedPaths" and not text.lstrip().startswith("["):
        return [part.strip() for part in text.split(",") if part.strip()]
    if key in ("host", "workdir"):
        return text
    try:
        return loads(text)
    except StrictJsonError:
        return text


def save_value(path: Path, key: str, value: object) -> None:
    """Set one field (None removes it). Every other key of the file, known or not, stays as it is."""
    check_key(path, key)
    raw = load_raw(path)
    if value is None:
        raw.pop(key, None)
    else:
        check(path, {key: value})
        raw[key] = value
    text = json.dumps(raw, indent=2, ensure_ascii=False) + "\n"
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
