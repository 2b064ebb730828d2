"""One rule for every way to write a file: redirects, tee, cp, mv, ln, install, dd, sed -i, sort -o and their like."""

from __future__ import annotations

from collections.abc import Iterable

from handrail.policy.call import Bench, Call, literal, long_option, long_options, operands, short_flags
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
ONLY_KNOWN = frozenset({"rm", "chmod", "touch", "mkdir", "rmdir", "unlink"})  # a name that is not known is no question here
# program -> short and long options whose value is a file or directory that it writes
_O = (("-o",), ("output",))
OUTPUT_OPTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    **dict.fromkeys(
        "sort base64 tree gcc cc g++ c++ clang clang++ ld as rustc go pandoc gpg gpg2 patch shuf xmllint iconv strip dot typst jq yq git nasm latexmk".split(), _O
    ),
    "tar": (("-C",), ("directory",)),
    "unzip": (("-d",), ()),
    "javac": (("-d",), ()),
    "curl": (("-o", "-D", "-c"), ("output", "dump-header", "cookie-jar", "trace", "trace-ascii", "output-dir", "stderr", "hsts", "alt-svc")),
    "wget": (("-O", "-o", "-a", "-P"), ("output-document", "output-file", "append-output", "directory-prefix", "save-cookies")),
    "openssl": (("-out",), ()),
    "tcpdump": (("-w",), ()),
    "strace": (("-o",), ("output",)),
    "convert": ((), ()),
}  # fmt: skip
ALL_OPERANDS = frozenset({
    "truncate", "shred", "tee", "touch", "mkdir", "rmdir", "unlink", "mkfifo", "mknod", "sponge", "rm", "script", "patch", "ed", "ex", "vi", "vim", "nvim", "nano",
    "emacs", "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "lzma", "chmod", "chattr", "setfacl", "dos2unix", "unix2dos", "fallocate",
})  # fmt: skip
# their last operand is written when there are two
LAST_OPERAND = frozenset({"uniq", "xxd", "ffmpeg", "convert", "magick", "objcopy", "pdftotext", "pdftoppm"})
TO_DEVICES = frozenset({"wipefs", "blkdiscard", "sgdisk", "sfdisk", "parted", "fdisk", "cfdisk"})


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
        targets(bench, (word for word in operands(made.args) if word.known or name not in ONLY_KNOWN))
    elif name in LAST_OPERAND:
        targets(bench, operands(made.args)[1:][-1:])
    elif name in TO_DEVICES:
        _devices(bench, made)
    elif name == "dd":
        _dd(bench, made)
    elif name == "rsync":
        targets(bench, operands(made.args, frozenset({"-e", "-f"}))[-1:])
    elif name in ("sed", "perl", "ruby") and ("i" in short_flags(texts) or long_option(texts, "in-place") is not None):
        targets(bench, operands(made.args, frozenset({"-e", "-f", "-E"}))[1:] or operands(made.args))
    elif name in OUTPUT_OPTIONS:
        _output(bench, made, *OUTPUT_OPTIONS[name])
        if name in ("tar", "bsdtar"):
            _archive(bench, made)


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


def _devices(bench: Bench, made: Call) -> None:
    """Partition tools: listing asks, anything else on a device is a write."""
    lists = bool({"l", "n", "p"} & short_flags(made.texts())) or "print" in made.texts() or not made.args
    for word in () if lists else operands(made.args):
        if any(DEVICES.match(path) for value in word.values for path in absolute(value, bench.bases)):
            bench.say("disk.write", "deny", _span(word), "writes to a device", "写入设备")


def _archive(bench: Bench, made: Call) -> None:
    """`tar cf FILE`: what creates or changes an archive writes FILE."""
    for index, word in enumerate(made.args[:-1]):
        value = word.value or ""
        cluster = value.lstrip("-") if value[:2] != "--" and (index == 0 or value.startswith("-")) else ""
        if cluster.endswith("f") and {"c", "r", "u"} & set(
            "".join(text.lstrip("-") for text in made.texts()[: index + 1] if text[:2] != "--")
        ):
            target(bench, made.args[index + 1])


def _output(bench: Bench, made: Call, shorts: tuple[str, ...], longs: tuple[str, ...]) -> None:
    for index, word in enumerate(made.args):
        value = word.value or ""
        if value in shorts and index + 1 < len(made.args):
            target(bench, made.args[index + 1])
        for short in shorts:
            if value.startswith(short) and value != short and value[:2] != "--" and len(short) == len("-o"):
                target(bench, literal(value[len(short) :], word))
    texts = made.texts()
    for long in longs:
        for path in long_options(texts, long, min(len(long), 4)):
            target(bench, literal(path, made.words[0]))


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
