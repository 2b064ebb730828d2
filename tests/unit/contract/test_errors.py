"""Every expected failure has a stable code, a status and a text in both languages."""

from __future__ import annotations

import importlib
import pkgutil
import string
from collections.abc import Iterator

import handrail
from handrail.contract.errors import HandrailError


def all_errors() -> list[type[HandrailError]]:
    for module in pkgutil.walk_packages(handrail.__path__, "handrail."):
        if module.name.rsplit(".", 1)[-1].endswith("errors"):
            importlib.import_module(module.name)
    return list(subclasses(HandrailError))


def subclasses(cls: type[HandrailError]) -> Iterator[type[HandrailError]]:
    for sub in cls.__subclasses__():
        yield sub
        yield from subclasses(sub)


def placeholders(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


def test_codes_are_unique() -> None:
    codes = [cls.code for cls in all_errors() if "code" in vars(cls)]
    assert sorted(codes) == sorted(set(codes))
    assert len(codes) > 15


def test_both_languages_fill_the_same_placeholders() -> None:
    different = [cls.__name__ for cls in all_errors() if placeholders(cls.en) != placeholders(cls.zh)]
    assert different == []


def test_the_chinese_text_is_chinese() -> None:
    missing = [cls.__name__ for cls in all_errors() if not any("\u4e00" <= char <= "\u9fff" for char in cls.zh)]
    assert missing == []


def test_only_the_base_class_is_a_server_error_of_ours() -> None:
    assert [cls.__name__ for cls in all_errors() if cls.status == 500] == []
