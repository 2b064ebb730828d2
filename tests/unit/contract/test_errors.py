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


def placeholders(template: str, lang: str) -> set[str]:
    """Names; one that ends in the language of its text stands for the same thing in the other one."""
    return {name.removesuffix(f"_{lang}") for _, name, _, _ in string.Formatter().parse(template) if name}


def test_a_code_has_one_status_wherever_it_is_raised() -> None:
    statuses: dict[str, set[int]] = {}
    for cls in all_errors():
        statuses.setdefault(cls.code, set()).add(cls.status)
    assert {code: found for code, found in statuses.items() if len(found) > 1} == {}
    assert len(statuses) > 40


def test_both_languages_fill_the_same_placeholders() -> None:
    different = [cls.__name__ for cls in all_errors() if placeholders(cls.en, "en") != placeholders(cls.zh, "zh")]
    assert different == []


def test_the_chinese_text_is_chinese() -> None:
    # a template that is nothing but a placeholder passes on a text that another service has already put in words
    missing = [cls.__name__ for cls in all_errors() if not any("\u4e00" <= char <= "\u9fff" for char in cls.zh) and cls.zh != cls.en]
    assert missing == []


SET_UP = ("handrail.store.errors", "handrail.contract.settings")


def test_only_set_up_and_programming_errors_are_server_errors() -> None:
    # the store's are raised before a service listens, or say that code forgot to bind a tenant
    assert [cls.__name__ for cls in all_errors() if cls.status == 500 and cls.__module__ not in SET_UP] == []
