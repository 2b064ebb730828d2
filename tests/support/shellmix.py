"""Command strings that are nearly valid: everyday commands with pieces of shell syntax put into them, and mixtures of pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

BLANKS = ("", "", " ", " ")
JOINTS = (" ; ", " && ", "\n", " | ", " || ", " & ", " |& ")
PIECES = (
    "ma", "mb", "mc x", "echo ", "echo a", "cat", "touch M", " ", "\n", ";", "&&", "||", "|", "&", "|&", "(", ")", "{ ", "; }", '"',
    "'", "\\", "$", "`", "$(", "${", "}", "$((", "))", "((", "[[ ", " ]]", "[ -d x ]", "if ", "; then ", "; fi", "else ",
    "for i in a b", "; do ", "; done", "while ", "case x in ", "x)", ";;", "esac", "*)", "(x)", "function f ", "f() ", "f", "g(){ ",
    "! ", "time ", "time -p ", "coproc ", "x=", "x=1 ", "a=(1 2)", "a[0]=", "x+=", ">o", ">>o", "<i", "2>&1", "&>o", ">|o", "<>o",
    ">&2", "<<<x", "<<E\n", "\nE\n", "<<-E\n", "\n\tE\n", "<<'E'\n", "\nE \n", "#", "# ", " #x", "\\\n", "\t", "!", "~", "*", "?",
    "[a]", "{a,b}", "$x", '"$x"', "${x:-a}", "${x%b}", "$1", "$@", '"$@"', "$'a'", "$'\\''", '$"a"', "<(", ">(", "=~ ", "== ", "-f ",
    "select i in a; do ", "until ", "in ", "do ", "done", "then ", "fi", "elif ", "return", "break", "exec ", "eval ", "command ",
    "builtin ", "env ", "xargs ", "nohup ", "timeout 1 ", "bash -c ", "'ma'", '"mb"', "sh -c ", "''", '""', "read x", "set -- ",
    "shift", "trap ", "export x=", "local y=", "declare z=", "unset x", "let x=1", "test a", 'echo "$(ma)"', "echo `mb`", "$[1]",
    "${#x}", "${x/a/b}", "${x^^}", "1", "2", "3<o", "{fd}>o", "-", "--", "-c ", "=", "%", "@", "+", "+(a)", "@(a|b)", "!(a)", ":",
    "a:b", "a=b", "é", "中 ", '"a b"', "'a b'", "\\;", "\\(", '\\"', "\\'", '"\\""', '"`mc`"', "\\`", "{", "];",
    "case a in a) mb;; esac", "for ((i=0;i<1;i++)); do ma; done", "if ma; then mb; fi", "{ ma; }", "(mb)", "[[ a == b ]]", "((1))",
    "ma | mb", "ma && mb", "cat <<E\n$(ma)\nE\n", "function h { ma; }; h", "h() { mb; }; h", "echo a;mb", "find . -exec ma {} \\;",
    "echo x | xargs ma", "a=(1)ma ", "x=(\n", "\\\n ma",
)  # fmt: skip


def mixtures(seed: int, everyday: Sequence[str]) -> Iterator[str]:
    """An endless stream; the same for the same seed."""
    random = Random(seed)
    while True:
        choice = random.random()
        if choice < 0.35:
            yield "".join(random.choice(PIECES) + random.choice(BLANKS) for _ in range(random.randint(2, 10)))
            continue
        command = random.choice(everyday)
        if choice < 0.6:
            command += random.choice(JOINTS) + random.choice(everyday)
        for _ in range(random.randint(1, 4)):
            command = _changed(command, random)
        yield command


def _changed(command: str, random: Random) -> str:
    at, kind = random.randint(0, len(command)), random.random()
    if kind < 0.6:
        return command[:at] + random.choice(BLANKS) + random.choice(PIECES) + random.choice(BLANKS) + command[at:]
    if kind < 0.8:
        return command[:at] + command[at + random.randint(1, 4) :]
    until = min(len(command), at + random.randint(1, 12))
    return command[:at] + command[at:until] + command[at:]
