"""Shells: `-c` text, standard input, scripts. Text that is visible is judged; a download is never run."""

from __future__ import annotations

import re

from handrail.policy.call import Bench, Call, lines
from handrail.policy.facts import Simple
from handrail.policy.shell.ansi import decode
from handrail.policy.words import Word

SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash", "csh", "tcsh"})
DOWNLOADS = frozenset(
    {"curl", "wget", "fetch", "aria2c", "http", "https", "xh", "lynx", "nc", "ncat", "netcat", "iwr", "invoke-webrequest"}
)
PRINTERS = frozenset({"echo", "printf"})
SHELL_VALUES = frozenset({"--rcfile", "--init-file"})
OTHER_SHELLS = frozenset({"zsh", "fish", "csh", "tcsh"})
STANDARD_INPUT = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
FETCHES = re.compile(rf"(?<![\w.-])(?:{'|'.join(sorted(DOWNLOADS))})\b|\bgit\s+clone\b")
NOT_KNOWN = ("what the shell runs is not known", "无法确定 shell 执行的内容")
DOWNLOADED = ("runs what was downloaded", "执行下载的内容")


def shell(bench: Bench, made: Call) -> None:
    """A shell: `-c` text, standard input, or a script of the project."""
    words = list(made.args)
    index, text, standard_input = 0, False, False
    while index < len(words):
        value = words[index].value
        if value is None:
            script(bench, made, words[index])
            bench.say("shell.unknown", "confirm", made.span, *NOT_KNOWN)
            payload(bench, made, words[index:])
            return
        if value in ("--rcfile", "--init-file"):
            bench.say("shell.rc", "confirm", made.span, "the shell loads a start-up file", "shell 会加载启动文件")
        if value[:1] not in ("-", "+") or value == "-":
            break
        index += 1
        if value == "--":
            break
        if value.startswith("--"):
            index += value in SHELL_VALUES
            continue
        text = text or ("c" in value and value[0] == "-")
        standard_input = standard_input or "s" in value
        index += sum(letter in "oO" for letter in value[1:])
    if text:
        payload(bench, made, words[index:])
    elif index < len(words) and not standard_input and words[index].value not in STANDARD_INPUT:
        script(bench, made, words[index])
    elif not (made.texts() and set(made.texts()) <= {"--version", "--help"}):
        stdin(bench, made)


def payload(bench: Bench, made: Call, rest: list[Word]) -> None:
    """The text after `-c`, and what it gets as $0, $1 ..."""
    if made.piped or not rest:
        if fed_by_download(made.simple):
            bench.say("pipe.download", "deny", made.span, *DOWNLOADED)
        bench.say("shell.unknown", "confirm", made.span, *NOT_KNOWN)
    if not rest:
        return
    if made.name in OTHER_SHELLS:
        bench.say("shell.other", "confirm", made.span, "another shell, whose grammar is not followed", "使用语法未被跟踪的其他 shell")
    for value in rest[0].values:
        bench.shell(value, (rest[0].start, rest[0].end), rest[1:])
    if not rest[0].known or rest[0].substitution:
        unseen(bench, rest[0])


def unseen(bench: Bench, word: Word) -> None:
    """Code that is made at run time: by a download it is never run."""
    if word.substitution and FETCHES.search(word.text):
        bench.say("pipe.download", "deny", (word.start, word.end), *DOWNLOADED)
    bench.say("shell.unknown", "confirm", (word.start, word.end), *NOT_KNOWN)


def script(bench: Bench, made: Call, word: Word) -> None:
    """A script file: the project's own runs; standard input and a process substitution are judged by what feeds them."""
    if word.value in STANDARD_INPUT:
        stdin(bench, made)
    elif word.substitution:
        unseen(bench, word)


def stdin(bench: Bench, made: Call) -> None:
    """The program reads code from its standard input: judged by who writes it."""
    simple = made.simple
    sources = [redirect.target for redirect in simple.redirects if redirect.operator == "<"]
    if fed_by_download(simple) or any(word.substitution and FETCHES.search(word.text) for word in sources):
        bench.say("pipe.download", "deny", made.span, *DOWNLOADED)
        return
    seen = list(simple.here)
    for feeder in simple.feeders:
        seen.extend(printed(feeder))
    for text in seen:
        bench.source(made, text)
    plain_file = bool(sources) and not any(word.substitution or not word.known for word in sources) and not simple.feeders
    if simple.here_substitution or len(simple.feeders) > 1 or not (seen or plain_file):
        bench.say("shell.stdin", "confirm", made.span, "runs code from standard input that is not visible", "执行来自标准输入的不可见代码")


def from_input(bench: Bench, made: Call) -> None:
    """at, batch: a shell runs their standard input later."""
    stdin(bench, made)


def printed(feeder: Simple) -> list[str]:
    """The literal text that a command prints, where that is plain."""
    name = (feeder.words[0].value or "").rsplit("/", 1)[-1] if feeder.words else ""
    if name in ("cat", "tee") and feeder.here:
        return list(feeder.here)
    if name not in PRINTERS or not all(word.values for word in feeder.words):
        return []
    texts = [word.values[0] for word in feeder.words[1:]]
    if name == "echo":
        found = [re.sub(r"\A(?:-[neE]+ +)+", "", line) for line in lines(feeder.words[1:])]
        return [*found, *(decode(line) for line in found if "\\" in line)]
    return [_printf(decode(texts[0]), texts[1:])] if texts else []


def _printf(template: str, values: list[str]) -> str:
    """What printf prints: the template is used again until the values are used up."""
    holes = max(1, len(re.findall(r"%[^%]", template)))
    out: list[str] = []
    for start in range(0, min(max(len(values), 1), 64), holes):
        batch = iter(values[start : start + holes])
        out.append(re.sub(r"%(%|[-+ #0\d.*]*[a-zA-Z])", lambda found: "%" if found[1] == "%" else next(batch, ""), template))  # noqa: B023  # used at once
    return "".join(out)


def fed_by_download(simple: Simple) -> bool:
    """Whether something before it in the pipe downloads."""
    for feeder in simple.feeders:
        names = [(word.value or "").rsplit("/", 1)[-1].lower() for word in feeder.words]
        if any(name in DOWNLOADS for name in names[:6]) or names[:2] == ["git", "clone"]:
            return True
    return False
