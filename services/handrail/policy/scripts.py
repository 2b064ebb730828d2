"""awk and sed: small languages that can start programs and write files."""

from __future__ import annotations

import re

from handrail.policy.call import Bench, Call, long_option, long_options, operands
from handrail.policy.paths import names_own_data
from handrail.policy.shells import STANDARD_INPUT, stdin
from handrail.policy.words import Word

AWK_VALUES = frozenset({"-F", "-v", "-f", "--field-separator", "--assign", "--file", "-i", "-E", "-e", "--source"})
SED_VALUES = frozenset({"-f", "--file", "-e", "--expression", "-l", "--line-length"})
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
AWK_STARTS = re.compile(r"\bsystem\s*\(|\|&?\s*getline\b|\|&?\s*[\"\w(]")
STATEMENT = re.compile(r"[;}\n]")
REGEX = re.compile(r"/(?:[^/\\\n]|\\.)*/")
SED_ADDRESS = re.compile(r"(?:[\d,$~+!; \t\n{}]|/(?:[^/\\\n]|\\.)*/[IM]*)*")
STARTS = ("code.starts", "confirm")


def awk(bench: Bench, made: Call) -> None:
    """awk: `system()`, pipes and files in the program text."""
    texts = made.texts()
    if long_option(texts, "load") is not None or "-l" in texts or "-i" in texts:
        bench.say("code.loads", "confirm", made.span, "loads an extension", "加载扩展")
    if _from_input(texts):
        stdin(bench, made)
    given = [text for option in ("source", "exec") for text in long_options(texts, option, 3)]
    given += [texts[index + 1] for index, text in enumerate(texts[:-1]) if text == "-e"]
    given += [text[2:] for text in texts if text.startswith("-e") and len(text) > len("-e")]
    for text in given:
        _awk_text(bench, made, made.words[0], text)
    words = operands(made.args, AWK_VALUES)
    if given or any(text.startswith(("-f", "--file", "-E", "--exec")) for text in texts) or not words:
        return
    for text in words[0].values:
        _awk_text(bench, made, words[0], text)
    if not words[0].known:
        bench.say("code.unknown", "confirm", made.span, "what awk runs is not known", "无法确定 awk 执行的内容")


def _awk_text(bench: Bench, made: Call, word: Word, text: str) -> None:
    plain = REGEX.sub("//", STRING.sub('""', text)).replace("||", "  ")
    literals = STRING.findall(text)[:40]
    if AWK_STARTS.search(plain):
        for found in literals:
            bench.shell(found, (word.start, word.end))
        bench.say(*STARTS, made.span, "awk starts other programs", "awk 会启动其他程序")
    if names_own_data(text, bench.context):
        bench.say("own_data", "deny", made.span, "touches the service's own data", "触及服务自身的数据")
    if _awk_writes(plain):
        for found in literals:
            if found.startswith(("/", "~", ".")):
                bench.code_path(found, (word.start, word.end), removes=False, writes=True)
        if not any(found in ("/dev/stderr", "/dev/stdout") for found in literals):
            bench.say("write.awk", "confirm", made.span, "awk writes files", "awk 会写入文件")


def _awk_writes(plain: str) -> bool:
    """Whether a statement has a `>` behind a print."""
    return any(0 <= statement.find("print") < statement.rfind(">") for statement in STATEMENT.split(plain))


def sed(bench: Bench, made: Call) -> None:
    """sed: the `e` command and flag start programs, `w` writes files."""
    texts = made.texts()
    if long_option(texts, "sandbox") is not None:
        return
    if _from_input(texts):
        stdin(bench, made)
    for text in _sed_scripts(made, texts):
        if names_own_data(text, bench.context):
            bench.say("own_data", "deny", made.span, "touches the service's own data", "触及服务自身的数据")
        for kind, argument in sed_effects(text):
            if kind == "e":
                bench.shell(argument, made.span)
                bench.say(*STARTS, made.span, "sed starts other programs", "sed 会启动其他程序")
            elif argument not in ("/dev/stdout", "/dev/stderr"):
                bench.code_path(argument, made.span, removes=False, writes=True)
                bench.say("write.sed", "confirm", made.span, "sed writes another file", "sed 会写入其他文件")


def _from_input(texts: list[str]) -> bool:
    """`-f -`: the script itself is read from standard input."""
    values = [texts[index + 1] for index, text in enumerate(texts[:-1]) if text in ("-f", "--file", "-E", "--exec")]
    values += [text.partition("=")[2] for text in texts if text.startswith(("--file=", "--exec="))]
    values += [text[2:] for text in texts if text.startswith("-f")]
    return any(value in STANDARD_INPUT for value in values)


def _sed_scripts(made: Call, texts: list[str]) -> list[str]:
    given = [
        texts[index + 1] for index, text in enumerate(texts[:-1]) if text in ("-e", "--expression") or re.fullmatch(r"-[nErsuz]+e", text)
    ]
    given += [text.partition("=")[2] for text in texts if text.startswith("--expression=")]
    given += [text[2:] for text in texts if text.startswith("-e") and len(text) > len("-e")]
    if given or "-f" in texts or any(text.startswith("--file") for text in texts):
        return given
    return [value for word in operands(made.args, SED_VALUES)[:1] for value in word.values]


def sed_effects(text: str) -> list[tuple[str, str]]:
    """("e", command) and ("w", file) of a sed script, read once from left to right."""
    found: list[tuple[str, str]] = []
    position = 0
    while position < len(text):
        match = SED_ADDRESS.match(text, position)
        position = match.end() if match is not None else position
        letter = text[position : position + 1]
        position += 1
        if letter in ("s", "y"):
            position = _substitution(text, position, letter, found)
        elif letter in ("e", "w", "W", "a", "i", "c", "r", "R"):
            end = text.find("\n", position)
            end = len(text) if end < 0 else end
            if letter in "ewW":
                found.append(("e" if letter == "e" else "w", text[position:end].strip()))
            position = end
        elif letter in ("b", "t", "T", ":", "q", "Q", "l", "L"):
            while position < len(text) and text[position] not in ";\n}":
                position += 1
        elif letter == "#":
            end = text.find("\n", position)
            position = len(text) if end < 0 else end
        elif letter == "\\":
            position = _delimited(text, position + 1, text[position : position + 1])
    return found


def _substitution(text: str, position: int, letter: str, found: list[tuple[str, str]]) -> int:
    mark = text[position : position + 1]
    position = _delimited(text, _delimited(text, position + 1, mark), mark)
    while letter == "s" and position < len(text) and text[position] not in ";\n} \t":
        flag = text[position]
        position += 1
        if flag == "e":
            found.append(("e", ""))
        elif flag == "w":
            end = text.find("\n", position)
            end = len(text) if end < 0 else end
            found.append(("w", text[position:end].strip()))
            return end
    return position


def _delimited(text: str, position: int, mark: str) -> int:
    """Behind the next `mark` that is not escaped."""
    while position < len(text) and text[position] != mark:
        position += 2 if text[position] == "\\" else 1
    return position + 1
