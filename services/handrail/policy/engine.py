"""First form of the judge: what is plainly harmless passes, the deny list is denied, everything that cannot be read asks."""

from __future__ import annotations

import re

import tree_sitter_bash
from tree_sitter import Language, Parser

from handrail.policy.verdict import Command, Context, Level, Reason, Verdict

POLICY_VERSION = "2026.1"
PARSER = Parser(Language(tree_sitter_bash.language()))
MAX_BYTES = 65536
ASKS = frozenset(
    "sudo doas su pkexec runas pip pip3 chown shred curl wget nc ncat telnet ssh scp sftp ftp socat kill pkill killall systemctl launchctl"
    " crontab sysctl shutdown reboot halt poweroff dd eval exec bash sh zsh dash xargs find env alias export".split()
)
PROTECTED = re.compile(r"/+(?:usr|var|bin|sbin|lib|boot|opt|root|etc|home|dev|proc|sys|System|Library)?/*\*?\Z")
UNREADABLE = frozenset({"ERROR", "command_substitution", "process_substitution", "expansion"})


def check(command: str, context: Context) -> Verdict:
    """The verdict on one command string."""
    whole = (0, len(command))
    found: list[Reason] = []
    seen: list[Command] = []

    def say(rule: str, level: Level, en: str, zh: str) -> None:
        found.append(Reason(rule, level, *whole, en, zh))

    if not command.strip():
        say("empty", "deny", "the command is empty", "命令为空")
    elif len(command.encode("utf-8", "replace")) > MAX_BYTES:
        say("limit.size", "deny", "the command is too long", "命令过长")
    else:
        tree = PARSER.parse(command.encode("utf-8", "replace"))
        stack = [tree.root_node]
        while stack:
            node = stack.pop()
            if node.type in UNREADABLE or node.is_missing:
                say("undecidable", "confirm", "a part cannot be read before it runs", "有内容在运行前无法判定")
            if node.type == "command":
                words = [(child.text or b"").decode("utf-8", "replace").replace("\\", "").strip("'\"") for child in node.children]
                seen.append(Command(tuple(words), (node.text or b"").decode("utf-8", "replace"), *whole))
                if words:
                    _judge(words, say)
            stack.extend(node.children)
    rank: dict[Level, int] = {"allow": 0, "confirm": 1, "deny": 2}
    level: Level = max((reason.severity for reason in found), key=rank.__getitem__, default="allow")
    return Verdict(level, tuple(found), tuple(seen), POLICY_VERSION)


def _judge(words: list[str], say: object) -> None:
    tell = say if callable(say) else print
    name = words[0].rsplit("/", 1)[-1]
    joined = " ".join(words)
    if "rm" in words and any(PROTECTED.match(word) for word in words):
        tell("rm.system", "deny", "removes a system directory", "删除系统目录")
    elif name.startswith("mkfs") or "of=/dev/sd" in joined:
        tell("disk", "deny", "overwrites a disk", "覆盖磁盘")
    elif name in ASKS or "rm" in words or not re.fullmatch(r"[\w.+-]+", name) or "--force" in words:
        tell("ask", "confirm", "asks before it runs", "运行前需确认")
