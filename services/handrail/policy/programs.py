"""Which handler judges which program, and what is known of the others."""

from __future__ import annotations

from collections.abc import Callable

from handrail.policy import builtins, code, git, launch, removal, runners, scripts, shells, windows
from handrail.policy.call import Bench, Call
from handrail.policy.table import BY_PROGRAM

# a substitution in their words alone does not raise the verdict: they print, look or test
READ_ONLY = frozenset({
    "echo", "printf", "cat", "ls", "pwd", "cd", "whoami", "test", "[", "true", "false", "date", "wc", "head", "tail", "which", "type", "dirname",
    "basename", "realpath", "readlink", "stat", "file", "du", "df", "id", "uname", "hostname", "grep", "egrep", "fgrep", "diff", "cmp", "sort",
    "uniq", "[[", "cut", "tr", "nl", "tac", "rev", "seq", "expr", "md5sum", "sha256sum", "sha1sum", "return", "exit", ":",
})  # fmt: skip
# programs whose operands are text or names, never a command line
QUOTES = READ_ONLY | frozenset({
    "man", "info", "git", "rg", "ack", "ag", "npm", "pnpm", "yarn", "npx", "sed", "awk", "jq", "yq", "make", "cargo", "go", "pytest", "touch", "mkdir",
    "export", "declare", "local", "readonly", "typeset", "unset", "set", "let", "read", "docker", "tee", "logger", "wall", "help", "apropos", "less",
    "more", "tldr", "hash", "pgrep", "ps", "kubectl", "gh", "tar", "zip", "unzip", "ln", "cp", "mv", "rm", "chmod", "chown", "code", "vi", "vim",
})  # fmt: skip
Handler = Callable[[Bench, Call], None]
HANDLERS: dict[str, Handler] = {
    "rm": removal.rm, "find": removal.find, "chmod": removal.chmod, "chown": removal.chown, "chgrp": removal.chown,
    "git": git.git, "env": launch.env, "xargs": launch.xargs, "parallel": launch.parallel, "ssh": launch.ssh, "scp": launch.ssh, "sftp": launch.ssh,
    "rsync": launch.rsync, "tar": launch.tar, "bsdtar": launch.tar, "gtar": launch.tar, "make": launch.make, "gmake": launch.make,
    "fd": launch.fd, "fdfind": launch.fd, "su": launch.shell_option, "runuser": launch.shell_option, "script": launch.shell_option,
    "flock": launch.shell_option, "awk": scripts.awk, "gawk": scripts.awk, "mawk": scripts.awk, "nawk": scripts.awk,
    "sed": scripts.sed, "gsed": scripts.sed, "powershell": windows.powershell, "pwsh": windows.powershell,
    "powershell.exe": windows.powershell, "cmd": windows.cmd, "cmd.exe": windows.cmd,
    **dict.fromkeys(shells.SHELLS, shells.shell), **dict.fromkeys(code.INLINE, code.inline),
    "at": shells.from_input, "batch": shells.from_input, "vim": launch.editor, "vi": launch.editor, "nvim": launch.editor, "ex": launch.editor,
    "sqlite3": launch.database, "psql": launch.database, "mysql": launch.database,
    "sg": runners.operands_as_shell, "screen": runners.operands_as_shell, "zellij": runners.operands_as_shell,
    "eval": builtins.evaluated, "trap": builtins.trapped, "alias": builtins.alias, "source": builtins.sourced, ".": builtins.sourced,
    "command": builtins.command, "hash": builtins.hashed, **dict.fromkeys(("mapfile", "readarray", "complete", "compgen"), builtins.called_back),
    "printf": builtins.printf, **dict.fromkeys(("export", "declare", "typeset", "readonly", "local"), builtins.declared),
    **dict.fromkeys(runners.RUNNERS, runners.runner), **dict.fromkeys(launch.RUNS_OPTION, launch.options_that_run),
}  # fmt: skip
STARTED_BY_OTHERS = frozenset(
    {"rm", "dd", "chmod", "chown", "find", "sudo", "doas", "curl", "wget", "ssh", "scp", "nc", "env", "xargs", "nohup", "timeout", "eval"}
    | {name for name in BY_PROGRAM if name.startswith("mkfs")}
    | shells.SHELLS
)
