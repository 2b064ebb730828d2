"""Variables that change what programs run or load."""

from __future__ import annotations

import re

from handrail.policy.call import Bench
from handrail.policy.words import Word

SENSITIVE = re.compile(
    r"(?:PATH|ENV|BASH_ENV|SHELL|PROMPT_COMMAND|PS[0-4]|SHELLOPTS|BASHOPTS|GLOBIGNORE|CDPATH|EXECIGNORE|BASH_FUNC_.*|LD_\w+|DYLD_\w+|\w*PAGER|EDITOR|VISUAL"
    r"|BROWSER|GIT_\w+|SSH_\w+|PYTHONSTARTUP|PYTHONHOME|PYTHONINSPECT|PERL5OPT|PERL5LIB|PERL5DB|RUBYOPT|RUBYLIB|NODE_OPTIONS|NODE_PATH|JAVA_TOOL_OPTIONS"
    r"|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|MAVEN_OPTS|LESSOPEN|LESSCLOSE|MANPAGER|FZF_DEFAULT_COMMAND|TAR_OPTIONS|RSYNC_RSH|CVS_RSH|HOME|TMPDIR|IFS)\Z"
)
HARMLESS = frozenset({
    "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE",
    "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS", "GIT_MERGE_AUTOEDIT",
})  # fmt: skip
COMMANDS = re.compile(
    r"(?:GIT_SSH_COMMAND|GIT_SSH|\w*PAGER|EDITOR|VISUAL|GIT_\w*EDITOR|GIT_EXTERNAL_DIFF|PROMPT_COMMAND|RSYNC_RSH|GIT_ASKPASS|SSH_ASKPASS|BROWSER|LESSOPEN)\Z"
)


def assigned(bench: Bench, name: str, word: Word | None, *, whole: bool) -> None:
    """One assignment. `whole`: it holds for the rest of the shell, not for one command."""
    span = (word.start, word.end) if word is not None else (0, 0)
    if word is not None and COMMANDS.match(name):
        for value in word.values:
            if value and value != "cat":
                bench.shell(value, span)
    if word is not None and any("$(" in value or "`" in value for value in word.values):
        bench.say(
            "assign.code", "confirm", span, "the value holds a command that a later expansion may run", "变量值含可能被后续展开执行的命令"
        )
    if name == "IFS" and not whole:
        return
    if name == "HOME" and not whole and word is not None and word.known:
        return
    if SENSITIVE.match(name) and name not in HARMLESS:
        if COMMANDS.match(name) and word is not None and word.value in ("", "cat", "true", ":"):
            return
        bench.say("assign.loads", "confirm", span, f"{name} changes what programs run or load", f"{name} 会改变程序的运行或加载内容")
