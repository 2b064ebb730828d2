"""What a shell text consists of. Values only: the parser fills them, the judge reads them.

A literal keeps characters that the shell treats as special apart from the same characters in quotes: outside quotes they
are written as the private marks below. So `'/'*` is "/" + STAR, and a quoted star stays "*".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

STAR, QUESTION, BRACKET, UNKNOWN, OPEN, COMMA, CLOSE, TILDE = (chr(0xE000 + number) for number in range(8))
MARKS = STAR + QUESTION + BRACKET + UNKNOWN + OPEN + COMMA + CLOSE + TILDE
GLOBS = STAR + QUESTION + BRACKET
PLAIN = str.maketrans({STAR: "*", QUESTION: "?", BRACKET: "[", OPEN: "{", COMMA: ",", CLOSE: "}", TILDE: "~"})

PartKind = Literal["text", "variable", "operator", "indirect", "substitution", "process", "arithmetic"]


@dataclass(slots=True)
class Part:
    """A piece of a word. `text`: the literal, or the variable's name; `operator` and `word`: `${name<operator><word>}`."""

    kind: PartKind
    text: str
    quoted: bool = False
    operator: str = ""
    word: Word | None = None


@dataclass(slots=True)
class Word:
    """A word as written. `parts` is empty when `literal` says it all. Offsets are characters in the text."""

    start: int
    end: int
    literal: str | None = None
    parts: tuple[Part, ...] = ()
    quoted: bool = False
    ansi: bool = False  # written with $'...'

    def has(self, *kinds: PartKind) -> bool:
        """Whether a part of one of these kinds is in it, also inside `${x:-...}`."""
        return any(part.kind in kinds or (part.word is not None and part.word.has(*kinds)) for part in self.parts)


@dataclass(slots=True)
class Redirect:
    """`operator` without the descriptor; `here`: the text of a here-document or here-string."""

    operator: str
    target: Word
    here: Word | None = None


@dataclass(slots=True)
class Assignment:
    """`NAME=value`. `value` is None when it cannot be known (an array, `read`). `whole`: not only for one command."""

    name: str
    value: Word | None
    start: int
    end: int
    whole: bool = True
    array: bool = False


@dataclass(slots=True)
class Simple:
    """A simple command. `feed`: the range of commands that its standard input may come from."""

    start: int
    end: int
    words: list[Word] = field(default_factory=list[Word])
    assignments: list[Assignment] = field(default_factory=list[Assignment])
    redirects: list[Redirect] = field(default_factory=list[Redirect])
    feed: tuple[int, int] | None = None
    frame: int = 0  # subshell it runs in
    chain: int = 0  # commands joined by && have one number
    background: bool = False
    piped: bool = False
    in_substitution: bool = False


@dataclass(slots=True)
class Function:
    """A function's name and the range of commands in its body."""

    name: str
    first: int
    last: int
    start: int
    end: int


@dataclass(slots=True)
class Facts:
    """Everything that one text holds, in the order of the text."""

    commands: list[Simple] = field(default_factory=list[Simple])
    assignments: list[Assignment] = field(default_factory=list[Assignment])
    functions: list[Function] = field(default_factory=list[Function])
    loose: list[Redirect] = field(default_factory=list[Redirect])  # of groups and loops
    words: list[Word] = field(default_factory=list[Word])  # words outside commands: case, for, [[ ]]
    frames: dict[int, int] = field(default_factory=dict[int, int])  # subshell -> the one around it
    keywords: list[int] = field(default_factory=list[int])  # where `time` and `coproc` stand
    process: tuple[int, int] | None = None  # the first process substitution
    taken: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])  # spans of back-quotes and here-documents
    retries: int = 0
    read: int = 0  # words
    problems: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
