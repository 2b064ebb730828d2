"""Settings from the environment: the base class of every service's settings and the one list of all their names.

A service writes `class ApiSettings(Settings)` in its own `settings.py` and calls `ApiSettings.load()` once at start.
An unknown `HANDRAIL_*` variable is an error that names it and the nearest name that exists, in every service alike.
Secrets are never in the environment: they are files in `HANDRAIL_SECRETS_DIR`, read with `settings.secret(name)`.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, ValidationError, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from handrail.contract.errors import HandrailError, Lang
from handrail.contract.setting_names import BY_NAME, PREFIX

Form = Literal["embedded", "compose"]


class UnknownSetting(HandrailError):
    """A `HANDRAIL_*` variable that no service reads."""

    code = "settings.unknown"
    status = 400
    en = "Unknown setting {name}.{hint}"
    zh = "未知的设置项 {name}。{hint}"


class InvalidSetting(HandrailError):
    """A value that its setting does not take."""

    code = "settings.invalid"
    status = 400
    en = "Setting {name} is not valid: {detail}"
    zh = "设置项 {name} 无效：{detail}"


class MissingSecret(HandrailError):
    """A file of the secrets directory that is absent or not readable."""

    code = "settings.secret"
    status = 500
    en = "The secret file {path} cannot be read: {detail}. `python -m handrail.store.init` creates it."
    zh = "无法读取密钥文件 {path}：{detail}。`python -m handrail.store.init` 会创建它。"


def default_data_dir() -> Path:
    """`~/.handrail`; for root `/var/lib/handrail`, because the account that services drop to cannot enter /root."""
    if os.geteuid() == 0:
        return Path("/var/lib/handrail")
    return Path("~/.handrail").expanduser()


def system_lang(environ: Mapping[str, str]) -> Lang:
    """Language by the usual POSIX variables, in their order."""
    for name in ("HANDRAIL_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = environ.get(name, "").lower()
        if value:
            return "zh" if value.startswith("zh") else "en"
    return "en"


def check_names(environ: Mapping[str, str]) -> None:
    """Raise UnknownSetting for the first `HANDRAIL_*` variable that no service knows."""
    for name in sorted(environ):
        if name.upper().startswith(PREFIX) and name not in BY_NAME:
            raise UnknownSetting(name=name, hint=nearest_hint(name, BY_NAME))


def nearest_hint(name: str, known: Mapping[str, object]) -> str:
    """' Did you mean X?' or '' when nothing is near. The same text serves both languages: it is a name."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f" -> {near[0]} ?" if near else ""


def _split(value: object) -> object:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


CommaList = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]
"""A comma separated variable as a tuple of stripped, non-empty strings."""


class Settings(BaseSettings):
    """What every service knows. Subclasses add fields; each name must be in `setting_names` (checked at import)."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="forbid", env_ignore_empty=True)

    data_dir: Path = Field(default_factory=default_data_dir)
    run_dir: Path = Field(default_factory=lambda data: data["data_dir"] / "run")
    secrets_dir: Path = Field(default_factory=lambda data: data["data_dir"] / "secrets")
    log_dir: Path = Field(default_factory=lambda data: data["data_dir"] / "logs")
    lang: Lang = Field(default_factory=lambda: system_lang(os.environ))
    form: Form = "embedded"

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:  # noqa: ANN401 - pydantic's signature
        super().__pydantic_init_subclass__(**kwargs)
        for field in cls.model_fields:
            if PREFIX + field.upper() not in BY_NAME:
                raise TypeError(f"{cls.__name__}.{field}: add {PREFIX}{field.upper()} to handrail/contract/setting_names.py")

    @model_validator(mode="before")
    @classmethod
    def _only_known_names(cls, values: object) -> object:
        check_names(os.environ)
        return values

    @model_validator(mode="after")
    def _absolute(self) -> Self:
        for name in ("data_dir", "run_dir", "secrets_dir", "log_dir"):
            if not getattr(self, name).is_absolute():
                raise InvalidSetting(name=PREFIX + name.upper(), detail="not an absolute path")
        return self

    @classmethod
    def load(cls) -> Self:
        """Read the environment. Raises UnknownSetting or InvalidSetting, whose text names the variable, never its value."""
        try:
            return cls()
        except ValidationError as exc:
            first = exc.errors(include_input=False, include_url=False)[0]
            name = PREFIX + "_".join(str(part) for part in first["loc"][:1]).upper()
            raise InvalidSetting(name=name, detail=first["msg"]) from exc

    def secret(self, name: str) -> str:
        """The stripped text of one file of this service's own secrets directory. Raises MissingSecret."""
        path = self.secrets_dir / name
        try:
            return path.read_text(encoding="utf-8").strip()
        except OSError as exc:
            raise MissingSecret(path=path, detail=exc.strerror or type(exc).__name__) from exc
