"""Removal: rm, find -delete, git clean; and who may never be removed, whatever the spelling."""

from __future__ import annotations

from handrail.policy import writing
from handrail.policy.call import Bench, Call, operands, short_flags
from handrail.policy.paths import DEVICES, absolute, hits_protected
from handrail.policy.words import Word

EN, ZH = "removes files recursively", "递归删除文件"
NEVER_EN, NEVER_ZH = "removes a system directory or the whole home", "删除系统目录或整个主目录"
FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
FIND_WRITES = frozenset({"-fprint", "-fprint0", "-fprintf", "-fls"})


def rm(bench: Bench, made: Call) -> None:
    """`rm` in any spelling of its options."""
    texts = made.texts()
    flags = short_flags(texts)
    longs = [text for text in texts if text.startswith("--") and len(text) > 3]  # noqa: PLR2004 - `--r` at least
    recursive = bool({"r", "R"} & flags) or any("--recursive".startswith(text) for text in longs)
    forced = "f" in flags or any("--force".startswith(text) for text in longs)
    words = operands(made.args)
    if recursive:
        for word in words:
            never(bench, word)
    unknown = any(not word.known for word in made.args) or made.piped
    if recursive and (forced or unknown):
        bench.say("remove.forced", "confirm", made.span, EN, ZH)
    elif made.piped:
        bench.say("remove.piped", "confirm", made.span, "removes what another command prints", "删除另一命令输出的文件")


def never(bench: Bench, word: Word) -> None:
    """Deny when the word can be a protected directory."""
    for value in word.values:
        if not value:
            continue
        if any(hits_protected(path, bench.context) or DEVICES.match(path) for path in absolute(value, bench.bases)):
            bench.say("remove.system", "deny", (word.start, word.end), NEVER_EN, NEVER_ZH)
            return


def find(bench: Bench, made: Call) -> None:
    """`find`: what it deletes, what it starts, what it writes."""
    words = list(made.args)
    roots: list[Word] = []
    for word in words:
        value = word.value
        if value is not None and (value.startswith("-") or value in ("(", "!", ")")) and value not in ("-H", "-L", "-P"):
            break
        if value not in ("-H", "-L", "-P"):
            roots.append(word)
    for index, word in enumerate(words):
        value = word.value or ""
        if value == "-delete":
            for root in roots:
                never(bench, root)
            bench.say("remove.find", "confirm", (word.start, word.end), "deletes what it finds", "删除查找到的文件")
        elif value in FIND_RUNS:
            _find_runs(bench, made, words[index + 1 :], roots)
        elif value in FIND_WRITES and index + 1 < len(words):
            bench.say("write.find", "confirm", (word.start, word.end), "writes a file", "写入文件")
            writing.target(bench, words[index + 1])


def _find_runs(bench: Bench, made: Call, rest: list[Word], roots: list[Word]) -> None:
    ended = next((index for index, word in enumerate(rest) if word.value in (";", "+", "\\;")), len(rest))
    values = tuple(dict.fromkeys(value for root in roots for value in root.values))
    inner: list[Word] = []
    for word in rest[:ended]:
        if word.value == "{}":
            inner.append(Word("{}", values, known=False, start=word.start, end=word.end))
        else:
            inner.append(word)
    found = made.inner(inner)
    if found is not None:
        bench.call(found)


def chmod(bench: Bench, made: Call) -> None:
    """`chmod`: the root itself never; world-writable, unusable and setuid modes ask."""
    texts = made.texts()
    words = operands([word for word in made.args if not _is_mode(word.value or "")])
    recursive = "R" in short_flags(texts) or any(text.startswith("--rec") for text in texts)
    modes = [text for text in texts if _is_mode(text)]
    for word in words:
        if any(path in ("/", "/*") for value in word.values for path in absolute(value, bench.bases) if value):
            bench.say("mode.root", "deny", (word.start, word.end), "changes the root directory itself", "更改根目录本身")
        elif recursive:
            _recursive_system(bench, word)
    for mode in modes:
        if _risky(mode):
            bench.say("mode", "confirm", made.span, "permissions that open or lock files for everybody", "对所有人放开或锁死的权限")


def _recursive_system(bench: Bench, word: Word) -> None:
    if any(hits_protected(path, bench.context) for value in word.values for path in absolute(value, bench.bases) if value):
        bench.say("mode.system", "confirm", (word.start, word.end), "changes a system directory", "更改系统目录")


def chown(bench: Bench, made: Call) -> None:
    """`chown`: the root itself never; the table asks for the rest."""
    for word in operands(made.args)[1:]:
        if any(path in ("/", "/*") for value in word.values for path in absolute(value, bench.bases) if value):
            bench.say("mode.root", "deny", (word.start, word.end), "changes the root directory itself", "更改根目录本身")


def _is_mode(text: str) -> bool:
    return text.isdigit() or (
        text[:1] in "ugoa+-="
        and any(sign in text for sign in "+-=")
        and not text.startswith("--")
        and "/" not in text
        and set(text) <= set("ugoa+-=rwxXstR,")
    )


def _risky(mode: str) -> bool:
    if mode.isdigit():
        digits = mode.zfill(4)
        return mode.endswith("777") or mode.strip("0") == "" or digits[-4] in "246" or digits[-1] in "2367"
    return any(
        part in mode for part in ("a-rwx", "a-rw", "a-r", "+s", "=s", "o+w", "a+w", "a=rwx", "o=rwx", "a+rwx", "ugo+rwx", "ugo+w", "a=")
    ) or mode in ("-rwx", "-r", "-rw", "=")


def clean(bench: Bench, made: Call, rest: list[Word]) -> None:
    """`git clean -f`: what is not committed is gone."""
    if "f" in short_flags([word.value or "" for word in rest]) or any((word.value or "").startswith("--f") for word in rest):
        bench.say("git.clean", "confirm", made.span, "removes files that are not committed", "删除未提交的文件")
