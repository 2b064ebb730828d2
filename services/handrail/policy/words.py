"""What a word of the shell can become: quotes taken off, known variables put in, braces opened."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from tree_sitter import Node

MAX_VALUES = 16  # possibilities that are followed for one word
MAX_BRACES = 32
GLOB = re.compile(r"[*?\[]")
NUMBERS = re.compile(r"(-?\d{1,4})\.\.(-?\d{1,4})\Z")
ANSI = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL)
SIMPLE_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}


@dataclass(frozen=True, slots=True)
class Word:
    """`values`: what it may be. `known`: those are all. `globs`: a wildcard outside quotes. `ansi`: written with $'...'."""

    text: str
    values: tuple[str, ...]
    known: bool
    start: int
    end: int
    globs: bool = False
    ansi: bool = False
    substitution: bool = False
    quoted: bool = False
    operator: bool = False  # ${x@P}, ${!x}: what comes out may be code
    splits: bool = False  # an unquoted expansion with blanks in it

    @property
    def value(self) -> str | None:
        """The one thing it is, or None."""
        return self.values[0] if self.known and len(self.values) == 1 else None


@dataclass(slots=True)
class Names:
    """Variables and functions of one command string: every value that is ever assigned, in any order."""

    values: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    unknown: set[str] = field(default_factory=set[str])
    functions: set[str] = field(default_factory=set[str])

    def assign(self, name: str, word: Word | None) -> None:
        """Note one assignment; None or an unknown word makes the name unknown."""
        if word is not None:
            self.values.setdefault(name, set()).update(word.values)
        if word is None or not word.known:
            self.unknown.add(name)

    def look_up(self, name: str) -> tuple[tuple[str, ...], bool]:
        """(values, whether those are all)."""
        found = tuple(sorted(self.values.get(name, ())))[:MAX_VALUES]
        return found, bool(found) and name not in self.unknown and len(self.values[name]) <= MAX_VALUES


@dataclass(slots=True)
class _Build:
    values: list[str] = field(default_factory=lambda: [""])
    known: bool = True
    globs: bool = False
    ansi: bool = False
    substitution: bool = False
    quoted: bool = False
    operator: bool = False
    splits: bool = False
    literal: bool = True  # nothing but plain text so far: braces may be opened

    def add(self, options: tuple[str, ...], *, known: bool = True) -> None:
        self.known = self.known and known
        if not options:
            self.known = False
            return
        self.values = [value + option for value in self.values for option in options][:MAX_VALUES]
        if len(self.values) == MAX_VALUES:
            self.known = False


def resolve(node: Node, names: Names, fixed: Mapping[str, str]) -> Word:
    """The word that `node` is. `fixed` has variables that are always known (HOME, PWD)."""
    build = _Build()
    _walk(node, build, names, fixed)
    raw = _text(node)
    if not build.quoted and build.literal:
        build.values = [opened for value in build.values for opened in open_braces(value)]
    if build.literal and not build.quoted and raw.startswith("~"):
        build.values = [_tilde(value, fixed) for value in build.values]
    return Word(
        raw,
        tuple(dict.fromkeys(build.values)),
        build.known,
        node.start_byte,
        node.end_byte,
        build.globs,
        build.ansi,
        build.substitution,
        build.quoted,
        build.operator,
        build.splits,
    )


def _walk(root: Node, build: _Build, names: Names, fixed: Mapping[str, str]) -> None:
    stack = [(root, False)]
    while stack:
        node, inside = stack.pop()
        kind = node.type
        if kind in ("word", "number", "variable_name", "extglob_pattern", "regex", "test_operator", "special_variable_name"):
            _plain(_text(node), build)
        elif kind == "raw_string":
            build.quoted = True
            build.add((_text(node)[1:-1],))
        elif kind == "ansi_c_string":
            build.ansi = build.quoted = True
            build.add((ansi(_text(node)[2:-1]),))
        elif kind in ("string", "translated_string"):
            build.quoted = True
            stack.extend((child, True) for child in reversed(node.children) if child.type not in ('"', "$"))
        elif kind == "string_content":
            build.add((re.sub(r'\\([$`"\\\n])', r"\1", _text(node)).replace("\\\n", ""),))
        elif kind in ("concatenation", "command_name", "array"):
            stack.extend((child, inside) for child in reversed(node.children))
        elif kind == "simple_expansion":
            _variable(_text(node)[1:], build, names, fixed, inside=inside)
        elif kind == "expansion":
            _expansion(_text(node)[2:-1], build, names, fixed, inside=inside)
        elif kind == "arithmetic_expansion":
            build.literal = False
            build.add((), known=False)
        elif kind == "brace_expression":
            _plain(_text(node), build)
        elif kind in ("command_substitution", "process_substitution"):
            build.substitution = True
            build.literal = False
            build.add((), known=False)
        elif not node.is_named:
            _plain(_text(node), build)
        else:
            build.add((), known=False)


def _plain(text: str, build: _Build) -> None:
    if GLOB.search(re.sub(r"\\.", "", text)):
        build.globs = True
    build.add((re.sub(r"\\(.)", r"\1", text.replace("\\\n", ""), flags=re.DOTALL),))


def _variable(name: str, build: _Build, names: Names, fixed: Mapping[str, str], *, inside: bool) -> None:
    build.literal = False
    found, known = names.look_up(name)
    if name in fixed:
        found, known = (*found, fixed[name]), known or not found
    if not inside and any(re.search(r"\s", value) for value in found):
        build.splits = True
    build.add(found, known=known)


def _expansion(text: str, build: _Build, names: Names, fixed: Mapping[str, str], *, inside: bool) -> None:
    """`${...}`: a plain name, a name with a default, or an operator whose result is not followed."""
    match = re.match(r"(!?)(#?)([A-Za-z_]\w*|[0-9@*?$!#-])(.*)\Z", text, re.DOTALL)
    if match is None or match[1]:
        build.operator = build.operator or match is not None
        build.add((), known=False)
        return
    name, rest = match[3], match[4]
    if not rest and not match[2]:
        _variable(name, build, names, fixed, inside=inside)
        return
    build.literal = False
    if rest.startswith("@") and rest[1:2] in ("P", "E", "A", "K", "Q"):
        build.operator = rest[1:2] in ("P", "E")
    default = re.match(r":?[-=+](.*)\Z", rest, re.DOTALL)
    found, _ = names.look_up(name)
    options = found if default is None else (*found, default[1].strip("\"'"))
    if name in fixed:
        options = (*options, fixed[name])
    build.add(options, known=False)


def ansi(text: str) -> str:
    """The text of $'...' with its escapes decoded."""

    def decode(match: re.Match[str]) -> str:
        body = match[1]
        if body[0] in "xuU" and len(body) > 1:
            return chr(min(int(body[1:], 16), 0x10FFFF))
        if body[0] in "01234567":
            return chr(int(body, 8) & 0xFF)
        if body[0] == "c" and len(body) > 1:
            return chr(ord(body[1]) & 0x1F)
        return SIMPLE_ESCAPES.get(body, body)

    return ANSI.sub(decode, text)


def open_braces(text: str) -> list[str]:
    """Brace expansion of literal text, at most MAX_BRACES results; `{1..3}` and `{a,b}`, nested."""
    done: list[str] = []
    waiting = [text]
    while waiting and len(done) + len(waiting) <= MAX_BRACES:
        current = waiting.pop()
        match = re.search(r"\{([^{}]*)\}", current)
        options = _options(match[1]) if match else []
        if match is None or not options:
            done.append(current)
            continue
        waiting.extend(current[: match.start()] + option + current[match.end() :] for option in reversed(options))
    return done + waiting


def _options(body: str) -> list[str]:
    if "," in body:
        return body.split(",")
    numbers = NUMBERS.match(body)
    if numbers:
        first, last = int(numbers[1]), int(numbers[2])
        step = 1 if first <= last else -1
        return [str(number) for number in range(first, last + step, step)][:MAX_BRACES]
    return []


def _tilde(value: str, fixed: Mapping[str, str]) -> str:
    if value == "~" or value.startswith("~/"):
        return fixed["HOME"] + value[1:]
    if value.startswith("~root"):
        return "/root" + value[5:]
    if value.startswith(("~+", "~-")):
        return value
    return "/home/" + value[1:]


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
