"""Programs that run source text of a language: Python, Node, Perl, Ruby and their like."""

from __future__ import annotations

import re

from handrail.policy.call import Bench, Call
from handrail.policy.paths import names_own_data
from handrail.policy.shell.ansi import decode
from handrail.policy.shells import script, stdin, unseen
from handrail.policy.words import Word
from handrail.policy.words_of_code import FAMILIES, FETCHING, FORKS, HIDING, LOOPS, REMOVING, STARTING, WRITING

# program -> options whose value is source text; `(?P<text>...)` when it may be attached
PYTHON = re.compile(r"-[bBdEhiIOqsSuvVx]*c(?P<text>.*)|--command=(?P<more>.*)", re.DOTALL)
PERL = re.compile(r"-(?:[acflnpsStuUwWX0-7]*)[eE](?P<text>.*)", re.DOTALL)
NODE = re.compile(r"-e|-p|-pe|--eval|--print|(?:--eval|--print)=(?P<text>.*)", re.DOTALL)
DASH_E = re.compile(r"-e(?P<text>.*)|-E|--eval|--expression", re.DOTALL)
INLINE: dict[str, re.Pattern[str]] = {
    **dict.fromkeys("python python2 python3 pypy pypy3 python3.10 python3.11 python3.12 python3.13 python3.14 ipython".split(), PYTHON),
    **dict.fromkeys("perl ruby irb".split(), PERL),
    **dict.fromkeys("node nodejs bun tsx ts-node".split(), NODE),
    **dict.fromkeys("lua luajit rscript osascript groovy scala julia elixir ghc guile racket sbcl clojure".split(), DASH_E),
    "php": re.compile(r"-[rRBE](?P<text>.*)|--run", re.DOTALL),
    "deno": re.compile(r"eval"),
}
LOADS = frozenset({"-r", "--require", "--import", "-C", "--loader", "--experimental-loader"})
ASKS_ITSELF = ("--version", "-V", "-v", "--help", "-h", "--test")
PERL_MODULES = re.compile(
    r"-M(?:strict|warnings|utf8|feature\b.*|open\b.*|5\.\d+|List::Util\b.*|Data::Dumper|JSON::PP\b.*|Time::\w+\b.*|Text::\w+|Encode\b.*|bigint|integer)\Z"
)
MAX_JOINED = 8
MAX_STRINGS = 40
QUOTE = re.compile("['\"`]")
CODE_RULES = (
    (REMOVING, "code.removes", "the code removes files", "代码会删除文件"),
    (FETCHING, "code.network", "the code opens network connections", "代码会发起网络连接"),
    (HIDING, "code.hides", "the code decodes what it runs or writes", "代码含编码内容"),
)


def inline(bench: Bench, made: Call) -> None:
    """`python -c`, `node -e` and their like; a program without a script reads its standard input."""
    pattern = INLINE[made.name]
    words = list(made.args)
    for index, word in enumerate(words):
        value = word.value
        if value is None:
            if word.substitution or not word.text.startswith(("$@", '"$@')):
                unseen(bench, word)
            return
        if pattern is PERL and value[:2] in ("-M", "-m", "-I") and not PERL_MODULES.match(value):
            bench.say("code.loads", "confirm", made.span, "loads a module before the script", "在脚本之前加载模块")
        match = pattern.fullmatch(value)
        if match is not None:
            attached = next((text for text in match.groupdict().values() if text), None)
            _found(bench, made, word, attached, words[index + 1 :])
            return
        if pattern is PYTHON and value == "-m":
            _module(bench, made, words[index + 1 :])
            return
        if value in LOADS and pattern is NODE:
            bench.say("code.loads", "confirm", made.span, "loads a module before the script", "在脚本之前加载模块")
        if value == "-":
            break
        if not value.startswith("-"):
            script(bench, made, word)
            return
        if value in ASKS_ITSELF:
            return
    stdin(bench, made)


def _found(bench: Bench, made: Call, word: Word, attached: str | None, rest: list[Word]) -> None:
    if attached is not None:
        program(bench, attached, (word.start, word.end), made.name)
    elif rest:
        for text in rest[0].values:
            program(bench, text, (rest[0].start, rest[0].end), made.name)
        if not rest[0].known or rest[0].substitution:
            unseen(bench, rest[0])


def _module(bench: Bench, made: Call, rest: list[Word]) -> None:
    """`python -m NAME ...` is the program NAME for the rules that know one."""
    if rest and rest[0].value in ("pip", "pipx", "ensurepip"):
        found = made.inner(rest)
        if found is not None:
            bench.call(found)


def program(bench: Bench, text: str, span: tuple[int, int], name: str) -> None:
    """Source text of a scripting language, run by program `name`: what it starts, removes, fetches or hides."""
    literals = strings(text)
    if names_own_data(text, bench.context):
        bench.say("own_data", "deny", span, "touches the service's own data", "触及服务自身的数据")
    if FORKS.search(text) and LOOPS.search(text):
        bench.say("bomb", "deny", span, "fork bomb", "fork 炸弹")
    if STARTING[FAMILIES.get(name, "other")].search(text):
        for index, found in enumerate(literals):
            bench.shell(found, span)
            if index < MAX_JOINED and len(literals) > index + 1:
                bench.shell(" ".join(literals[index:]), span)
        bench.say("code.starts", "confirm", span, "the code starts other programs", "代码会启动其他程序")
    for pattern, rule, en, zh in CODE_RULES:
        if pattern.search(text):
            bench.say(rule, "confirm", span, en, zh)
    removes, writes = REMOVING.search(text) is not None, WRITING.search(text) is not None
    for found in literals:
        if found[:1] in "/~.":
            bench.code_path(found, span, removes=removes, writes=writes)


def strings(text: str) -> list[str]:
    """The first string literals of a source text, read once from left to right; escapes are decoded."""
    found: list[str] = []
    position = 0
    while len(found) < MAX_STRINGS and (match := QUOTE.search(text, position)) is not None:
        mark, start = match[0], match.end()
        position = start
        while position < len(text) and text[position] != mark:
            position += 2 if text[position] == "\\" else 1
        if position > start:
            found.append(decode(text[start:position]))
        position += 1
    return found
