"""What a word can become when the shell has expanded it: every alternative that can be known from the text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from handrail.policy.folding import fold
from handrail.policy.shell.syntax import CLOSE, COMMA, GLOBS, MARKS, OPEN, PLAIN, TILDE, UNKNOWN, Assignment, Part
from handrail.policy.shell.syntax import Word as Written

MAX_VALUES = 16  # possibilities that are followed for one word
MAX_BRACES = 64
MAX_LENGTH = 8192  # a longer value of a variable is not followed: doubled a few times it would be the whole memory
MAX_BRANCHES = 4  # pieces of one word that may differ: 2 ** 4 alternatives
CHAIN = 8  # X=$Y; Y=$Z ...
FROM_OUTSIDE = frozenset(
    "PATH LOGNAME LANG LC_ALL TERM RANDOM SECONDS LINENO HOSTNAME UID EUID PPID COLUMNS LINES SRANDOM EPOCHSECONDS".split()
)
MARKED = re.compile(f"[{MARKS}]")
GLOB = re.compile(f"[{GLOBS}]")
BRACES = re.compile(f"{OPEN}([^{OPEN}{CLOSE}]*){CLOSE}")
NUMBERS = re.compile(r"(-?\d{1,6})\.\.(-?\d{1,6})(?:\.\.-?\d+)?\Z")
LETTERS = re.compile(r"([A-Za-z])\.\.([A-Za-z])(?:\.\.-?\d+)?\Z")
REFUSING = frozenset({":?", "?"})  # the value, or the shell ends
DEFAULTS = frozenset({":-", "-", ":=", "=", ":+", "+"})
FIELDS = re.compile(r"[ \t\n]+")


@dataclass(slots=True)
class Word:
    """`values`: what it may be (UNKNOWN stands for what cannot be seen). `known`: those are all. `ansi`: written with $'...'."""

    text: str
    values: tuple[str, ...]
    known: bool
    start: int
    end: int
    globs: bool = False
    ansi: bool = False
    substitution: bool = False
    operator: bool = False  # ${x@P}, ${!x}: what comes out may be code

    @property
    def value(self) -> str | None:
        """The one thing it is, or None."""
        return self.values[0] if self.known and len(self.values) == 1 else None


@dataclass(slots=True)
class Names:
    """Variables of one command string: every value that is assigned anywhere in it, in any order."""

    fixed: Mapping[str, str]  # HOME, PWD ...
    assigned: dict[str, list[Written | None]] = field(default_factory=dict[str, list[Written | None]])
    busy: set[str] = field(default_factory=set[str])
    known: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])  # what was looked up already
    cut: int = 0  # how often a chain was too long to follow

    def add(self, assignments: list[Assignment]) -> None:
        """Note what is assigned."""
        self.known.clear()
        for assignment in assignments:
            self.assigned.setdefault(assignment.name, []).append(assignment.value)

    def look_up(self, name: str) -> tuple[str, ...]:
        """The alternatives; UNKNOWN is one of them when there may be others."""
        found = self.known.get(name)
        if found is not None:
            return found
        if name in self.busy or len(self.busy) > CHAIN:
            self.cut += 1
            return (UNKNOWN,)
        before = self.cut
        self.busy.add(name)
        found = self._values(name)
        self.busy.discard(name)
        if self.cut == before or not self.busy:  # what was cut short inside another look-up may be longer on its own
            self.known[name] = found
        return found

    def _values(self, name: str) -> tuple[str, ...]:
        words, fixed = self.assigned.get(name), self.fixed.get(name)
        if words is None:
            if fixed is not None:
                return (fixed,)
            # the environment is clean: a name that nobody set is empty
            return (UNKNOWN,) if name in FROM_OUTSIDE or not (name[0].isalpha() or name[0] == "_") else ("", UNKNOWN)
        found: list[str] = [fixed] if fixed is not None else []
        for word in words[:MAX_VALUES]:
            found.extend((UNKNOWN,) if word is None else alternatives(word, self))
        found = [value if len(value) <= MAX_LENGTH else UNKNOWN for value in found]
        return _few([*found, UNKNOWN] if len(words) > MAX_VALUES else found)


def _few(values: list[str]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(values))
    return found if len(found) <= MAX_VALUES else (*found[:MAX_VALUES], UNKNOWN)


def alternatives(word: Written, names: Names) -> tuple[str, ...]:
    """Every text that the word can become, before it is split into fields; wildcards outside quotes are still marks."""
    literal = word.literal
    if literal is not None:
        if literal.isascii() or not MARKED.search(literal):
            return (literal,)
        return tuple(_tilde(opened, names) for opened in _open_braces(literal))
    found = _joined(word, names)
    if any(OPEN in value for value in found):
        found = [opened for value in found for opened in _open_braces(value)]
    return tuple(_tilde(value, names) for value in _few(found))


def _joined(word: Written, names: Names) -> list[str]:
    """Every combination of the pieces' alternatives; where too many pieces differ, the later ones are unknown."""
    found, tail = [""], list[str]()
    branches = 0
    for part in word.parts:
        options = _part(part, names)
        branches += len(options) > 1
        if len(options) == 1 or branches > MAX_BRANCHES:
            tail.append(options[0] if len(options) == 1 else UNKNOWN)
            continue
        run = "".join(tail)
        tail = []
        found = list(_few([start + run + option for start in found for option in options]))
    run = "".join(tail)
    return [start + run for start in found]


def _part(part: Part, names: Names) -> tuple[str, ...]:
    if part.kind == "text":
        return (part.text,)
    if part.kind == "variable":
        return names.look_up(part.text)
    if part.kind == "operator":
        return _operator(part, names)
    return (UNKNOWN,)


def _operator(part: Part, names: Names) -> tuple[str, ...]:
    found = names.look_up(part.text)
    if part.operator in DEFAULTS:
        default = alternatives(part.word, names) if part.word is not None else ("",)
        if part.operator in (":+", "+"):
            return _few([*default, ""])
        return _few([*(value for value in found if value), *default])
    if part.operator in REFUSING:
        return found
    words = alternatives(part.word, names) if part.word is not None else ("",)
    folded = [None if UNKNOWN in value + word else fold(value, part.operator, word) for value in found for word in words]
    return _few([UNKNOWN if value is None else value for value in folded])


def _tilde(value: str, names: Names) -> str:
    while TILDE in value:
        at = value.index(TILDE)
        match = re.compile(r"[^/:]*").match(value, at + 1)
        user = match[0] if match is not None else ""
        known = {"": names.fixed.get("HOME", UNKNOWN), "root": "/root", "+": names.fixed.get("PWD", UNKNOWN), "-": UNKNOWN}
        value = value[:at] + known.get(user, "/home/" + user) + value[at + 1 + len(user) :]
    return value


def _open_braces(text: str) -> list[str]:
    """Brace expansion; what is more than MAX_BRACES becomes unknown."""
    if OPEN not in text:
        return [text]
    if text.count(OPEN) > MAX_BRACES:
        return [UNKNOWN]
    done: list[str] = []
    waiting = [text]
    while waiting:
        if len(done) + len(waiting) > MAX_BRACES or len(waiting[-1]) * (len(waiting) + len(done)) > MAX_LENGTH:
            return [*done, UNKNOWN]
        current = waiting.pop()
        match = BRACES.search(current)
        if match is None:
            done.append(current)
            continue
        waiting.extend(current[: match.start()] + option + current[match.end() :] for option in reversed(_options(match[1])))
    return done


def _options(body: str) -> list[str]:
    if COMMA in body:
        return body.split(COMMA)
    numbers, letters = NUMBERS.match(body), LETTERS.match(body)
    if numbers is not None:
        first, last = int(numbers[1]), int(numbers[2])
        if abs(first - last) >= MAX_BRACES:
            return [UNKNOWN]
        step = 1 if first <= last else -1
        return [str(number) for number in range(first, last + step, step)]
    if letters is not None:
        first, last = ord(letters[1]), ord(letters[2])
        step = 1 if first <= last else -1
        return [chr(code) for code in range(first, last + step, step)]
    return ["{" + body + "}"]  # plain characters, no longer marks


def expand(word: Written, names: Names, source: str) -> list[Word]:
    """The words of a command line that a written one gives: usually one, several with braces or unquoted blanks."""
    literal = word.literal
    if literal is not None and (literal.isascii() or not MARKED.search(literal)):
        return [Word(literal, (literal,), True, word.start, word.end, False, word.ansi)]  # positions are quicker
    found = alternatives(word, names)
    if literal is not None:
        return [_value((value,), word, source) for value in found]
    splits = any(part.kind in ("variable", "operator") and (not part.quoted or part.text == "@") for part in word.parts)
    if not splits or not any(FIELDS.search(value) for value in found):
        return [_value(found, word, source)]
    if len(found) == 1:
        return [_value((piece,), word, source) for piece in FIELDS.split(found[0]) if piece]
    pieces = [piece for value in found for piece in FIELDS.split(value) if piece]
    return [_value((piece, UNKNOWN), word, source) for piece in dict.fromkeys(pieces)]


def one(word: Written, names: Names, source: str) -> Word:
    """The word where the shell does not split (assignments, redirect targets, here-documents)."""
    return _value(alternatives(word, names), word, source)


def _value(found: tuple[str, ...], word: Written, source: str) -> Word:
    known = not any(UNKNOWN in value for value in found)
    globs = any(GLOB.search(value) for value in found)
    values = tuple(dict.fromkeys(value if value.isascii() else value.translate(PLAIN) for value in found))
    operator = word.literal is None and any(_is_code(part) for part in word.parts)
    substitution = word.literal is None and word.has("substitution", "process")
    return Word(source[word.start : word.end], values, known, word.start, word.end, globs, word.ansi, substitution, operator)


def _is_code(part: Part) -> bool:
    """An expansion whose result is expanded once more, or that assigns what a command prints."""
    if part.kind == "indirect":
        keys = part.operator == "[" or (part.operator == "" and part.word is not None and part.word.literal in ("@", "*"))
        return not keys
    if part.kind == "operator" and part.operator == "@":
        return True
    if part.kind == "operator" and part.word is not None:
        return part.word.has("substitution") or any(_is_code(inner) for inner in part.word.parts)
    return False
