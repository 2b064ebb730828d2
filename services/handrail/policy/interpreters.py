"""Programs that run text as code: shells, Python, Node, Perl, awk, sed and their like. Text that is visible is judged."""

from __future__ import annotations

import base64
import binascii
import re

from handrail.policy.call import Bench, Call, long_option, operands
from handrail.policy.facts import Simple
from handrail.policy.shell.ansi import decode
from handrail.policy.words import Word

SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash", "csh", "tcsh", "busybox-sh"})
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

# program -> options whose value is code
INLINE: dict[str, tuple[str, ...]] = {
    "python": ("-c",), "python2": ("-c",), "python3": ("-c",), "pypy": ("-c",), "pypy3": ("-c",), "node": ("-e", "-p", "--eval", "--print", "-pe"),
    "nodejs": ("-e", "-p", "--eval", "--print"), "deno": ("eval",), "bun": ("-e", "--eval"), "perl": ("-e", "-E", "-ne", "-pe", "-le", "-ane", "-lne"),
    "ruby": ("-e", "-ne", "-pe"), "php": ("-r", "-R", "-B", "-E"), "lua": ("-e",), "luajit": ("-e",), "rscript": ("-e",), "osascript": ("-e",),
    "groovy": ("-e",), "scala": ("-e",), "julia": ("-e", "-E"), "elixir": ("-e",), "ghc": ("-e",), "jshell": (),
}  # fmt: skip
STARTS = re.compile(
    r"\b(?:system|popen|popen2|spawn\w*|exec\w*|subprocess|check_output|check_call|Popen|pty|child_process|shell_exec|passthru|proc_open|backtick|qx"
    r"|eval|compile|__import__|getattr|Kernel|Open3|IO\.popen|ctypes|posix)\b|\$\(|%x[{(\[]"
)
REMOVES = re.compile(
    r"\b(?:rmtree|rmSync|rmdirSync|unlinkSync|unlink|removeSync|rm_rf|rm_r|remove_dir|os\.remove|rmdir|FileUtils\.rm|fs\.rm|truncate)\b"
)
NETWORK = re.compile(
    r"\b(?:urllib\w*|requests|httpx|socket|http\.get|https\.get|fetch|XMLHttpRequest|Net::HTTP|LWP|urlopen|ftplib|paramiko|smtplib|net\.connect)\b"
)
HIDES = re.compile(r"\b(?:base64|b64decode|fromCharCode|codecs|marshal|zlib|unhexlify|fromhex|atob|pack|rot13)\b")
WRITES_FILES = re.compile(r"['\"][wax]b?\+?['\"]|\bwrite\w*\b|\bappendFile\w*|file_put_contents|copy\w*|rename\w*|symlink\w*")
MAX_JOINED = 8
CODE_RULES = (
    (REMOVES, "code.removes", "the code removes files", "代码会删除文件"),
    (NETWORK, "code.network", "the code opens network connections", "代码会发起网络连接"),
    (HIDES, "code.hides", "the code decodes what it runs or writes", "代码含编码内容"),
)
STRINGS = re.compile(r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`""", re.DOTALL)


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
    """The program reads code from its standard input: who writes it?"""
    simple = made.simple
    sources = [redirect.target for redirect in simple.redirects if redirect.operator == "<"]
    if fed_by_download(simple) or any(word.substitution and FETCHES.search(word.text) for word in sources):
        bench.say("pipe.download", "deny", made.span, *DOWNLOADED)
        return
    seen = list(simple.here)
    for feeder in simple.feeders:
        seen.extend(printed(feeder))
    for text in seen:
        code(bench, made, text, made.span)
    plain_file = bool(sources) and not any(word.substitution or not word.known for word in sources) and not simple.feeders
    if simple.here_substitution or len(simple.feeders) > 1 or not (seen or plain_file):
        bench.say("shell.stdin", "confirm", made.span, "runs code from standard input that is not visible", "执行来自标准输入的不可见代码")


def printed(feeder: Simple) -> list[str]:
    """The literal text that a command prints, where that is plain."""
    name = (feeder.words[0].value or "").rsplit("/", 1)[-1] if feeder.words else ""
    if name in ("cat", "tee") and feeder.here:
        return list(feeder.here)
    if name not in PRINTERS or not all(word.values for word in feeder.words):
        return []
    texts = [word.values[0] for word in feeder.words[1:]]
    if name == "echo":
        while texts and re.fullmatch(r"-[neE]+", texts[0]):
            texts = texts[1:]
        joined = " ".join(texts)
        return [joined, decode(joined)] if "\\" in joined else [joined]
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


def code(bench: Bench, made: Call, text: str, span: tuple[int, int]) -> None:
    """Text that the program of this call runs."""
    if made.name in SHELLS:
        bench.shell(text, span)
    else:
        program(bench, text, span)


def inline(bench: Bench, made: Call) -> None:
    """`python -c`, `node -e` and their like; a program without a script reads its standard input."""
    options = INLINE[made.name]
    words = list(made.args)
    script_seen = False
    for index, word in enumerate(words):
        value = word.value
        if value is None:
            unseen(bench, word)
            return
        hit = next(
            (
                option
                for option in options
                if value == option
                or (
                    len(option) == 2
                    and not option.startswith("--")
                    and value.startswith(option)
                    and len(value) > 2
                    and made.name.startswith(("python", "perl", "ruby"))
                )
            ),
            None,
        )
        if hit is not None:
            follow = words[index + 1] if value == hit else None
            for found in follow.values if follow is not None else (value[2:],):
                program(bench, found, (word.start, (follow or word).end))
            if follow is not None and (not follow.known or follow.substitution):
                unseen(bench, follow)
            return
        if made.name.startswith("python") and value == "-m":
            _module(bench, made, words[index + 1 :])
            return
        if value in ("-r", "--require", "--import", "-C", "--loader") and made.name.startswith("node"):
            bench.say("code.loads", "confirm", made.span, "loads a module before the script", "在脚本之前加载模块")
        if not value.startswith("-"):
            script_seen = True
            script(bench, made, word)
            return
        if value == "-":
            break
    if not script_seen and not any((word.value or "").startswith(("--version", "-V", "-v", "--help", "-h")) for word in words):
        stdin(bench, made)


def _module(bench: Bench, made: Call, rest: list[Word]) -> None:
    """`python -m NAME ...` is the program NAME for the rules that know one."""
    if rest and rest[0].value in ("pip", "pipx", "ensurepip"):
        found = made.inner(rest)
        if found is not None:
            bench.call(found)


def program(bench: Bench, text: str, span: tuple[int, int]) -> None:
    """Source text of a scripting language: what it starts, removes, fetches or hides."""
    literals = [next(part for part in match if part) for match in STRINGS.findall(text) if any(match)][:40]
    starts = STARTS.search(text) or ("`" in text and re.search(r"(?:^|[=(\s;])`", text) and "console" not in text)
    if starts:
        for index, found in enumerate(literals):
            bench.shell(found, span)
            if index < MAX_JOINED and len(literals) > index + 1:
                bench.shell(" ".join(literals[index:]), span)
        bench.say("code.starts", "confirm", span, "the code starts other programs", "代码会启动其他程序")
    for pattern, rule, en, zh in CODE_RULES:
        if pattern.search(text):
            bench.say(rule, "confirm", span, en, zh)
    removes = REMOVES.search(text) is not None
    for found in literals:
        if found[:1] in "/~.":
            bench.code_path(found, span, removes=removes, writes=WRITES_FILES.search(text) is not None)


def awk(bench: Bench, made: Call) -> None:
    """awk: `system()`, pipes and files in the program text."""
    words = operands(made.args, frozenset({"-F", "-v", "-f", "--field-separator", "--assign", "--file"}))
    if long_option(made.texts(), "load") is not None or "-l" in made.texts():
        bench.say("code.loads", "confirm", made.span, "loads an extension", "加载扩展")
    if "-f" in made.texts() or not words:
        return
    for text in words[0].values:
        if re.search(r"system\s*\(|\|\s*getline|\|\s*&?\s*\"|\"\s*\||\|\s*\w+\s*$", text) and re.search(
            r"system\s*\(|getline|\|\s*\"|\|&", text
        ):
            for match in STRINGS.findall(text):
                bench.shell(next((part for part in match if part), ""), (words[0].start, words[0].end))
            bench.say("code.starts", "confirm", made.span, "awk starts other programs", "awk 会启动其他程序")
        if re.search(r"print[^;}\n]*>+\s*[\"\w$]", text) and "/dev/std" not in text:
            bench.say("write.awk", "confirm", made.span, "awk writes files", "awk 会写入文件")
    if not words[0].known:
        bench.say("code.unknown", "confirm", made.span, "what awk runs is not known", "无法确定 awk 执行的内容")


def sed(bench: Bench, made: Call) -> None:
    """sed: the `e` command and flag start programs, `w` writes files."""
    texts = made.texts()
    if long_option(texts, "sandbox") is not None:
        return
    scripts = [texts[index + 1] for index, text in enumerate(texts[:-1]) if text in ("-e", "--expression")] or [
        value for word in operands(made.args, frozenset({"-f", "--file"}))[:1] for value in word.values
    ]
    for text in scripts:
        if re.search(r"(?:^|[;\n{}]|\d|\$|/)\s*e(?:\s|$)", text) or re.search(
            r"s(.)(?:\\.|(?!\1).)*\1(?:\\.|(?!\1).)*\1[gpiImM0-9]*e", text
        ):
            bench.say("code.starts", "confirm", made.span, "sed starts other programs", "sed 会启动其他程序")
        if re.search(r"(?:^|[;\n{}]|\d|\$|/)\s*[wW]\s+\S", text) or re.search(
            r"s(.)(?:\\.|(?!\1).)*\1(?:\\.|(?!\1).)*\1[gpiImMe0-9]*w\s", text
        ):
            bench.say("write.sed", "confirm", made.span, "sed writes another file", "sed 会写入其他文件")


def powershell(bench: Bench, made: Call) -> None:
    """Powershell and pwsh: -Command text, -EncodedCommand decoded; both also by the words they show."""
    words = list(made.args)
    for index, word in enumerate(words):
        option = (word.value or "").lower().lstrip("-/")
        if (
            option
            and "encodedcommand".startswith(option)
            and option[0] == "e"
            and option != "ep"
            and option != "executionpolicy"[: len(option)]
        ):
            _encoded(bench, made, words[index + 1 :])
            return
        if option and "command".startswith(option):
            text = " ".join(value for rest in words[index + 1 :] for value in rest.values)
            _windows_text(bench, made, text)
            return
        if not (word.value or "-").startswith(("-", "/")):
            return
    if made.simple.feeders or made.simple.here:
        stdin(bench, made)


def _encoded(bench: Bench, made: Call, rest: list[Word]) -> None:
    bench.say("powershell.encoded", "confirm", made.span, "runs an encoded PowerShell script", "执行编码的 PowerShell 脚本")
    for value in rest[0].values if rest else ():
        try:
            text = base64.b64decode(value, validate=True).decode("utf-16-le")
        except (binascii.Error, UnicodeDecodeError, ValueError):
            continue
        _windows_text(bench, made, text)


def _windows_text(bench: Bench, made: Call, text: str) -> None:
    """A PowerShell or cmd line: close enough to a shell's for the rules that know its words."""
    if re.search(r"\b(?:iex|invoke-expression)\b", text, re.IGNORECASE) and re.search(
        r"\b(?:iwr|irm|curl|wget|invoke-webrequest|downloadstring)\b", text, re.IGNORECASE
    ):
        bench.say("pipe.download", "deny", made.span, "runs what was downloaded", "执行下载的内容")
    bench.shell(text, made.span)


def cmd(bench: Bench, made: Call) -> None:
    """`cmd /c TEXT`."""
    words = list(made.args)
    for index, word in enumerate(words):
        if (word.value or "").lower() in ("/c", "/k", "-c"):
            _windows_text(bench, made, " ".join(value for rest in words[index + 1 :] for value in rest.values))
            return
