"""From a command string to facts: simple commands with their words expanded, what feeds them and where they run."""

from __future__ import annotations

from dataclasses import dataclass, field

from handrail.policy.paths import absolute
from handrail.policy.shell import tree
from handrail.policy.shell.lexer import TooDeep, TooLong
from handrail.policy.shell.parser import parse as read
from handrail.policy.shell.simple import DECLARES, TooMany
from handrail.policy.shell.syntax import UNKNOWN, Function
from handrail.policy.shell.syntax import Facts as Read
from handrail.policy.shell.syntax import Simple as ReadSimple
from handrail.policy.shell.syntax import Word as Written
from handrail.policy.words import Names, Word, expand, one

MAX_SEGMENTS = 200
MAX_BASES = 8
WRITES = frozenset({">", ">>", ">|", "&>", "&>>", "<>"})
MOVES = frozenset({"cd", "pushd"})


@dataclass(slots=True)
class Redirect:
    """`>` and its kin. `target` is the word it names."""

    operator: str
    target: Word


@dataclass(slots=True)
class Simple:
    """A simple command as it stands in the text. `bases`: every directory that it may run in."""

    words: list[Word]
    assignments: list[tuple[str, Word | None]]
    start: int
    end: int
    bases: list[str]
    redirects: list[Redirect] = field(default_factory=list[Redirect])
    here: list[str] = field(default_factory=list[str])  # literal text that is its standard input
    feeders: list[Simple] = field(default_factory=list["Simple"])  # what its standard input comes from, nearest last
    declared: str = ""  # "export", "declare", ... when the words are declarations
    here_substitution: bool = False


@dataclass(slots=True)
class Facts:
    """Everything that was found in one string."""

    commands: list[Simple] = field(default_factory=list[Simple])
    loose: list[Redirect] = field(default_factory=list[Redirect])  # redirects of groups and loops
    words: list[Word] = field(default_factory=list[Word])  # words outside commands: for, case, arrays
    process_substitution: tuple[int, int] | None = None
    changed: list[str] = field(default_factory=list[str])  # variables that get a value from elsewhere: read, for, printf -v
    strange: str = ""  # a form that one of the two parsers does not follow
    failed: bool = False  # not everything is understood
    limit: str = ""  # "nesting", "segments" or "words"
    recursion: tuple[int, int] | None = None  # a function that starts itself twice


def parse(text: str, names: Names, bases: list[str]) -> Facts:
    """Facts of one string. `names` collects its assignments; `bases`: where it may start."""
    try:
        found = read(text)
    except TooDeep:
        return Facts(limit="nesting")
    except TooMany:
        return Facts(limit="segments")
    except TooLong:
        return Facts(limit="words")
    names.add(found.assignments)
    _positional(found, names)
    facts = Facts(failed=bool(found.problems), process_substitution=found.process)
    facts.changed = [item.name for item in found.assignments if item.array or item.value is None]
    _second_opinion(text, found, facts)
    places = _Places(bases, names)
    for simple in found.commands:
        facts.commands.append(_simple(simple, names, text, places.of(simple, found)))
        places.after(simple, facts.commands[-1])
    for written, simple in zip(found.commands, facts.commands, strict=True):
        if written.feed is not None:
            simple.feeders = facts.commands[written.feed[0] : written.feed[1]]
    facts.loose = [Redirect(redirect.operator, one(redirect.target, names, text)) for redirect in found.loose if redirect.here is None]
    facts.words = [one(word, names, text) for word in found.words]
    facts.recursion = _bomb(found)
    return facts


def _positional(found: Read, names: Names) -> None:
    """`set -- a b` and the arguments of a function are $1, $2 ... and $@."""
    functions = {function.name for function in found.functions}
    names.known.clear()
    for simple in found.commands:
        head = simple.words[0].literal if simple.words else None
        if head != "set" and head not in functions:
            continue
        given = [word for word in simple.words[1:] if word.literal != "--"]
        for index, word in enumerate(given[:9]):
            names.assigned.setdefault(str(index + 1), []).append(word)
        literals = [word.literal for word in given]
        joined = " ".join(literal for literal in literals if literal is not None)
        whole = Written(simple.start, simple.end, joined) if None not in literals else None
        for name in ("@", "*"):
            names.assigned.setdefault(name, []).append(whole)


def _second_opinion(text: str, found: Read, facts: Facts) -> None:
    """tree-sitter must not see a command that we do not; a form that it does not list is a question."""
    opinion = tree.read(text)
    if opinion.strange:
        facts.strange = opinion.strange
    elif not opinion.failed and not found.problems:
        ours = {simple.words[0].start for simple in found.commands if simple.words}
        ours.update(found.keywords)
        theirs = [start for start in opinion.starts if start not in ours]
        if any(not any(begin <= start < end for begin, end in found.taken) for start in theirs):
            facts.strange = "command"


def _simple(read_simple: ReadSimple, names: Names, text: str, bases: list[str]) -> Simple:
    words: list[Word] = []
    for word in read_simple.words:
        words.extend(expand(word, names, text))
    assignments = [(item.name, None if item.value is None else one(item.value, names, text)) for item in read_simple.assignments]
    simple = Simple(words, assignments, read_simple.start, read_simple.end, bases)
    for redirect in read_simple.redirects:
        if redirect.here is None:
            simple.redirects.append(Redirect(redirect.operator, one(redirect.target, names, text)))
            continue
        body = one(redirect.here, names, text)
        simple.here.extend(body.values)
        simple.here_substitution = simple.here_substitution or body.substitution or body.operator
    if words and words[0].value in DECLARES:
        simple.declared = words[0].values[0]
    return simple


class _Places:
    """Follows a literal `cd`: all directories that a command may be in. It never forgets one that is still possible."""

    def __init__(self, bases: list[str], names: Names) -> None:
        self._names = names
        self._current: dict[int, list[str]] = {0: list(bases)}  # by subshell
        self._before: dict[int, tuple[int, list[str]]] = {}  # by subshell: the chain that moved, and where it began

    def of(self, simple: ReadSimple, found: Read) -> list[str]:
        """Where `simple` may run."""
        frame = simple.frame
        while frame not in self._current and frame in found.frames:
            frame = found.frames[frame]
        here = self._current.setdefault(simple.frame, list(self._current.get(frame, self._current[0])))
        chain, before = self._before.get(simple.frame, (simple.chain, here))
        if chain != simple.chain:  # behind `cd x && ...;` it may have failed
            here = list(dict.fromkeys([*here, *before]))[:MAX_BASES]
            self._current[simple.frame] = here
            del self._before[simple.frame]
        return here

    def after(self, read_simple: ReadSimple, simple: Simple) -> None:
        """Where the next one may run."""
        words = _moving(simple.words)
        if not words:
            return
        operands = [word for word in words[1:] if word.value not in ("-P", "-L", "--", "-e", "-@")]
        here = simple.bases
        targets = operands[0].values if operands else self._names.look_up("HOME")
        paths = [path for value in targets if value not in ("", "-") and UNKNOWN not in value for path in absolute(value, here)]
        if read_simple.frame not in self._before:
            self._before[read_simple.frame] = (read_simple.chain, here)
        if paths:
            certain = bool(operands) and operands[0].known
            self._current[read_simple.frame] = list(dict.fromkeys(paths if certain else [*paths, *here]))[:MAX_BASES]


def _moving(words: list[Word]) -> list[Word]:
    """The words of a `cd`, also behind `command`, `builtin` and `eval`; nothing when it is no `cd`."""
    index = 0
    while index < len(words) and words[index].value in ("command", "builtin", "eval", "-p", "--"):
        index += 1
    rest = words[index:]
    if index and rest and " " in (rest[0].value or ""):  # eval 'cd /x'
        first = rest[0]
        pieces = (first.value or "").replace(";", " ").replace("&", " ").split()
        rest = [Word(piece, (piece,), True, first.start, first.end) for piece in pieces]  # positions are quicker
    return rest if rest and rest[0].value in MOVES else []


def _bomb(found: Read) -> tuple[int, int] | None:
    """A function that starts itself twice, or in a pipe, or behind itself; also through other functions."""
    if not found.functions:
        return None
    bodies = {function.name: function for function in found.functions}
    calls = {name: _calls(function, found, bodies) for name, function in bodies.items()}
    for name, function in bodies.items():
        reached, waiting = set[str](), [called for called, _ in calls[name]]
        while waiting:
            current = waiting.pop()
            if current not in reached:
                reached.add(current)
                waiting.extend(called for called, _ in calls[current])
        again = [spawns for called, spawns in calls[name] if called == name or name in {inner for inner, _ in calls[called]}]
        if name in reached and (len(again) > 1 or any(again)):
            return function.start, function.end
    return None


def _calls(function: Function, found: Read, bodies: dict[str, Function]) -> list[tuple[str, bool]]:
    body = found.commands[function.first : function.last]
    named = [(simple.words[0].literal or "", simple) for simple in body if simple.words]
    return [(name, simple.background or simple.piped or simple.feed is not None) for name, simple in named if name in bodies]
