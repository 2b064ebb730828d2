"""Words: quotes, escapes, expansions, substitutions. The base of the parser, which knows commands."""

from __future__ import annotations

import re

from handrail.policy.shell.ansi import decode
from handrail.policy.shell.syntax import BRACKET, CLOSE, COMMA, MARKS, OPEN, QUESTION, STAR, TILDE, Facts, Part, Word

MAX_DEPTH = 40
MAX_WORDS = 4096
MANY_PARTS = 8
MAX_RETRIES = 8
RUN = re.compile(r"[^ \t\n;&|()<>'\"\\$`*?\[{}~\ue000-\ue007]+")
SINGLE_WORD = re.compile(r"[A-Za-z0-9_./:@%+=^,\-]+(?=[ \t\n;|&)]|\Z)")
QUOTED_RUN = re.compile(r'[^"\\$`]+')
HERE_RUN = re.compile(r"[^\\$`]+")
NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^]]*\])?\+?=", re.ASCII)
PARAMETER = re.compile(r"(?:[A-Za-z_]\w*|\d+|[@*#?\-$!])", re.ASCII)
OPERATOR = re.compile(r":?[-=+?]|##?|%%?|//?|\^\^?|,,?|@|:|\[")
ARITHMETIC = re.compile(r"[^$`\\()\[\]]+")
ENDS_WORD = " \t\n;&|()<>"
SPECIAL = {"*": STAR, "?": QUESTION, "[": BRACKET, "{": OPEN, "}": CLOSE}
STRAY = {ord(mark): "\ufffd" for mark in MARKS}


class SyntaxProblem(Exception):  # a finding that unwinds to the next place where parsing can go on
    """The text is not understood at `position`."""

    def __init__(self, what: str, position: int) -> None:
        super().__init__(what)
        self.what, self.position = what, position


class TooDeep(Exception):  # unwinds to the judge, which denies
    """Nested deeper than MAX_DEPTH."""


class TooLong(Exception):  # unwinds to the judge, which denies
    """More words than MAX_WORDS."""


class Lexer:
    """Reads words from `text` at `i`. `base`, when set, is the span that all offsets stand for (text taken out of another)."""

    def __init__(self, text: str, facts: Facts, depth: int = 0, base: tuple[int, int] | None = None) -> None:
        self.text, self.size, self.i = text, len(text), 0
        self.facts, self.depth, self.base = facts, depth, base

    def commands_until(self, close: str) -> None:
        """Commands up to `close`, which is consumed. The parser has it."""
        raise NotImplementedError

    def opened(self, text: str, span: tuple[int, int]) -> None:
        """Commands in a text that was taken out of this one (back-quotes). The parser has it."""
        raise NotImplementedError

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Offsets in the outermost text."""
        return self.base or (start, min(end, self.size))

    def peek(self, ahead: int = 0) -> str:
        """The character `ahead` of here, or ""."""
        position = self.i + ahead
        return self.text[position : position + 1]

    def deeper(self) -> None:
        """One level of nesting more."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooDeep

    def word(self) -> Word:  # noqa: C901, PLR0912  # one branch for each character that means something
        """The word at `i`."""
        text, start = self.text, self.i
        self.facts.read += 1
        if self.facts.read > MAX_WORDS:
            raise TooLong
        simple = SINGLE_WORD.match(text, start)
        if simple is not None:
            self.i = simple.end()
            return Word(*self.span(start, self.i), simple[0])
        parts: list[Part] = []
        brace, quoted, ansi = 0, False, False
        while self.i < self.size:
            char = text[self.i]
            if char in ENDS_WORD and not self._process(char):
                break
            run = RUN.match(text, self.i)
            if run is not None:
                self.i = run.end()
                parts.append(Part("text", run[0].replace(",", COMMA) if brace else run[0]))
                continue
            quoted = quoted or char in "'\"\\"
            if char == "'":
                parts.append(Part("text", self._single(), quoted=True))
            elif char == '"':
                self.i += 1
                self._double(parts)
            elif char == "\\":
                self._escape(parts)
            elif char == "$":
                ansi = self._dollar(parts, quoted=False) or ansi
            elif char == "`":
                self._back_quotes(parts, quoted=False)
            elif char in "<>":
                self.i += 2
                self._commands(parts, "process", self.i - 2, quoted=False)
            else:
                brace += (char == "{") - (char == "}")
                self.i += 1
                parts.append(Part("text", self._unquoted(char, brace, start)))
        if self.i == start:
            raise SyntaxProblem("word", start)
        return self._built(start, parts, quoted=quoted or ansi, ansi=ansi)

    def _unquoted(self, char: str, brace: int, start: int) -> str:
        if char == "~" and (self.i - 1 == start or (self.text[self.i - 2] in "=:" and ASSIGNMENT.match(self.text, start))):
            return TILDE
        if char == "," and brace:
            return COMMA
        return SPECIAL.get(char) or char.translate(STRAY)

    def _built(self, start: int, parts: list[Part], *, quoted: bool = False, ansi: bool = False) -> Word:
        begin, end = self.span(start, self.i)
        if len(parts) > MANY_PARTS:
            parts = _merged(parts)
        if all(part.kind == "text" for part in parts):
            return Word(begin, end, "".join(part.text for part in parts), (), quoted, ansi)
        return Word(begin, end, None, tuple(parts), quoted, ansi)

    def _process(self, char: str) -> bool:
        return char in "<>" and self.peek(1) == "("

    def _single(self) -> str:
        end = self.text.find("'", self.i + 1)
        if end < 0:
            raise SyntaxProblem("quote", self.i)
        found = self.text[self.i + 1 : end]
        self.i = end + 1
        return found.translate(STRAY)

    def _escape(self, parts: list[Part]) -> None:
        following = self.peek(1)
        self.i += 2
        if following != "\n":
            parts.append(Part("text", (following or "\\").translate(STRAY), quoted=True))

    def quoted_text(self) -> Word:
        """All of the text, as it stands between double quotes (a here-document)."""
        parts: list[Part] = []
        self._double(parts, "")
        return self._built(0, parts, quoted=True)

    def _double(self, parts: list[Part], end: str = '"') -> None:
        """The inside of double quotes (or, with end "", a here-document's body up to the end of the text)."""
        begun = self.i - 1
        parts.append(Part("text", "", quoted=True))
        run = QUOTED_RUN if end else HERE_RUN
        while self.i < self.size:
            char = self.text[self.i]
            if char == end:
                self.i += 1
                return
            match = run.match(self.text, self.i)
            if match is not None:
                self.i = match.end()
                parts.append(Part("text", match[0].translate(STRAY), quoted=True))
            elif char == "\\":
                following = self.peek(1)
                self.i += 2
                if following != "\n":
                    kept = following if following in '$`"\\' and following else "\\" + following
                    parts.append(Part("text", kept.translate(STRAY), quoted=True))
            elif char == "`":
                self._back_quotes(parts, quoted=True)
            else:
                self._dollar(parts, quoted=True)
        if end:
            raise SyntaxProblem("quote", begun)

    def _dollar(self, parts: list[Part], *, quoted: bool) -> bool:
        """`$...`. True when it was $'...'."""
        text, start = self.text, self.i
        following = self.peek(1)
        if following == "'" and not quoted:
            end = start + 2
            while end < self.size and text[end] != "'":
                end += 2 if text[end] == "\\" else 1
            if end >= self.size:
                raise SyntaxProblem("quote", start)
            self.i = end + 1
            parts.append(Part("text", decode(text[start + 2 : end]).translate(STRAY), quoted=True))
            return True
        if following == '"' and not quoted:
            self.i += 2
            self._double(parts)
        elif following == "(":
            self._parenthesis(parts, quoted=quoted)
        elif following == "{":
            self._braces(parts, quoted=quoted)
        elif following == "[":
            self.i += 2
            self._arithmetic(parts, "]")
        else:
            name = NAME.match(text, start + 1)
            if name is not None:
                self.i = name.end()
                parts.append(Part("variable", name[0], quoted))
            elif following and following in "@*#?-$!0123456789":
                self.i += 2
                parts.append(Part("variable", following, quoted))
            else:
                self.i += 1
                parts.append(Part("text", "$", quoted))
        return False

    def _parenthesis(self, parts: list[Part], *, quoted: bool) -> None:
        start = self.i
        if self.peek(2) == "(":
            counts = (len(self.facts.commands), len(self.facts.words), self.depth)
            try:
                self.i += 3
                self._arithmetic(parts, "))")
                return
            except SyntaxProblem:  # `$((` was a subshell in a substitution
                self.facts.retries += 1
                if self.facts.retries > MAX_RETRIES:  # each one reads the rest again
                    raise
                del self.facts.commands[counts[0] :], self.facts.words[counts[1] :]
                self.i, self.depth = start, counts[2]
        self.i += 2
        self._commands(parts, "substitution", start, quoted=quoted)

    def _commands(self, parts: list[Part], kind: str, start: int, *, quoted: bool) -> None:
        self.deeper()
        self.commands_until(")")
        self.depth -= 1
        if kind == "process":
            self.facts.process = self.facts.process or self.span(start, self.i)
        parts.append(Part("process" if kind == "process" else "substitution", "", quoted))

    def _back_quotes(self, parts: list[Part], *, quoted: bool) -> None:
        start = end = self.i + 1
        while end < self.size and self.text[end] != "`":
            end += 2 if self.text[end] == "\\" else 1
        if end >= self.size:
            raise SyntaxProblem("quote", start - 1)
        inner = re.sub(r'\\([$`\\"])' if quoted else r"\\([$`\\])", r"\1", self.text[start:end])
        self.i = end + 1
        span = self.span(start - 1, self.i)
        self.opened(inner, span)
        parts.append(Part("substitution", "", quoted))

    def _arithmetic(self, parts: list[Part], close: str) -> None:
        """Up to `close`; what is inside matters only for the substitutions in it."""
        self.deeper()
        begun, level, inside, text = self.i, 0, list[Part](), self.text
        while self.i < self.size:
            char = text[self.i]
            if level == 0 and self.text.startswith(close, self.i):
                self.i += len(close)
                self.depth -= 1
                parts.append(Part("arithmetic", "", word=self._built(begun, inside)))
                return
            if char == "$":
                self._dollar(inside, quoted=True)
            elif char == "`":
                self._back_quotes(inside, quoted=True)
            elif char == "\\":
                self.i += 2
            else:
                run = ARITHMETIC.match(text, self.i)
                if run is not None:
                    self.i = run.end()
                    continue
                level += (char in "([") - (char in ")]")
                if level < 0:
                    break
                if level > MAX_DEPTH:
                    raise TooDeep
                self.i += 1
        raise SyntaxProblem("arithmetic", begun)

    def _braces(self, parts: list[Part], *, quoted: bool) -> None:
        """`${...}`."""
        start = self.i
        self.deeper()
        self.i += 2
        indirect = self.peek() == "!" and self.peek(1) not in ("}", "")
        length = self.peek() == "#" and self.peek(1) not in ("}", ":", "#", "%", "")
        self.i += indirect or length
        name = PARAMETER.match(self.text, self.i)
        if name is None:
            raise SyntaxProblem("expansion", start)
        self.i = name.end()
        operator = self._operator()
        argument = self._argument(quoted=quoted)
        self.depth -= 1
        if indirect:
            parts.append(Part("indirect", name[0], quoted, operator, argument))
        elif length or operator or argument is not None:
            parts.append(Part("operator", name[0], quoted, "#len" if length else operator, argument))
        else:
            parts.append(Part("variable", name[0], quoted))

    def _operator(self) -> str:
        match = OPERATOR.match(self.text, self.i)
        if match is None:
            return ""
        self.i = match.end()
        return match[0]

    def _argument(self, *, quoted: bool) -> Word | None:
        """The word up to the closing brace, which is consumed."""
        begun, inside = self.i, list[Part]()
        while self.i < self.size:
            char = self.text[self.i]
            if char == "}":
                built = self._built(begun, inside) if self.i > begun else None
                self.i += 1
                return built
            if char == "'" and not quoted:
                inside.append(Part("text", self._single(), quoted=True))
            elif char == '"':
                self.i += 1
                self._double(inside)
            elif char == "\\":
                self._escape(inside)
            elif char == "$":
                self._dollar(inside, quoted=quoted)
            elif char == "`":
                self._back_quotes(inside, quoted=quoted)
            else:
                self.i += 1
                mark = TILDE if char == "~" and self.i - 1 == begun else SPECIAL.get(char) if char in "*?[" else None
                inside.append(Part("text", mark or char.translate(STRAY)))
        raise SyntaxProblem("expansion", begun)


def _merged(parts: list[Part]) -> list[Part]:
    """Neighbouring texts made one."""
    found: list[Part] = []
    run: list[str] = []
    for part in parts:
        if part.kind == "text":
            run.append(part.text)
            continue
        if run:
            found.append(Part("text", "".join(run)))
            run = []
        found.append(part)
    return [*found, Part("text", "".join(run))] if run else found
