"""From a command string to a verdict: facts, then each simple command by what it starts, writes, removes and fetches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from handrail.policy import code, removal, shells, windows, writing
from handrail.policy.assignments import assigned
from handrail.policy.call import Call, base_name, given_as, lines
from handrail.policy.facts import MAX_SEGMENTS, Facts, Simple, parse
from handrail.policy.own_data import OWN_DATA, OwnData
from handrail.policy.paths import names_own_data, normal
from handrail.policy.precheck import JOINED, precheck
from handrail.policy.programs import HANDLERS, QUOTES, READ_ONLY, STARTED_BY_OTHERS
from handrail.policy.shell.lexer import MAX_WORDS
from handrail.policy.shell.syntax import UNKNOWN
from handrail.policy.table import BY_PROGRAM
from handrail.policy.verdict import SEVERITY, Command, Context, Level, Reason, Verdict
from handrail.policy.words import Names, Word
from handrail.policy.wrappers import ASSIGNMENT, PRIVILEGE, WRAPPERS, unwrap

POLICY_VERSION = "1"
MAX_NESTING = 10  # payloads inside payloads
MAX_WRAPPERS = 16
MAX_REASONS = 50
ABOUT_ITSELF = (["--version"], ["--help"])
UNKNOWN_PROGRAM = ("which program runs is not known", "无法确定运行的程序")
FED = frozenset({"xargs", "parallel"})  # their standard input becomes arguments
DECIDES = ("the result of a command decides what happens", "命令替换的结果决定执行内容")
CONFUSABLE = re.compile(r"[^\x00-\x7f]")


class Judge:
    """Judges one command string. Not reused."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.bases: list[str] = [normal(context.cwd)]
        self.reasons: dict[tuple[str, int, int], Reason] = {}
        self.commands: list[Command] = []
        self.names = Names(
            {"HOME": context.home, "PWD": context.cwd, "OLDPWD": context.cwd, "TMPDIR": "/tmp", "USER": "user", "IFS": " \t\n"}  # noqa: S108  # a value to judge with
        )
        self._depth = 0
        self._segments = 0
        self._span: tuple[int, int] | None = None  # of the payload that is being judged
        self._seen: set[tuple[str, ...]] = set()  # text and the directories it was judged in
        self._probing = False
        self._own_data = OwnData(context)

    # --- what handlers use

    def say(self, rule: str, level: Level, span: tuple[int, int], en: str, zh: str) -> None:
        """Note a reason, once for each place."""
        place = self._span or span
        if len(self.reasons) < MAX_REASONS or level == "deny":
            self.reasons.setdefault((rule, *place), Reason(rule, level, place[0], place[1], en, zh))

    def shell(self, text: str, span: tuple[int, int], positional: Sequence[Word] = ()) -> None:
        """Judge text that a shell will run. `positional`: what it gets as $0, $1 ..."""
        if not text.strip() or ((text, *self.bases) in self._seen and not positional):
            return
        if self._depth >= MAX_NESTING:
            self.say("limit.nesting", "deny", span, f"commands nested more than {MAX_NESTING} deep", f"命令嵌套超过 {MAX_NESTING} 层")
            return
        self._seen.add((text, *self.bases))
        outer, bases, fixed = self._span, self.bases, self.names.fixed
        self._span = outer or span
        self._depth += 1
        try:
            for given in given_as(positional):
                if given:
                    self.names.fixed = {**fixed, **given}
                    self.names.known.clear()
                self.text(text)
        finally:
            self._depth -= 1
            self._span, self.bases, self.names.fixed = outer, bases, fixed
            self.names.known.clear()

    def source(self, made: Call, text: str) -> None:
        """Judge text that the program of this call runs."""
        if made.name in shells.SHELLS or made.name in ("source", ".", "at", "batch"):
            self.shell(text, made.span)
        elif made.name in ("pwsh", "powershell"):
            windows.text(self, made, text)
        else:
            code.program(self, text, made.span, made.name)

    def code_path(self, path: str, span: tuple[int, int], *, removes: bool, writes: bool) -> None:
        """Judge a path that stands in the source text of another language."""
        word = Word(path, (path,), True, *span)  # positions are quicker
        self._own_data.look(self, word)
        if path.startswith("~"):
            word = Word(path, (self.context.home + path[1:],), True, *span)
            self._own_data.look(self, word)
        if removes:
            removal.never(self, word)
        if writes:
            writing.target(self, word)

    def call(self, call: Call) -> None:
        """Judge a program call."""
        if call.depth > MAX_WRAPPERS:
            self.say("limit.nesting", "deny", call.span, "too many programs that start each other", "嵌套启动的程序过多")
            return
        word = call.words[0]
        if not call.name:
            self._unknown(call, word)
            return
        if call.name == "!" or (call.depth and ASSIGNMENT.match(word.value or "")):
            self._inner(call, list(call.args))  # `nohup A=1 x`: what stands behind is judged, whatever this is
            return
        self._note(call)
        self._head(word, call)
        name = call.name.lower() if not call.name.islower() else call.name
        if name != call.name:
            call = Call(name, call.words, call.simple, call.depth, call.piped)
        texts = call.texts()
        if texts in ABOUT_ITSELF and not call.piped:
            return
        for rule in BY_PROGRAM.get(name.split(".")[0] if name.startswith("mkfs.") else name, ()):
            if rule.when is None or rule.when(texts):
                self.say(rule.id, rule.level, call.span, rule.en, rule.zh)
        if name in HANDLERS:
            HANDLERS[name](self, call)
        writing.call(self, call)
        if name in WRAPPERS:
            self._wrapped(name, call)
        elif name in ("busybox", "toybox"):
            self._inner(call, list(call.args))
        else:
            self._doubt(name, call)

    # --- steps

    def text(self, text: str) -> None:
        """Judge one string: the top, or what something in it runs."""
        for found in precheck(text):
            self.say(found.rule, found.severity, (found.start, found.end), found.en, found.zh)
            if found.rule.startswith("limit."):
                return
        if "\\\n" in text and JOINED.search(text):
            self.shell(text.replace("\\\n", ""), (0, len(text)))
        facts = parse(text, self.names, self.bases)
        self._segments += len(facts.commands)
        if facts.limit or self._segments > MAX_SEGMENTS:
            self._limit(facts.limit or "segments", text)
            return
        self._whole(text, facts)
        for name in facts.changed:
            assigned(self, name, None, whole=name != "IFS")
        for simple in facts.commands:
            self._simple(simple)
        for redirect in facts.loose:
            writing.redirect(self, redirect)
            self._own_data.look(self, redirect.target)

    def _limit(self, limit: str, text: str) -> None:
        if limit == "nesting":
            self.say("limit.nesting", "deny", (0, len(text)), "nested too deep", "嵌套过深")
        elif limit == "words":
            self.say("limit.words", "deny", (0, len(text)), f"more than {MAX_WORDS} words", f"超过 {MAX_WORDS} 个词")
        else:
            en, zh = f"more than {MAX_SEGMENTS} commands in one string", f"一条命令串中超过 {MAX_SEGMENTS} 个命令"
            self.say("limit.segments", "deny", (0, len(text)), en, zh)

    def _whole(self, text: str, facts: Facts) -> None:
        if facts.failed:
            self.say("text.grammar", "confirm", (0, len(text)), "not everything in it is understood", "命令中有无法解析的部分")
        if facts.strange:
            self.say(
                "text.form",
                "confirm",
                (0, len(text)),
                f"a form that is not followed ({facts.strange})",
                f"含未跟踪的语法形式（{facts.strange}）",
            )
        if facts.process_substitution is not None:
            self.say("substitution.process", "confirm", facts.process_substitution, "process substitution", "进程替换")
        if facts.recursion is not None:
            self.say("bomb", "deny", facts.recursion, "fork bomb", "fork 炸弹")
        for word in facts.words:
            self._own_data.look(self, word)
            if word.operator:
                self.say("expansion.operator", "confirm", (word.start, word.end), "an expansion that can run code", "可能执行代码的展开")
            if word.substitution:
                self.say("substitution", "confirm", (word.start, word.end), *DECIDES)

    def _simple(self, simple: Simple) -> None:
        self.bases = simple.bases
        for redirect in simple.redirects:
            writing.redirect(self, redirect)
            self._own_data.look(self, redirect.target)
        whole = not simple.words or bool(simple.declared)
        for name, word in simple.assignments:
            assigned(self, name, word, whole=whole)
            if word is not None and word.substitution:
                self.say(
                    "substitution.assigned",
                    "confirm",
                    (simple.start, simple.end),
                    "a variable gets the output of a command",
                    "变量取自命令输出",
                )
        if not simple.words:
            return
        for word in simple.words:
            self._own_data.look(self, word)
            if word.operator:
                self.say("expansion.operator", "confirm", (word.start, word.end), "an expansion that can run code", "可能执行代码的展开")
        if base_name(simple.words[0]) in FED and any(names_own_data(text, self.context) for text in simple.here):
            self.say("own_data", "deny", (simple.start, simple.end), *OWN_DATA)
        self._substituted(simple)
        self.call(Call(base_name(simple.words[0]), tuple(simple.words), simple))

    def _substituted(self, simple: Simple) -> None:
        """`$(...)` in the words: no question when the head only prints, looks or tests, and it stands at the top."""
        holders = [word for word in simple.words if word.substitution]
        if not holders:
            return
        exempt = base_name(simple.words[0]) in READ_ONLY and self._depth == 0 and not simple.words[0].substitution
        if not exempt:
            self.say("substitution", "confirm", (holders[0].start, holders[0].end), *DECIDES)

    def _unknown(self, call: Call, word: Word) -> None:
        rest = call.words[1:]
        if not word.known or not all(word.values):
            self.say("command.unknown", "confirm", (word.start, word.end), *UNKNOWN_PROGRAM)
        for value in word.values:
            if value and UNKNOWN not in value:
                self._guess(call, word, value)
        inner = call.inner(rest)  # an empty expansion leaves the rest; a program that is not known may start it
        if inner is not None:
            self.call(inner)

    def _guess(self, call: Call, word: Word, value: str) -> None:
        guess = Word(value, (value,), known=True, start=word.start, end=word.end)
        self.call(Call(base_name(guess), (guess, *call.words[1:]), call.simple, call.depth + 1, call.piped))

    def _head(self, word: Word, call: Call) -> None:
        span = (word.start, word.end)
        if word.ansi:
            self.say("command.hidden", "confirm", span, "the program's name is written with escapes", "程序名以转义形式书写")
        if CONFUSABLE.search(call.name):
            self.say("command.confusable", "confirm", span, "the program's name has letters that look like others", "程序名含易混淆字符")
        if word.globs and call.name != "[":
            self.say("command.unknown", "confirm", span, *UNKNOWN_PROGRAM)
            for name in HANDLERS.keys() | BY_PROGRAM.keys():
                if fnmatchcase(name, call.name):
                    self._guess(call, word, name)
        if call.name.startswith("="):
            self.say("command.unknown", "confirm", span, "another shell's way to name a program", "其他 shell 的程序名写法")

    def _wrapped(self, name: str, call: Call) -> None:
        wrapper = WRAPPERS[name]
        if wrapper.level != "allow" and name not in PRIVILEGE:
            self.say("wrapper", wrapper.level, call.span, f"{name} changes how a program runs", f"{name} 会改变程序的运行方式")
        inner = unwrap(wrapper, list(call.args))
        for word in inner.assigned:
            key, _, value = (word.value or "").partition("=")
            assigned(self, key, Word(value, (value,), known=True, start=word.start, end=word.end), whole=False)
        if wrapper.joined and inner.words:
            for line in lines(inner.words):
                self.shell(line, call.span)
        if inner.words and inner.words[0].value is None and not inner.words[0].values:
            self.say("command.unknown", "confirm", call.span, *UNKNOWN_PROGRAM)
        starts = range(min(len(call.args), 8)) if inner.doubtful else ()
        self._inner(call, inner.words)
        for index in starts:
            if call.args[index].value and not (call.args[index].value or "-").startswith("-"):
                self._inner(call, list(call.args[index:]))

    def _inner(self, call: Call, words: list[Word]) -> None:
        found = call.inner(words)
        if found is not None:
            self.call(found)

    def _doubt(self, name: str, call: Call) -> None:
        """A program that nothing is known of, followed by what would be denied on its own: it may be a launcher."""
        if name in QUOTES or name in HANDLERS or name in BY_PROGRAM or self._probing:
            return
        for index in range(min(len(call.args) - 1, 6)):
            if base_name(call.args[index]) not in STARTED_BY_OTHERS:
                continue
            level = self._probe(call, index)
            own_script = "/" in (call.words[0].value or "")
            if level == "deny" or (level == "confirm" and not own_script):
                self.say(
                    "wrapper.unknown", "confirm", call.span, "may start what would be asked about on its own", "可能会启动需要确认的命令"
                )
                return

    def _probe(self, call: Call, index: int) -> Level:
        """What the words from `index` on would be worth as a command."""
        probe = Judge(self.context)
        probe.bases, probe._probing, probe._depth = list(self.bases), True, self._depth  # its own kind
        probe._inner(call, list(call.args[index:]))
        severest: Level = "allow"
        for found in probe.reasons.values():
            severest = max(severest, found.severity, key=SEVERITY.__getitem__)
        return severest

    def _note(self, call: Call) -> None:
        if len(self.commands) < MAX_SEGMENTS * 2:
            span = self._span or call.span
            argv = tuple(word.value for word in call.words)
            self.commands.append(Command(argv, " ".join(word.text for word in call.words)[:500], *span))


def check(command: str, context: Context) -> Verdict:
    """The verdict on `command` if bash ran it in `context`. Pure; linear in the length of the command; never raises."""
    judge = Judge(context)
    judge.text(command)
    reasons = sorted(judge.reasons.values(), key=lambda found: (-SEVERITY[found.severity], found.start, found.rule))
    level: Level = reasons[0].severity if reasons else "allow"
    return Verdict(level, tuple(reasons), tuple(judge.commands), POLICY_VERSION)
