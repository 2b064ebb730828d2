"""One program call under judgement, and what a handler may do with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from handrail.policy.facts import Simple
from handrail.policy.shell.syntax import UNKNOWN
from handrail.policy.verdict import Context, Level
from handrail.policy.words import Names, Word

MAX_LINES = 32


class Bench(Protocol):
    """The judge, as handlers see it."""

    context: Context
    names: Names
    bases: list[str]  # every directory the command may be in

    def say(self, rule: str, level: Level, span: tuple[int, int], en: str, zh: str) -> None:
        """Note a reason."""
        ...

    def shell(self, text: str, span: tuple[int, int], positional: Sequence[Word] = ()) -> None:
        """Judge a string that a shell will run. `positional`: what it gets as $0, $1 ..."""
        ...

    def source(self, made: Call, text: str) -> None:
        """Judge text that the program of this call runs."""
        ...

    def code_path(self, path: str, span: tuple[int, int], *, removes: bool, writes: bool) -> None:
        """Judge a path that stands in the source text of another language."""
        ...

    def call(self, call: Call) -> None:
        """Judge another program call (what a wrapper starts)."""
        ...


@dataclass(frozen=True, slots=True)
class Call:
    """`name` is the base name of the program; `words[0]` is the word it came from."""

    name: str
    words: tuple[Word, ...]
    simple: Simple
    depth: int = 0  # wrappers around it
    piped: bool = False  # gets its arguments from standard input (xargs)

    @property
    def args(self) -> tuple[Word, ...]:
        """The words after the program."""
        return self.words[1:]

    @property
    def span(self) -> tuple[int, int]:
        """Where it stands, in bytes."""
        return (self.words[0].start, self.words[-1].end) if self.words else (self.simple.start, self.simple.end)

    def texts(self) -> list[str]:
        """Arguments as text; an argument that is not known is ""."""
        return [word.value if word.value is not None else "" for word in self.args]

    def inner(self, words: Sequence[Word], *, piped: bool = False) -> Call | None:
        """The call that this one starts; None when there is nothing left."""
        if not words:
            return None
        return replace(self, name=base_name(words[0]), words=tuple(words), depth=self.depth + 1, piped=self.piped or piped)


def base_name(word: Word) -> str:
    """`/usr/bin/Rm` -> `rm`; "" for a word that is not known."""
    value = word.value
    return value.rstrip("/").rsplit("/", 1)[-1] if value else ""


def lines(words: Sequence[Word]) -> list[str]:
    """The words joined by blanks, in every alternative (one word varied at a time), at most MAX_LINES."""
    firsts = [word.values[0] for word in words if word.values]
    found = [" ".join(firsts)]
    for index, word in enumerate(word for word in words if word.values):
        for value in word.values[1:]:
            found.append(" ".join([*firsts[:index], value, *firsts[index + 1 :]]))
            if len(found) >= MAX_LINES:
                return found
    return found


def given_as(words: Sequence[Word]) -> list[dict[str, str]]:
    """What `words` make of $0, $1 ..., $@ and $*: what is certain, then one word varied at a time, at most MAX_LINES. [{}] for none."""
    certain = [word.value for word in words]
    rows = [certain]
    firsts = [next((value for value in word.values if UNKNOWN not in value), None) for word in words]
    for index, word in enumerate(words):
        for value in word.values:
            row = [*firsts[:index], value, *firsts[index + 1 :]]
            if UNKNOWN not in value and row not in rows and len(rows) < MAX_LINES:
                rows.append(row)
    return [_numbered(row) for row in rows]


def _numbered(row: Sequence[str | None]) -> dict[str, str]:
    given = {str(index): value for index, value in enumerate(row[:10]) if value is not None}
    rest = [value for value in row[1:] if value is not None]
    return given | dict.fromkeys("@*", " ".join(rest)) if len(rest) == len(row[1:]) and row else given


def behind_options(words: Sequence[Word], with_value: frozenset[str], index: int = 0) -> int:
    """Where the first operand at or behind `index` stands. Options named in `with_value` take the next word."""
    while index < len(words):
        value = words[index].value
        if value == "--":
            return index + 1
        if value is None or not value.startswith("-") or value == "-":
            return index
        index += 2 if value in with_value else 1
    return index


def literal(text: str, like: Word) -> Word:
    """A word that is exactly `text`, standing where `like` stands."""
    return Word(text, (text,), known=True, start=like.start, end=like.end)


def operands(words: Iterable[Word], with_value: frozenset[str] = frozenset()) -> list[Word]:
    """The words that are no options. Options named in `with_value` take the next word."""
    found: list[Word] = []
    only_operands = take = False
    for word in words:
        value = word.value if word.value is not None else (word.values[0] if word.values else "")
        if take:
            take = False
        elif only_operands or not value.startswith("-") or value == "-":
            found.append(word)
        elif value == "--":
            only_operands = True
        elif value in with_value:
            take = True
    return found


def short_flags(texts: Iterable[str]) -> set[str]:
    """The letters of all short options before `--`."""
    letters: set[str] = set()
    for text in texts:
        if text == "--":
            break
        if text.startswith("-") and not text.startswith("--"):
            letters.update(text[1:])
    return letters


def long_options(texts: Sequence[str], name: str, least: int = 3) -> list[str]:
    """The values of every `--name=value` or `--name value`, abbreviations counted; "" for a bare option."""
    found: list[str] = []
    for index, text in enumerate(texts):
        given, equals, value = text.partition("=")
        if given.startswith("--") and len(given) >= least + 2 and ("--" + name).startswith(given):
            if equals:
                found.append(value)
            else:
                found.append(texts[index + 1] if index + 1 < len(texts) else "")
    return found


def long_option(texts: Sequence[str], name: str, least: int = 3) -> str | None:
    """The first of `long_options`; None when the option is not there."""
    found = long_options(texts, name, least)
    return found[0] if found else None
