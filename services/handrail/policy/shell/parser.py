"""Commands: lists, pipelines, compound commands, functions, substitutions (bash(1), SHELL GRAMMAR)."""

from __future__ import annotations

import re

from handrail.policy.shell.lexer import SyntaxProblem
from handrail.policy.shell.simple import ASSIGNS, MAX_PROBLEMS, SimpleCommands
from handrail.policy.shell.syntax import Assignment, Facts, Function, Part, Simple, Word

RESERVED = re.compile(
    r"(?:if|then|elif|else|fi|while|until|for|select|do|done|case|esac|function|time|coproc|\{|\}|!|\[\[)(?=[\s;&|()<>]|\Z)"
)
CLOSING = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}"})
FUNCTION = re.compile(r"([^\s;&|()<>'\"\\$`]+)[ \t]*\([ \t]*\)", re.ASCII)
PIECES = re.compile(r"[;&|\n(){}]+")


def parse(text: str) -> Facts:
    """The facts of a text. Raises TooDeep, TooMany. What is not understood stands in `problems`; parsing goes on behind it."""
    facts = Facts()
    parser = Parser(text, facts)
    while parser.i < parser.size:
        try:
            parser.depth = 0
            parser.list("")
            if parser.i < parser.size or parser.here_documents:
                raise SyntaxProblem("unexpected", parser.i)  # noqa: TRY301  # handled like the parser's own
        except SyntaxProblem as problem:
            facts.problems.append((problem.what, problem.position))
            parser.here_documents.clear()
            parser.i = max(problem.position + 1, min(parser.i, problem.position + 1))
            if len(facts.problems) > MAX_PROBLEMS:
                _plainly(parser)
                break
    return facts


def _plainly(parser: Parser) -> None:
    """The rest of a text that makes no sense: pieces between separators, each read as blank-separated words."""
    for match in re.finditer(r"[^;&|\n(){}]+", parser.text[parser.i :]):
        words = [Word(parser.i, parser.i, word.strip("'\"")) for word in match[0].split()]
        if words:
            parser.add(Simple(parser.i + match.start(), parser.i + match.end(), words))


class Parser(SimpleCommands):
    """Recursive descent; its depth is bounded by the lexer's MAX_DEPTH."""

    # -- taken-out text ----------------------------------------------------------------------------------------------
    def commands_until(self, close: str) -> None:
        frame, chain, substituting = self.frame, self.chain, self.substituting
        self.substituting = True
        self._new_frame()
        self.list(close)
        self._expect(close)
        self.frame, self.chain, self.substituting = frame, chain, substituting

    def opened(self, text: str, span: tuple[int, int]) -> None:
        self.deeper()
        self.facts.taken.append(span)
        inner = Parser(text, self.facts, self.depth, span)
        inner.frame = self.frame
        inner._new_frame()  # its own kind
        inner.list("")
        if inner.i < inner.size or inner.here_documents:
            raise SyntaxProblem("unexpected", span[0])
        self.depth -= 1

    def _new_frame(self) -> None:
        number = len(self.facts.frames) + 1
        self.facts.frames[number] = self.frame
        self.frame, self.chain = number, self.chain + 1

    # -- lists -------------------------------------------------------------------------------------------------------
    def list(self, close: str) -> None:
        """Commands up to `close` (a character, or one of the closing words when it is "word"), which is not consumed."""
        while True:
            self.newlines()
            if self.i >= self.size or self._closes(close):
                return
            self.chain += 1
            first = len(self.facts.commands)
            self._pipeline()
            while True:
                self.blank()
                joined = self.text[self.i : self.i + 2]
                if joined not in ("&&", "||"):
                    break
                self.i += 2
                self.newlines()
                if joined == "||":
                    self.chain += 1
                self._pipeline()
            self._separator(first, close)

    def _separator(self, first: int, close: str) -> None:
        char = self.peek()
        if char == "&":
            self.i += 1
            for simple in self.facts.commands[first:]:
                simple.background = True
        elif char == ";" and self.peek(1) not in (";", "&"):
            self.i += 1
        elif char not in ("\n", "") and not self._closes(close):
            raise SyntaxProblem("unexpected", self.i)

    def _closes(self, close: str) -> bool:
        if close == ")":
            return self.peek() == ")"
        if close == ";;":
            return self.text.startswith((";;", ";&"), self.i) or self._reserved() == "esac"
        return bool(close) and self._reserved() in CLOSING

    def _reserved(self) -> str:
        match = RESERVED.match(self.text, self.i)
        return match[0] if match is not None else ""

    def _expect(self, *words: str) -> str:
        self.newlines()
        for word in words:
            if self.text.startswith(word, self.i) and (word == ")" or self._reserved() == word):
                self.i += len(word)
                return word
        raise SyntaxProblem("expected", self.i)

    def _pipeline(self) -> None:
        begun = len(self.facts.commands)
        while True:
            self.blank()
            if self._reserved() == "!":
                self.i += 1
            elif self._reserved() == "time" and not re.compile(r"time(?:[ \t]|\\\n)+-").match(self.text, self.i):
                self.facts.keywords.append(self.span(self.i, self.i)[0])
                self.i += 4
            else:
                break
        stage = begun
        while True:
            self._command()
            commands = self.facts.commands
            if stage > begun:
                for simple in commands[stage:]:
                    simple.feed = simple.feed or (begun, stage)
            self.blank()
            if self.peek() != "|" or self.peek(1) == "|":
                break
            self.i += 2 if self.peek(1) == "&" else 1
            for simple in commands[stage:]:
                simple.piped = True
            stage = len(commands)
            self.newlines()

    # -- commands ----------------------------------------------------------------------------------------------------
    def _command(self) -> None:
        self.blank()
        word = self._reserved()
        if word == "time":
            word = ""
        if word in CLOSING or word == "!":
            raise SyntaxProblem("unexpected", self.i)
        function = None if word else FUNCTION.match(self.text, self.i)
        if function is not None and not ASSIGNS.match(function[1]):
            self._function(function[1], function.end())
            return
        if not word and self.peek() != "(":
            self.simple()
            return
        if word == "coproc" and self._coproc():
            return
        self.deeper()
        first = len(self.facts.commands)
        self._compound(word)
        self.depth -= 1
        self.redirects(first)

    def _compound(self, word: str) -> None:
        if word:
            self.i += len(word)
        if word in ("if", "while", "until"):
            self._conditional(word)
        elif word in ("for", "select"):
            self._for()
        elif word == "case":
            self._case()
        elif word == "[[":
            self._test()
        elif word == "{":
            self.list("word")
            self._expect("}")
        elif word == "function":
            self.blank()
            name = self.word()
            self.blank()
            brackets = re.compile(r"\([ \t]*\)").match(self.text, self.i)
            self._function(name.literal or "?", brackets.end() if brackets else self.i)
        elif self.peek(1) == "(" and self._arithmetic_command():
            return
        else:
            self.i += 1
            frame, chain = self.frame, self.chain
            self._new_frame()
            self.list(")")
            self._expect(")")
            self.frame, self.chain = frame, chain

    def _coproc(self) -> bool:
        """`coproc` before a simple command is a word like any other; before a compound one it is skipped."""
        compound = re.compile(r"coproc[ \t]+(?:[A-Za-z_]\w*[ \t]+)?(?=[({]|(?:if|while|until|for|case|select|\[\[)\s)").match(
            self.text, self.i
        )
        self.facts.keywords.append(self.span(self.i, self.i)[0])
        if compound is None:
            self.simple()
            return True
        self.i = compound.end()
        self._command()
        return True

    def _arithmetic_command(self) -> bool:
        start, depth = self.i, self.depth
        counts = (len(self.facts.commands), len(self.facts.words))
        inside: list[Part] = []
        try:
            self.i += 2
            self._arithmetic(inside, "))")
        except SyntaxProblem:
            self.facts.retries += 1
            if self.facts.retries > MAX_PROBLEMS:
                raise
            del self.facts.commands[counts[0] :], self.facts.words[counts[1] :]
            self.i, self.depth = start, depth
            return False
        self.facts.words.append(Word(*self.span(start, self.i), None, tuple(inside)))
        return True

    def _conditional(self, word: str) -> None:
        if word == "if":
            self.list("word")
            self._expect("then")
            self.list("word")
            while (found := self._expect("elif", "else", "fi")) != "fi":
                if found == "elif":
                    self.list("word")
                    self._expect("then")
                self.list("word")
            return
        self.list("word")
        self._expect("do")
        self.list("word")
        self._expect("done")

    def _for(self) -> None:
        self.blank()
        if self.text.startswith("((", self.i):
            if not self._arithmetic_command():
                raise SyntaxProblem("for", self.i)
        else:
            self._for_words()
        self.blank()
        if self.peek() == ";":
            self.i += 1
        self._body()

    def _for_words(self) -> None:
        variable = self.word()
        start = self.i
        self.newlines()
        found = False
        if re.compile(r"in(?=[\s;])").match(self.text, self.i):
            self.i += 2
            self.blank()
            while self.peek() not in (";", "\n", ""):
                value = self.word()
                found = True
                self.facts.words.append(value)
                self.facts.assignments.append(Assignment(variable.literal or "?", value, value.start, value.end, array=True))
                self.blank()
        if not found:
            self.facts.assignments.append(Assignment(variable.literal or "?", None, variable.start, start))

    def _body(self) -> None:
        if self._expect("do", "{") == "do":
            self.list("word")
            self._expect("done")
        else:
            self.list("word")
            self._expect("}")

    def _case(self) -> None:
        self.blank()
        self.facts.words.append(self.word())
        self.newlines()
        if not re.compile(r"in(?=\s)").match(self.text, self.i):
            raise SyntaxProblem("case", self.i)
        self.i += 2
        while True:
            self.newlines()
            if self._reserved() == "esac":
                self.i += 4
                return
            self._pattern()
            self.list(";;")
            self.newlines()
            if self.peek() == ";":
                self.i += 3 if self.text.startswith(";;&", self.i) else 2

    def _pattern(self) -> None:
        if self.peek() == "(":
            self.i += 1
        while True:
            self.blank()
            self.facts.words.append(self.word())
            self.blank()
            char = self.peek()
            self.i += 1
            if char == ")":
                return
            if char != "|":
                raise SyntaxProblem("case", self.i - 1)

    def _test(self) -> None:
        """`[[ ... ]]`: operators and brackets are skipped, words are kept."""
        start = self.i - 2
        simple = self.add(Simple(*self.span(start, start + 2), [Word(*self.span(start, start + 2), "[[")]))
        while True:
            self.newlines()
            if re.compile(r"\]\](?=[\s;&|()<>]|\Z)").match(self.text, self.i):
                self.i += 2
                simple.end = self.span(start, self.i)[1]
                return
            char = self.peek()
            if char in ("&", "|", "(", ")", "<", ">", "#") and not (char in "<>" and self.peek(1) == "("):
                self.i += 1
            elif char in ("", ";"):
                raise SyntaxProblem("test", start)
            else:
                simple.words.append(self.word())

    def _function(self, name: str, body: int) -> None:
        start, first = self.i, len(self.facts.commands)
        self.i = body
        self.newlines()
        self.deeper()
        self._command()
        self.depth -= 1
        self.facts.functions.append(Function(name, first, len(self.facts.commands), *self.span(start, self.i)))
