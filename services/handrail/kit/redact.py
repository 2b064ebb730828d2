"""Secrets out of text before it is written anywhere. Deliberately greedy: a log that hides too much is still a log."""

from __future__ import annotations

import re

HIDDEN = "[redacted]"

# a name that says that its value is a secret, alone or as a part: db_password, X-Api-Key, clientSecret
_WORDS = "passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential|authorization|cookie"
_NAME = rf"[\w.-]*(?:{_WORDS}|pwd|(?<![a-z])auth(?:key)?)[\w.-]*"
SECRET_NAME = re.compile(rf"(?i)(?:{_WORDS}|\bpwd\b)")
HARMLESS_NAMES = frozenset({"token_id", "tokens", "max_tokens", "token_count", "args_sha256"})

_SCHEMES = "(?:basic|bearer|digest|token|negotiate)"
_VALUE = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'&;,|)}\]]+)"""

# cheap test first: most text has none of these
HINTS = (
    "pass", "pwd", "secret", "token", "key", "auth", "bearer", "cookie", "credential", "://", "-----begin", "eyj",
    "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "sk-", "sk_", "rk-", "rk_", "pk-", "pk_",
    "akia", "asia", "aiza", "xox", "npm_", "pypi-", "hf_", "sg.", "ya29.", "dop_v1_", "shpat_",
    "-u", "--user", " -p", "-cli", "identified",
)  # fmt: skip

RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    # PEM blocks, also cut off ones
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL), HIDDEN),
    # scheme://user:password@host and scheme://token@host
    (re.compile(r"(?i)\b([a-z][a-z0-9+.-]{1,20}://)[^\s/@'\"]+@"), rf"\1{HIDDEN}@"),
    # Authorization: Basic x, Proxy-Authorization: Bearer x
    (re.compile(rf"(?i)\b((?:proxy-)?authorization[\"']?\s*[:=]\s*[\"']?)(?:{_SCHEMES}\s+)?[^\s\"',;]+"), rf"\1{HIDDEN}"),
    (re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}"), rf"\1 {HIDDEN}"),
    # a Cookie header up to its end
    (re.compile(r"(?i)\b((?:set-)?cookie\s*:\s*)[^\"'\r\n]+"), rf"\1{HIDDEN}"),
    # name=value, name: value, "name": "value", ?token=value
    (re.compile(rf"(?i)(?<![\w.-])({_NAME}[\"']?\s*(?:=|:|%3d)\s*)(?!\s)(?:{re.escape(HIDDEN)}|{_VALUE})"), rf"\1{HIDDEN}"),
    # --password value, --api-key value, -password value
    (re.compile(rf"(?i)(?<!\S)(--?{_NAME})(\s+)(?!-){_VALUE}"), rf"\1\2{HIDDEN}"),
    # curl -u user:password, wget --user=user:password
    (re.compile(r"(?i)((?:^|\s)(?:-u|--user|--proxy-user)[ =]?)([^\s:'\"]+):[^\s'\"]+"), rf"\1\2:{HIDDEN}"),
    (re.compile(r"(?i)((?:^|\s)(?:-u|--user|--proxy-user)[ =]?[\"'])([^\s:'\"]+):[^'\"]+"), rf"\1\2:{HIDDEN}"),
    # SQL: password 'x', identified by 'x'
    (re.compile(r"(?i)\b((?:password|identified\s+by)\s+)(?:'[^']*'|\"[^\"]*\")"), rf"\1{HIDDEN}"),
    # sshpass -p x, mysql -px, redis-cli -a x
    (re.compile(r"(?i)\b(sshpass\s+-p\s*)\S+"), rf"\1{HIDDEN}"),
    (re.compile(r"(?i)\b((?:mysql|mysqldump|mysqladmin|mariadb)\b[^|;&\n]*?\s-p)[^\s-]\S*"), rf"\1{HIDDEN}"),
    (re.compile(r"(?i)\b((?:redis|valkey)-cli\b[^|;&\n]*?\s-a\s+)\S+"), rf"\1{HIDDEN}"),
    # the shapes of well-known credentials
    (re.compile(r"\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*)?"), HIDDEN),
    (re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})"), HIDDEN),
    (re.compile(r"\b(?:sk|rk|pk)[-_](?:[a-z]+[-_])*[A-Za-z0-9_-]{16,}"), HIDDEN),
    (re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"), HIDDEN),
    (re.compile(r"\bAIza[A-Za-z0-9_-]{30,}"), HIDDEN),
    (re.compile(r"\bxox[abeoprs]-[A-Za-z0-9-]{8,}"), HIDDEN),
    (re.compile(r"\b(?:npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|hf_[A-Za-z0-9]{20,})"), HIDDEN),
    (re.compile(r"\b(?:SG\.[\w-]{16,}\.[\w-]{16,}|ya29\.[\w-]{20,})"), HIDDEN),
    (re.compile(r"\b(?:dop_v1_[a-f0-9]{32,}|shpat_[a-fA-F0-9]{24,})"), HIDDEN),
)  # fmt: skip


def redact(text: str) -> str:
    """`text` without the secrets that can be recognised in it. Linear in its length."""
    lowered = text.lower()
    for hint in HINTS:
        if hint in lowered:
            return _apply(text)
    return text


def _apply(text: str) -> str:
    for pattern, replacement in RULES:
        text = pattern.sub(replacement, text)
    return text


def is_secret_name(name: str) -> bool:
    """Whether a field of this name holds a secret as a whole."""
    return name not in HARMLESS_NAMES and SECRET_NAME.search(name) is not None
