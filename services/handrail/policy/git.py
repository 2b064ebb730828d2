"""git: what it is told to run, what it throws away, what it pushes over."""

from __future__ import annotations

import re

from handrail.policy.call import Bench, Call, literal, long_option, operands, short_flags
from handrail.policy.removal import clean
from handrail.policy.words import Word
from handrail.policy.writing import target

GLOBAL_VALUES = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix"})
RUNS_KEY = re.compile(
    r"(?:core\.(?:pager|editor|sshcommand|fsmonitor|hookspath|askpass|gitproxy|alternaterefscommand)|alias\..*|diff\.external|diff\..*\.(?:textconv|command)"
    r"|merge\..*\.driver|filter\..*\.(?:clean|smudge|process)|pager\..*|sequence\.editor|credential\..*helper|credential\.helper|gpg\..*program|gpg\.program"
    r"|(?:diff|merge)tool\..*\.cmd|web\.browser|browser\..*|interactive\.difffilter|uploadpack\..*|remote\..*\.(?:uploadpack|receivepack|vcs)|include\.path|includeif\..*"
    r"|submodule\..*\.update|sendemail\..*cmd|protocol\..*allow|url\..*insteadof|init\.templatedir|trailer\..*cmd|man\..*cmd)\Z",
    re.IGNORECASE,
)
FORCING = ("--force", "--force-with-lease", "--force-if-includes", "--mirror", "--delete", "--prune")


def git(bench: Bench, made: Call) -> None:
    """`git` with its global options and subcommand."""
    words = list(made.args)
    index = 0
    while index < len(words):
        value = words[index].value or ""
        if not value.startswith("-"):
            break
        if value == "-c" and index + 1 < len(words):
            _setting(bench, made, words[index + 1])
        elif value.startswith("-c") and len(value) > len("-c"):
            _setting(bench, made, literal(value[2:], words[index]))
        elif value.startswith(("--exec-path=", "--config-env")) or value in ("-p", "--paginate"):
            bench.say("git.global", "confirm", made.span, "a global option of git that can start programs", "可启动程序的 git 全局选项")
        index += 2 if value in GLOBAL_VALUES else 1
    if index >= len(words):
        return
    rest = words[index + 1 :]
    handler = _SUBCOMMANDS.get(words[index].value or "")
    if words[index].value is None:
        bench.say("git.unknown", "confirm", made.span, "the git command is not known", "无法确定 git 子命令")
    elif handler is not None:
        handler(bench, made, rest)
    texts = [word.value or "" for word in rest]
    if (
        any(re.match(r"(?:ext|fd)::", text) for text in texts)
        or long_option(texts, "upload-pack", 6) is not None
        or long_option(texts, "receive-pack", 6) is not None
    ):
        bench.say("git.transport", "confirm", made.span, "git starts a program as its transport", "git 会启动程序作为传输")


def _setting(bench: Bench, made: Call, word: Word) -> None:
    for value in word.values:
        key, _, text = value.partition("=")
        if RUNS_KEY.match(key):
            bench.shell(text.lstrip("!"), made.span)
            bench.say("git.config", "confirm", made.span, f"{key} makes git run a program", f"{key} 会让 git 运行程序")
    if not word.known:
        bench.say("git.unknown", "confirm", made.span, "a git setting that is not known", "无法确定的 git 设置")


def _push(bench: Bench, made: Call, rest: list[Word]) -> None:
    texts = [word.value or "" for word in rest]
    forced = "f" in short_flags(texts) or "d" in short_flags(texts) or any(_forces(text) for text in texts)
    refs = [word.value or "" for word in operands(rest, frozenset({"-o", "--push-option", "--repo"}))[1:]]
    if forced or any(ref.startswith(("+", ":")) for ref in refs):
        bench.say("git.force", "confirm", made.span, "overwrites or deletes history on the remote", "覆盖或删除远端历史")


def _forces(text: str) -> bool:
    """Abbreviations count: --forc, --mir, --dele."""
    name = text.partition("=")[0]
    return len(name) > len("--f") and any(full.startswith(name) for full in FORCING)


def _clone(bench: Bench, made: Call, rest: list[Word]) -> None:
    """`clone -c KEY=VALUE`, and where it clones to."""
    for index, word in enumerate(rest[:-1]):
        if word.value in ("-c", "--config"):
            _setting(bench, made, rest[index + 1])
    found = operands(
        rest, frozenset({"-b", "-c", "-o", "-u", "--branch", "--config", "--depth", "--origin", "--reference", "--jobs", "-j"})
    )
    if len(found) > 1:
        target(bench, found[-1])


def _remote(bench: Bench, made: Call, rest: list[Word]) -> None:
    texts = [word.value or "" for word in rest]
    if any(text.startswith(("--exec", "--remote")) for text in texts):
        bench.say("git.transport", "confirm", made.span, "git starts a program as its transport", "git 会启动程序作为传输")


def _config(bench: Bench, made: Call, rest: list[Word]) -> None:
    found = operands(rest, frozenset({"-f", "--file", "--blob", "--type", "--default"}))
    if found and found[0].value in ("set", "unset", "get", "list", "edit"):
        found = found[1:]
    if len(found) > 1 and RUNS_KEY.match(found[0].value or "*"):
        for value in found[1].values:
            bench.shell(value.lstrip("!"), made.span)
        bench.say("git.config", "confirm", made.span, f"{found[0].value} makes git run a program", f"{found[0].value} 会让 git 运行程序")
    elif len(found) > 1 and found[0].value is None:
        bench.say("git.unknown", "confirm", made.span, "a git setting that is not known", "无法确定的 git 设置")


def _runs_rest(bench: Bench, made: Call, rest: list[Word]) -> None:
    """`bisect run CMD`, `submodule foreach CMD`."""
    texts = [word.value or "" for word in rest]
    if texts[:1] in (["run"], ["foreach"]):
        bench.shell(" ".join(text for text in texts[1:] if not text.startswith("--")), made.span)
        found = made.inner(rest[1:])
        if found is not None and texts[:1] == ["run"]:
            bench.call(found)


def _exec_option(bench: Bench, made: Call, rest: list[Word]) -> None:
    texts = [word.value or "" for word in rest]
    for index, text in enumerate(texts):
        if text in ("-x", "--exec", "--extcmd", "-O", "--open-files-in-pager") and index + 1 < len(texts):
            bench.shell(texts[index + 1], made.span)
        elif text.startswith(("--exec=", "--extcmd=", "-x", "-O", "--open-files-in-pager")) and text not in ("-x", "-O"):
            bench.shell(text.partition("=")[2] or text[2:], made.span)
        else:
            continue
        bench.say("git.exec", "confirm", made.span, "git starts a program", "git 会启动程序")


def _filter(bench: Bench, made: Call, rest: list[Word]) -> None:
    bench.say("git.rewrite", "confirm", made.span, "rewrites the whole history", "重写全部历史")
    for word in rest:
        for value in word.values:
            if " " in value:
                bench.shell(value, made.span)


_SUBCOMMANDS = {
    "push": _push,
    "clone": _clone,
    "archive": _remote,
    "config": _config,
    "clean": clean,
    "bisect": _runs_rest,
    "submodule": _runs_rest,
    "rebase": _exec_option,
    "difftool": _exec_option,
    "grep": _exec_option,
    "filter-branch": _filter,
    "filter-repo": _filter,
}
