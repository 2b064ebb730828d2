"""Programs that start others in a way of their own: env -S, xargs, parallel, ssh, su, tar, rsync, make and their like."""

from __future__ import annotations

import re

from handrail.policy.assignments import assigned
from handrail.policy.call import Bench, Call, behind_options, lines, literal, long_option, long_options, operands, short_flags
from handrail.policy.paths import absolute
from handrail.policy.shells import printed
from handrail.policy.words import Word
from handrail.policy.wrappers import ASSIGNMENT

XARGS_VALUES = frozenset(
    {
        "-a",
        "-d",
        "-E",
        "-I",
        "-L",
        "-n",
        "-P",
        "-s",
        "--arg-file",
        "--delimiter",
        "--replace",
        "--max-args",
        "--max-procs",
        "--max-lines",
        "--max-chars",
    }
)
FLOCK_VALUES = frozenset({"-w", "-E", "--timeout", "--wait", "--conflict-exit-code"})
MAX_GIVEN = 50  # words of a visible input that are followed
TAR_RUNS = ("to-command", "checkpoint-action", "use-compress-program", "rsh-command", "info-script", "new-volume-script", "rmt-command")
PARALLEL_VALUES = frozenset(
    {
        "-j",
        "-a",
        "-I",
        "-N",
        "-n",
        "-L",
        "-P",
        "-S",
        "--jobs",
        "--colsep",
        "-C",
        "--arg-file",
        "--delay",
        "--joblog",
        "--timeout",
        "--workdir",
    }
)
RUNS_OPTION: dict[str, tuple[str, ...]] = {
    "rg": ("pre", "hostname-bin"),
    "sort": ("compress-program",),
    "split": ("filter",),
    "zip": ("unzip-command",),
    "less": (),
    "man": ("pager", "html", "browser"),
    "column": (),
}


def env(bench: Bench, made: Call) -> None:
    """`env`: options, assignments, `-S` text, then a program."""
    words = list(made.args)
    index = 0
    while index < len(words):
        value = words[index].value
        if value is None:
            bench.say("launch.unknown", "confirm", made.span, "what is started is not known", "无法确定启动的程序")
            return
        if value in ("-S", "--split-string") or value.startswith(("-S", "--split-string=", "-vS", "-iS")):
            for line in lines(words[index:]):
                bench.shell(re.sub(r"\A-+(?:[vi]*S|split-string=?)\s*", "", line), made.span)
            return
        if value in ("-u", "-C", "--unset", "--chdir", "--argv0", "-a"):
            if value in ("-C", "--chdir") and index + 1 < len(words):
                bench.bases = [path for given in words[index + 1].values if given for path in absolute(given, bench.bases)] or bench.bases
            index += 2
        elif value.startswith("--chdir="):
            bench.bases = absolute(value.partition("=")[2], bench.bases)
            index += 1
        elif value == "--":
            index += 1
            break
        elif value.startswith("-"):
            index += 1
        elif ASSIGNMENT.match(value):
            name, _, text = value.partition("=")
            assigned(bench, name, literal(text, words[index]), whole=False)
            index += 1
        else:
            break
    _start(bench, made, words[index:])


def xargs(bench: Bench, made: Call) -> None:
    """`xargs`: the program gets more arguments than can be seen."""
    words = list(made.args)
    index = 0
    while index < len(words):
        value = words[index].value or ""
        if not value.startswith("-"):
            break
        index += 2 if value in XARGS_VALUES else 1
    rest = words[index:] or [literal("echo", made.words[0])]  # what xargs runs when nothing is named
    _start(bench, made, rest, piped=True)
    mark = next((words[at + 1].value for at, word in enumerate(words[:-1]) if word.value in ("-I", "--replace")), None)
    mark = mark or next((text[2:] or "{}" for text in made.texts()[:index] if text.startswith(("-I", "-i"))), None)
    for given in _visible_input(made):
        if mark is None:
            _start(bench, made, [*rest, *given])
        else:
            replaced = [[_replaced(word, mark, item) for word in rest] for item in given]
            for inner in replaced:
                _start(bench, made, inner)


def _visible_input(made: Call) -> list[list[Word]]:
    """The words that a literal text on standard input becomes; nothing when it cannot be seen."""
    texts = list(made.simple.here)
    if len(made.simple.feeders) == 1:
        texts += printed(made.simple.feeders[0])
    return [
        [literal(item, made.words[0]) for item in re.split(r"[\s\x00\ufffd]+", text.strip())[:MAX_GIVEN]] for text in texts if text.strip()
    ]


def _replaced(word: Word, mark: str, item: Word) -> Word:
    return literal(word.value.replace(mark, item.values[0]), word) if word.value is not None and mark in word.value else word


def parallel(bench: Bench, made: Call) -> None:
    """GNU parallel: a shell template, fed from elsewhere."""
    words = list(made.args)
    index = 0
    while index < len(words) and (words[index].value or "").startswith("-"):
        index += 2 if words[index].value in PARALLEL_VALUES else 1
    rest = words[index:]
    stop = next((position for position, word in enumerate(rest) if word.value in (":::", "::::", ":::+")), len(rest))
    if rest[:stop]:
        for line in lines(rest[:stop]):
            bench.shell(line, made.span)
        _start(bench, made, [*rest[:stop], *rest[stop + 1 :]], piped=True)
    else:
        bench.say("launch.unknown", "confirm", made.span, "runs what another command prints", "执行另一命令的输出")


def shell_option(bench: Bench, made: Call) -> None:
    """su, script, flock, runuser, ssh-agent: `-c TEXT`, or a program after operands."""
    words = list(made.args)
    if made.name == "flock":  # its own options stand before the file, the command behind it
        words = words[behind_options(words, FLOCK_VALUES) + 1 :]
        if words and words[0].value not in ("-c", "--command"):
            _start(bench, made, words)
            return
    for index, word in enumerate(words):
        value = word.value or ""
        if value in ("-c", "--command", "-qc", "-lc", "--session-command") and index + 1 < len(words):
            for text in words[index + 1].values:
                bench.shell(text, (words[index + 1].start, words[index + 1].end))
            if not words[index + 1].known:
                bench.say("launch.unknown", "confirm", made.span, "what is started is not known", "无法确定启动的程序")
            return
        if value.startswith("--command="):
            bench.shell(value.partition("=")[2], (word.start, word.end))
            return


def ssh(bench: Bench, made: Call) -> None:
    """ssh, scp, sftp: commands that run here (ProxyCommand, LocalCommand) and there."""
    words = list(made.args)
    values = frozenset(
        {"-o", "-i", "-p", "-P", "-l", "-F", "-L", "-R", "-D", "-b", "-c", "-E", "-e", "-I", "-J", "-m", "-Q", "-S", "-W", "-w", "-B"}
    )
    for index, word in enumerate(words):
        option = (
            words[index + 1].values
            if word.value == "-o" and index + 1 < len(words)
            else ((word.value or "")[2:],)
            if (word.value or "").startswith("-o")
            else ()
        )
        for text in option:
            found = re.match(
                r"\s*(?:proxycommand|localcommand|knownhostscommand|proxyusefdpass)\s*[= ]\s*(.*)", text, re.IGNORECASE | re.DOTALL
            )
            if found:
                bench.shell(found[1], made.span)
    if made.name == "ssh":
        rest = words[behind_options(words, values) + 1 :]
        for line in lines(rest) if rest else ():
            bench.shell(line, made.span)


def editor(bench: Bench, made: Call) -> None:
    """Vim and its kin: `-c ':!command'` and `+!command`."""
    for text in made.texts():
        mark = text.find("!")
        if mark >= 0:
            bench.shell(text[mark + 1 :], made.span)
            bench.say("launch.option", "confirm", made.span, f"{made.name} starts a program", f"{made.name} 会启动程序")


def database(bench: Bench, made: Call) -> None:
    """sqlite3, psql, mysql: their own commands that start a shell."""
    for text in [*made.texts(), *made.simple.here]:
        found = re.search(r"\.(?:shell|system)\b(.*)|\\!(.*)|\bcopy\b[^;]{0,500}\bprogram\b(.*)", text, re.IGNORECASE)
        if found is not None:
            bench.shell((found[1] or found[2] or found[3] or "").strip(" '\""), made.span)
            bench.say("launch.option", "confirm", made.span, f"{made.name} starts a program", f"{made.name} 会启动程序")


def rsync(bench: Bench, made: Call) -> None:
    """rsync: the remote shell is a command that runs here."""
    texts = made.texts()
    found = long_option(texts, "rsh") or (texts[texts.index("-e") + 1] if "-e" in texts[:-1] else None)
    if found:
        bench.shell(found, made.span)
    if long_option(texts, "delete", 6) is not None:
        bench.say("remove.rsync", "confirm", made.span, "deletes what the source does not have", "删除源中不存在的文件")


def tar(bench: Bench, made: Call) -> None:
    """tar: options that start programs; abbreviations count."""
    texts = made.texts()
    for option, found in [(name, value) for name in TAR_RUNS for value in long_options(texts, name, 4)]:
        text = found.partition("=")[2] if found.startswith("exec=") else found
        if option == "use-compress-program" and re.fullmatch(r"(?:gzip|bzip2|xz|zstd|pigz|lz4|lzip|pbzip2|pixz)(?: -[\w=]+)*", text):
            continue
        if option == "checkpoint-action" and not found.startswith("exec"):
            continue
        bench.shell(text, made.span)
        bench.say("launch.option", "confirm", made.span, f"--{option} starts a program", f"--{option} 会启动程序")
    for index, text in enumerate(texts[:-1]):
        if text in ("-I", "-F") or (re.fullmatch(r"-[a-zA-Z]*I", text) and index < len(texts) - 1):
            inner = texts[index + 1]
            if not re.fullmatch(r"(?:gzip|bzip2|xz|zstd|pigz|lz4|lzip|pbzip2|pixz)(?: -[\w=]+)*", inner):
                bench.shell(inner, made.span)
                bench.say("launch.option", "confirm", made.span, "tar starts a program", "tar 会启动程序")


def options_that_run(bench: Bench, made: Call) -> None:
    """Search and text tools with an option that starts a program."""
    texts = made.texts()
    for option in RUNS_OPTION[made.name]:
        found = long_option(texts, option, 2 if option == "pre" else 4)
        if found is not None and not found.startswith("glob"):
            bench.shell(found, made.span)
            bench.say("launch.option", "confirm", made.span, f"--{option} starts a program", f"--{option} 会启动程序")
    flags = short_flags(texts)
    wanted = {
        "zip": ("TT" in "".join(texts)),
        "man": bool({"P", "H"} & flags),
        "less": any(text.startswith("+") and "!" in text for text in texts),
    }
    if wanted.get(made.name):
        for text in texts:
            bench.shell(text.lstrip("+!"), made.span)
        bench.say("launch.option", "confirm", made.span, f"{made.name} starts a program", f"{made.name} 会启动程序")


def fd(bench: Bench, made: Call) -> None:
    """fd: -x and -X start a program for what is found."""
    words = list(made.args)
    for index, word in enumerate(words):
        if word.value in ("-x", "-X", "--exec", "--exec-batch"):
            roots = operands(words[:index])[1:]  # the first one is the pattern
            _start(bench, made, [*words[index + 1 :], *roots], piped=True)
            return


def make(bench: Bench, made: Call) -> None:
    """make: a makefile from standard input or text, another shell."""
    texts = made.texts()
    if (
        ("-f" in texts[:-1] and texts[texts.index("-f") + 1] in ("-", "/dev/stdin"))
        or "-f-" in texts
        or any(text.startswith("--eval") for text in texts)
    ):
        evaluated = [text.partition("=")[2].partition(":")[2] for text in texts if text.startswith("--eval=")]
        evaluated += [texts[index + 1].partition(":")[2] for index, text in enumerate(texts[:-1]) if text == "--eval"]
        for line in [line for text in [*made.simple.here, *evaluated] for line in re.split(r"[\n;]", text)]:
            bench.shell(line.strip().lstrip("@-+"), made.span)
        bench.say(
            "code.unknown", "confirm", made.span, "runs a makefile that is not a file of the project", "执行不在项目文件中的 makefile"
        )
    if any(re.match(r"(?:SHELL|MAKEFLAGS|\.SHELLFLAGS)=", text) for text in texts):
        bench.say("launch.option", "confirm", made.span, "make uses another shell", "make 使用其他 shell")


def _start(bench: Bench, made: Call, words: list[Word], *, piped: bool = False) -> None:
    found = made.inner(words, piped=piped)
    if found is not None:
        bench.call(found)
