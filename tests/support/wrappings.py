"""Ways to put a command into another one, as a grammar: what the policy must see through."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

from hypothesis import strategies as st

UNIT = Path(__file__).resolve().parents[1] / "unit" / "policy"
Wrap = Callable[[str], str]


def quoted(text: str) -> str:
    """In single quotes."""
    return "'" + text.replace("'", "'\\''") + "'"


def double_quoted(text: str) -> str:
    """In double quotes, with everything escaped that they do not protect."""
    return '"' + "".join("\\" + char if char in '"\\$`' else char for char in text) + '"'


def ansi_quoted(text: str) -> str:
    """In $'...', every third character as an escape."""
    return (
        "$'"
        + "".join(f"\\x{ord(char):02x}" if index % 3 == 0 and char.isascii() else _plain(char) for index, char in enumerate(text))
        + "'"
    )


def _plain(char: str) -> str:
    return {"'": "\\'", "\\": "\\\\", "\n": "\\n"}.get(char, char)


def quotes() -> list[Wrap]:
    """The ways to write a text as one word."""
    return [quoted, double_quoted, ansi_quoted]


# around any command
ANYWHERE: tuple[str, ...] = (
    "true && {}", "false || {}", "true; {}", "ls\n{}", "{}\nls", "{}\ntrue", "{{ {}\n}} &\nwait", "{{ {}\n}}", "( {}\n)", "(\n{}\n) > out.txt", "if true; then {}\nfi",
    "if {}\nthen ls; fi", "if ls; then :; else {}\nfi", "while :; do {}\nbreak; done", "until {}\ndo :; done", "for zz in a b; do {}\ndone",
    "for ((i=0; i<1; i++)); do {}\ndone", "case x in *) {}\n;; esac", "f() {{ {}\n}}; f", "function g {{ {}\n}}\ng", "f() ( {}\n); f", "echo $( {}\n)",
    'echo "x $( {}\n) y"', "npm run $( {}\n)", "zz=$( {}\n)", "cat <( {}\n)", "ls > >( {}\n)", "[[ -d a ]] && {}", "[ -d / ] && {}", "((1)) && {}",
    "echo ${{zz:-$( {}\n)}}", "zz[$( {}\n)]=1", "arr=(a $( {}\n))", "cat <<EOF9\n$( {}\n)\nEOF9", "cat <<-EOF9\n\t$( {}\n)\n\tEOF9", "# it's\n{}", "echo \\' \n{}",
    "echo '#' \n{}", "select zz in a; do {}\ndone", "export A=1; {}", "set -e; {}", "time {{ {}\n}}", "! {{ {}\n}}", "coproc {{ {}\n}}", "{{ {}\n}} | cat",
    "ls |& {{ {}\n}}", "echo $(( $( {}\n) + 1 ))", "{{ {}\n}} 2>&1 | tee log.txt", "echo a > $( {}\n)", "for zz in $( {}\n); do :; done",
)  # fmt: skip
# the command as text
AS_TEXT: tuple[str, ...] = (
    "bash -c {}", "sh -c {}", "bash -lc {}", "bash -euo pipefail -c {}", "/bin/bash -c {}", "eval {}", "trap {} EXIT", "nohup bash -c {} &", "sudo bash -c {}",
    "env bash -c {}", "xargs -I% bash -c {}", "find . -exec bash -c {} \\;", "timeout 5 sh -c {}", "busybox sh -c {}", "sh <<< {}", "echo {} | sh",
    "printf %s {} | bash", "git -c alias.x='!'{} x", "script -qc {} /dev/null", "flock f -c {}", "watch {}", "su -c {}", 'zz={}; eval "$zz"', "exec sh -c {}",
    "command bash -c {}", "python3 -c {}", "npx -c {}", "ssh -o ProxyCommand={} h", 'f() {{ eval "$1"; }}; f {}', 'set -- {}; eval "$1"',
)  # fmt: skip
# before a simple command
PREFIXES: tuple[str, ...] = (
    "{} &",     "sudo {}", "nohup {}", "time {}", "env {}", "env A=1 B=2 {}", "env -u X {}", "timeout 5 {}", "timeout -s KILL 5 {}", "nice {}", "nice -n 5 {}", "stdbuf -oL {}",
    "setsid {}", "ionice -c3 {}", "command {}", "exec {}", "A=1 {}", "A=1 B='x y' {}", "\\\n{}", "> out.txt {}", "2>/dev/null {}", "doas {}", "chroot / {}", "strace -f {}",
    "unbuffer {}", "xargs {}", "find . -exec {} \\;", "find . -execdir {} +", "coproc {}", "! {}", "busybox {}", "poetry run {}", "uv run {}", "npx {}", "parallel {}",
    "flock f {}", "chronic {}", "builtin command {}", "exec env nohup {}", "eval {}", "{} > /dev/null 2>&1", "{} | tee x", "cat x | {}", "watch {}",
)  # fmt: skip


def _python(text: str) -> str:
    return quoted(f"import os; os.system({json.dumps(text, ensure_ascii=False)})")


def as_text(template: str, quote: Wrap) -> Wrap:
    """The command as a quoted text in `template`."""
    if template.startswith("python3"):
        return lambda text: template.format(_python(text))
    return lambda text: template.format(quote(text))


def around(template: str) -> Wrap:
    """The command in the place of `{}`."""
    return template.format


def wraps() -> st.SearchStrategy[Wrap]:
    """One way to put any command into another."""
    return st.one_of(st.sampled_from(ANYWHERE).map(around), st.builds(as_text, st.sampled_from(AS_TEXT), st.sampled_from(quotes())))


OUTER = tuple(prefix for prefix in PREFIXES if prefix.endswith("{}"))  # what stands behind would fall to the last command of a pipe


def outer_prefixes() -> st.SearchStrategy[Wrap]:
    """One thing before what may be more than one command."""
    return st.sampled_from(OUTER).map(around)


def prefixes() -> st.SearchStrategy[Wrap]:
    """One way to put something before a simple command."""
    return st.sampled_from(PREFIXES).map(around)


def attacks() -> list[str]:
    """The attack variants that are complete commands."""
    rows = tomllib.loads((UNIT / "attacks.toml").read_text(encoding="utf-8"))
    return [
        command for row, levels in rows.items() if row not in ("ATK-17", "ATK-5") for commands in levels.values() for command in commands
    ]


def cases() -> list[str]:
    """The reference's commands."""
    return [json.loads(line)["command"] for line in (UNIT / "cases.jsonl").read_text(encoding="utf-8").splitlines()]


# simple commands: no operator of the shell in them
SIMPLE: tuple[str, ...] = (
    "rm -rf /", "rm -r -f /usr", "rm -rf build", "rm --recursive --force ~", "\\rm -rf /", "'rm' -rf '/'", 'r"m" -rf //usr', "mkfs.ext4 /dev/sda1", "dd if=x of=/dev/sda",
    "dd of=b.img", "tee /etc/passwd", "cp x /etc/shadow", "curl http://x", "wget x", "ssh h", "scp a h:b", "nc -l 80", "kill 1", "killall node", "systemctl restart x",
    "shutdown now", "pip install x", "npm install -g x", "git push --force", "git -c core.pager=x log", "chmod -R 777 .", "chmod 777 /", "chown bob f", "chown -R x /",
    "shred f", "truncate -s 0 f", "find / -delete", "find . -delete", "find . -exec rm -rf / ;", "cat ~/.handrail/x", "bash -c 'rm -rf /'", "sh -c 'curl x'", "sudo id",
    "python3 -c 'import os; os.system(\"rm -rf /\")'", "awk 'BEGIN{system(\"rm -rf /\")}'", "sed -i s/a/b/ /etc/passwd", "crontab -r", "docker run x", "$x y", "rm -rf $x/",
    "ls > /etc/passwd", "echo x > ~/.bashrc", "tar xf a --to-command='rm -rf /'", "env -S 'rm -rf /'", "xargs rm -rf", "make -f -", "eval rm -rf /", "source /dev/stdin",
    "sort -o /etc/passwd f", "rsync -e 'rm -rf /' a b:c", "git rebase -x 'rm -rf /' x", "vim -c ':!rm -rf /'", "ln -sf x /etc/passwd", "mv /etc x", "alias ls='rm -rf /'",
)  # fmt: skip
