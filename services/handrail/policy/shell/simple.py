"""Simple commands: words, assignments, redirects, here-documents (bash(1), SIMPLE COMMANDS and REDIRECTION)."""

from __future__ import annotations

import re

from handrail.policy.shell.lexer import ENDS_WORD, Lexer, SyntaxProblem
from handrail.policy.shell.syntax import Assignment, Facts, Part, Redirect, Simple, Word

MAX_COMMANDS = 200
MAX_PROBLEMS = 6
REDIRECT = re.compile(r"(?:\d+|\{[A-Za-z_]\w*\})?(&>>|&>|<<<|<<-|<<|<>|<&|>&|>>|>\||<(?!\()|>(?!\())")
ASSIGNS = re.compile(r"([A-Za-z_]\w*)\+?=", re.ASCII)
SUBSCRIPT = re.compile(r"([A-Za-z_]\w*)\[", re.ASCII)
BLANKS = frozenset(" \t\\#")
BLANK = re.compile(r"(?:[ \t]|\\\n)+")
DECLARES = frozenset({"export", "declare", "typeset", "local", "readonly"})
READS = frozenset({"read", "mapfile", "readarray", "getopts"})


class TooMany(Exception):  # unwinds to the judge, which denies
    """More commands than MAX_COMMANDS."""


class SimpleCommands(Lexer):
    """Reads one simple command. What stands between commands is the parser's, which builds on this."""

    def __init__(self, text: str, facts: Facts, depth: int = 0, base: tuple[int, int] | None = None) -> None:
        super().__init__(text, facts, depth, base)
        self.here_documents: list[tuple[Redirect, bool, str]] = []
        self.frame, self.chain, self.substituting = 0, 0, depth > 0

    def add(self, simple: Simple) -> Simple:
        """Put a command into the list."""
        simple.frame, simple.chain, simple.in_substitution = self.frame, self.chain, self.substituting
        self.facts.commands.append(simple)
        if len(self.facts.commands) > MAX_COMMANDS:
            raise TooMany
        return simple

    # -- blanks ------------------------------------------------------------------------------------------------------
    def blank(self) -> None:
        """Skip blanks, line continuations and a comment."""
        char = self.text[self.i : self.i + 1]
        if char not in BLANKS:
            return
        if char != "#":
            match = BLANK.match(self.text, self.i)
            self.i = match.end() if match is not None else self.i
        if self.text[self.i : self.i + 1] == "#" and (self.i == 0 or self.text[self.i - 1] in " \t\n;&|()"):
            end = self.text.find("\n", self.i)
            self.i = self.size if end < 0 else end

    def newlines(self) -> None:
        """Skip blanks and newlines; here-documents begin behind a newline."""
        self.blank()
        while self.peek() == "\n":
            self._newline()
            self.blank()

    def _newline(self) -> None:
        self.i += 1
        waiting, self.here_documents = self.here_documents, []
        for redirect, literal, end in waiting:
            self._here_document(redirect, end, literal=literal)

    def _here_document(self, redirect: Redirect, end: str, *, literal: bool) -> None:
        begun, strip = self.i, redirect.operator == "<<-"
        lines: list[str] = []
        while True:
            if self.i >= self.size:
                raise SyntaxProblem("here-document", begun)
            stop = self.text.find("\n", self.i)
            stop = self.size if stop < 0 else stop
            line = self.text[self.i : stop]
            self.i = min(stop + 1, self.size)
            if (line.lstrip("\t") if strip else line) == end:
                break
            lines.append(line.lstrip("\t") if strip else line)
        body = "\n".join([*lines, ""])
        span = self.span(begun, self.i)
        if literal:
            redirect.here = Word(*span, body, (), quoted=True)
            return
        self.facts.taken.append(span)
        inner = type(self)(body, self.facts, self.depth, span)
        inner.frame, inner.chain = self.frame, self.chain
        redirect.here = inner.quoted_text()

    # -- simple commands -----------------------------------------------------------------------------------------------
    def simple(self) -> None:
        start = self.i
        simple = self.add(Simple(*self.span(start, start)))
        declares = False
        while True:
            self.blank()
            char = self.peek()
            if char in ("", "\n", ";", "|", ")") or (char == "&" and self.peek(1) != ">"):
                break
            if self._redirect(simple.redirects):
                continue
            assigns = ASSIGNS.match(self.text, self.i) if not simple.words or declares else None
            if assigns is not None and (not simple.words or self.text.startswith("(", assigns.end())):
                self._assignment(simple, assigns)
                continue
            if char == "(":
                raise SyntaxProblem("bracket", self.i)
            if not simple.words and self._subscript(simple):
                continue
            simple.words.append(self.word())
            if len(simple.words) == 1:
                declares = simple.words[0].literal in DECLARES
        if self.i == start:
            raise SyntaxProblem("unexpected", start)
        if not self.base:
            simple.end = max(start, len(self.text[start : self.i].rstrip()) + start)
        self._note_assignments(simple)

    def _subscript(self, simple: Simple) -> bool:
        """`NAME[...]=value`; the subscript is arithmetic, with substitutions. False when it is a word like any other."""
        match = SUBSCRIPT.match(self.text, self.i)
        if match is None:
            return False
        start, depth = self.i, self.depth
        counts = (len(self.facts.commands), len(self.facts.words))
        inside: list[Part] = []
        self.i = match.end()
        try:
            self._arithmetic(inside, "]")
        except SyntaxProblem:
            self.facts.retries += 1
            if self.facts.retries > MAX_PROBLEMS:
                raise
        if self.text.startswith(("=", "+="), self.i):
            self.facts.words.append(Word(*self.span(start, self.i), None, tuple(inside)))
            self._value(simple, match[1], start, self.i + (2 if self.peek() == "+" else 1), whole_value=False)
            return True
        del self.facts.commands[counts[0] :], self.facts.words[counts[1] :]
        self.i, self.depth = start, depth
        return False

    def _assignment(self, simple: Simple, match: re.Match[str]) -> None:
        self._value(simple, match[1], self.i, match.end(), whole_value=not match[0].endswith("+="))

    def _value(self, simple: Simple, name: str, start: int, at: int, *, whole_value: bool) -> None:
        self.i = at
        value: Word | None = None
        if self.peek() == "(":
            self.i += 1
            self.newlines()
            while self.peek() != ")":
                self.facts.words.append(self.word())
                self.newlines()
            self.i += 1
            if self.i < self.size and self.text[self.i] not in ENDS_WORD:  # bash takes `a=(1)x` as one assignment
                self.facts.problems.append(("array", self.i))
                self.facts.words.append(self.word())
        elif self.peek() not in ("", " ", "\t", "\n", ";", "&", "|", ")") and not (self.peek() in "<>" and self.peek(1) != "("):
            value = self.word()
        else:
            value = Word(*self.span(self.i, self.i), "")
        known = value if whole_value else None
        if value is not None and known is None:
            self.facts.words.append(value)
        simple.assignments.append(Assignment(name, known, *self.span(start, self.i)))

    def _note_assignments(self, simple: Simple) -> None:
        head = simple.words[0].literal if simple.words else None
        for assignment in simple.assignments:
            assignment.whole = not simple.words or head in DECLARES
            self.facts.assignments.append(assignment)
        if head in DECLARES:
            for word in simple.words[1:]:
                self._declared(simple, word)
        elif head in READS:
            for word in simple.words[1:]:
                self.facts.assignments.append(Assignment(word.literal or "?", None, word.start, word.end))
        elif head == "printf" and len(simple.words) > 2 and simple.words[1].literal == "-v":  # noqa: PLR2004  # printf -v NAME
            self.facts.assignments.append(Assignment(simple.words[2].literal or "?", None, simple.start, simple.end))

    def _declared(self, simple: Simple, word: Word) -> None:
        """`export NAME=value` as a word: the part behind `=` is the value."""
        first = word.literal if word.literal is not None else word.parts[0].text if word.parts and word.parts[0].kind == "text" else ""
        match = ASSIGNS.match(first)
        if match is None:
            return
        rest = first[match.end() :]
        if word.literal is not None:
            value = Word(word.start, word.end, rest, (), word.quoted)
        else:
            value = Word(word.start, word.end, None, (Part("text", rest), *word.parts[1:]), word.quoted)
        assignment = Assignment(match[1], value, word.start, word.end)
        self.facts.assignments.append(assignment)
        simple.assignments.append(assignment)

    # -- redirects -------------------------------------------------------------------------------------------------------
    def _redirect(self, into: list[Redirect]) -> bool:
        match = REDIRECT.match(self.text, self.i)
        if match is None:
            return False
        self.i = match.end()
        self.blank()
        begun = self.i
        redirect = Redirect(match[1], self.word())
        if match[1] == "<<<":
            redirect.here = redirect.target
        elif match[1] in ("<<", "<<-"):
            raw = self.text[begun : self.i]
            delimiter = redirect.target.literal
            if delimiter is None:
                raise SyntaxProblem("here-document", begun)
            self.here_documents.append((redirect, any(char in raw for char in "'\"\\"), delimiter))
        into.append(redirect)
        return True

    def redirects(self, first: int) -> None:
        """Behind a compound command: they hold for every command in it."""
        found: list[Redirect] = []
        self.blank()
        while self._redirect(found):
            self.blank()
        self.facts.loose.extend(found)
        if any(redirect.operator.startswith("<") for redirect in found):
            for simple in self.facts.commands[first:]:
                if not any(redirect.operator.startswith("<") for redirect in simple.redirects):
                    simple.redirects.extend(redirect for redirect in found if redirect.operator.startswith("<"))
