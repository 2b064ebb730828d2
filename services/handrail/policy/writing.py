"""One rule for every way to write a file: redirects, tee, cp, mv, ln, install, dd, sed -i, sort -o and their like."""

from __future__ import annotations

from collections.abc import Iterable

from handrail.policy.call import Bench, Call, literal, long_option, operands, short_flags
from handrail.policy.facts import WRITES, Redirect
from handrail.policy.paths import (
    DEVICES,
    LOADED_LATER,
    PROTECTED,
    SCRATCH,
    SINKS,
    absolute,
    hits_protected,
    inside,
    is_account,
    is_own_data,
)
from handrail.policy.words import Word

# option letter or name that takes a value, so that its value is no operand
COPIERS: dict[str, frozenset[str]] = {
    "cp": frozenset({"-t", "-S", "--target-directory", "--suffix"}),
    "mv": frozenset({"-t", "-S", "--target-directory", "--suffix"}),
    "ln": frozenset({"-t", "-S", "--target-directory", "--suffix"}),
    "install": frozenset({"-t", "-S", "-m", "-o", "-g", "--target-directory", "--mode", "--owner", "--group"}),
    "link": frozenset(),
    "rename": frozenset(),
}
MAX_SOURCES = 50
OUTPUT_OPTIONS: dict[str, tuple[str, str]] = {
    "sort": ("-o", "output"),
    "base64": ("-o", "output"),
    "tree": ("-o", "output"),
    "gcc": ("-o", "output"),
    "cc": ("-o", "output"),
    "tar": ("-C", "directory"),
    "unzip": ("-d", "directory"),
    "git": ("-o", "output"),
    "curl": ("-o", "output"),
    "wget": ("-O", "output-document"),
}
ALL_OPERANDS = frozenset({"truncate", "shred", "tee", "touch", "mkdir", "rmdir", "unlink", "mkfifo", "mknod", "sponge"})


def redirect(bench: Bench, found: Redirect) -> None:
    """A redirect that writes."""
    for value in found.target.values:
        if value.startswith(("/dev/tcp/", "/dev/udp/")):
            bench.say("network.redirect", "confirm", _span(found.target), "opens a network connection", "向外发起网络连接")
            return
    if found.operator in WRITES or (found.operator == ">&" and not _descriptor(found.target)):
        target(bench, found.target)


def _descriptor(word: Word) -> bool:
    value = word.value or ""
    return value.rstrip("-").isdigit() or value == "-"


def call(bench: Bench, made: Call) -> None:
    """Programs that write where their arguments say."""
    name, texts = made.name, made.texts()
    if name in COPIERS:
        _copy(bench, made, texts)
    elif name in ALL_OPERANDS:
        targets(bench, operands(made.args))
    elif name == "dd":
        _dd(bench, made)
    elif name == "rsync":
        targets(bench, operands(made.args, frozenset({"-e", "-f"}))[-1:])
    elif name in ("sed", "perl", "ruby") and ("i" in short_flags(texts) or long_option(texts, "in-place") is not None):
        targets(bench, operands(made.args, frozenset({"-e", "-f", "-E"}))[1:] or operands(made.args))
    elif name in OUTPUT_OPTIONS:
        short, long = OUTPUT_OPTIONS[name]
        _output(bench, made, short, long)


def _copy(bench: Bench, made: Call, texts: list[str]) -> None:
    found = operands(made.args, COPIERS[made.name])
    into = long_option(texts, "target-directory")
    if into is None and "-t" in texts[:-1]:
        into = texts[texts.index("-t") + 1]
    place = literal(into, made.words[0]) if into is not None else found[-1] if found else None
    if place is not None:
        target(bench, place)
        _copied_into(bench, place, found if into is not None else found[:-1])
    if made.name == "mv":
        for source in found if into is not None else found[:-1]:
            target(bench, source)
            if any(hits_protected(path, bench.context) for value in source.values if value for path in absolute(value, bench.bases)):
                bench.say(
                    "remove.system", "deny", _span(source), "moves a system directory or the whole home away", "移走系统目录或整个主目录"
                )


def _copied_into(bench: Bench, place: Word, sources: list[Word]) -> None:
    """`cp passwd /etc` writes /etc/passwd: only what is never written matters, what asks has asked for the directory."""
    for source in sources[:MAX_SOURCES]:
        for value in source.values:
            name = value.rstrip("/").rsplit("/", 1)[-1]
            into = tuple(directory.rstrip("/") + "/" + name for directory in place.values)
            if any(is_account(path) or is_own_data(path, bench.context) for path in into for path in absolute(path, bench.bases)):
                target(bench, Word(source.text, into, place.known and source.known, source.start, source.end))


def _dd(bench: Bench, made: Call) -> None:
    for word in made.args:
        for value in word.values:
            if not value.startswith("of="):
                continue
            path = value[3:]
            if path in SINKS:
                continue
            if DEVICES.match(path):
                bench.say("disk.write", "deny", _span(word), "writes to a device", "写入设备")
            else:
                bench.say("destroy.dd", "confirm", _span(word), "overwrites a file with raw data", "以裸数据覆盖文件")
                target(bench, Word(path, (path,), word.known, word.start, word.end))


def _output(bench: Bench, made: Call, short: str, long: str) -> None:
    for index, word in enumerate(made.args):
        value = word.value or ""
        if value == short and index + 1 < len(made.args):
            target(bench, made.args[index + 1])
        elif value.startswith("--" + long + "="):
            path = value.partition("=")[2]
            target(bench, Word(path, (path,), known=True, start=word.start, end=word.end))


def targets(bench: Bench, words: Iterable[Word]) -> None:
    """Judge several targets."""
    for word in words:
        target(bench, word)


def target(bench: Bench, word: Word) -> None:
    """Judge one place that is written to."""
    if not word.values or (not word.known and not any(word.values)):
        bench.say("write.unknown", "confirm", _span(word), "writes to a place that is not known", "写入位置无法确定")
        return
    for value in word.values:
        for path in absolute(value, bench.bases):
            _path(bench, word, path)
    if not word.known and all(not value.startswith("/") for value in word.values) and word.values[0] in ("", "/"):
        bench.say("write.unknown", "confirm", _span(word), "writes to a place that is not known", "写入位置无法确定")


def _path(bench: Bench, word: Word, path: str) -> None:
    context, span = bench.context, _span(word)
    if path in SINKS or path.startswith("/dev/fd/"):
        return
    if is_own_data(path, context):
        bench.say("own_data", "deny", span, "touches the service's own data", "触及服务自身的数据")
    elif is_account(path):
        bench.say("write.accounts", "deny", span, f"overwrites {path}", f"覆盖系统账户文件 {path}")
    elif DEVICES.match(path):
        bench.say("disk.write", "deny", span, "writes to a device", "写入设备")
    elif LOADED_LATER.search(path):
        bench.say("write.loaded_later", "confirm", span, "writes a file that is run or loaded later", "写入之后会被执行或加载的文件")
    elif any(inside(path, scratch) for scratch in SCRATCH) or inside(path, context.work_root) or inside(path, context.home):
        return
    elif any(inside(path, protected) for protected in PROTECTED if protected != "/") or path == "/":
        bench.say("write.system", "confirm", span, "writes outside the work root", "写入工作目录之外")


def _span(word: Word) -> tuple[int, int]:
    return word.start, word.end
