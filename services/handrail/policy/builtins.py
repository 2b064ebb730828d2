"""Builtins that run text or change what later commands mean."""

from __future__ import annotations

import re

from handrail.policy import shells
from handrail.policy.assignments import assigned
from handrail.policy.call import Bench, Call, lines
from handrail.policy.words import Word


def _start(bench: Bench, made: Call, words: list[Word]) -> None:
    found = made.inner(words)
    if found is not None:
        bench.call(found)


def evaluated(bench: Bench, made: Call) -> None:
    """`eval TEXT...`."""
    for line in lines(made.args):
        bench.shell(line, made.span)
    _start(bench, made, list(made.args))
    for word in made.args:
        if not word.known:
            shells.unseen(bench, word)


def trapped(bench: Bench, made: Call) -> None:
    """`trap TEXT SIGNAL...`."""
    for value in made.args[0].values if made.args else ():
        bench.shell(value, made.span)


def alias(bench: Bench, made: Call) -> None:
    """`alias NAME=TEXT...`."""
    for word in made.args:
        for value in word.values:
            bench.shell(value.partition("=")[2], made.span)


def sourced(bench: Bench, made: Call) -> None:
    """`source FILE`."""
    if made.args:
        shells.script(bench, made, made.args[0])


def command(bench: Bench, made: Call) -> None:
    """`command [-pvV] [--] NAME`: with v or V it only tells what NAME is."""
    texts = made.texts()
    count = next((index for index, text in enumerate(texts) if not re.fullmatch(r"-[pvV]+", text)), len(texts))
    if not any("v" in text.lower() for text in texts[:count]):
        _start(bench, made, list(made.args[count + (texts[count : count + 1] == ["--"]) :]))


def called_back(bench: Bench, made: Call) -> None:
    """`mapfile -C`, `complete -F`: text that runs later."""
    if {"-C", "-F"} & set(made.texts()):
        bench.say("state.builtin", "confirm", made.span, "runs a command later", "稍后会执行命令")


def hashed(bench: Bench, made: Call) -> None:
    """`hash -p FILE NAME`."""
    if "-p" in made.texts():
        bench.say("state.builtin", "confirm", made.span, "changes which program a name means", "改变名称对应的程序")


def printf(bench: Bench, made: Call) -> None:
    """`printf -v NAME` assigns."""
    texts = made.texts()
    if "-v" in texts[:-1]:
        assigned(bench, texts[texts.index("-v") + 1], None, whole=True)


def declared(bench: Bench, made: Call) -> None:
    """`declare -n NAME=OTHER`."""
    for text in made.texts():
        if text.startswith("-") and "n" in text:
            bench.say("state.builtin", "confirm", made.span, "a name that stands for another one", "指向其他变量的名称引用")
