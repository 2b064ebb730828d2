"""Words in source text that start programs, remove files, open connections or hide what is meant. One table a language."""

from __future__ import annotations

import re

# in any language
STARTS = (
    r"system|popen\d?|p?spawn\w*|\w*exec[a-z]*|subprocess|check_output|check_call|Popen|pty|child_process|shell_exec|passthru|proc_open|backtick"
    r"|qx|readpipe|syscall|fork\w*|vfork|kill|killpg|eval\w*|compile(?!\(r?['\"])|getattr|setattr|ctypes|cffi|dlopen"
)
REMOVES = (
    r"rmtree|rmSync|rmdirSync|unlinkSync|unlink|removeSync|rm_rf|rm_r|remove_dir|os\.remove\w*|rmdir|FileUtils\.\w*rm\w*|fs\.rm\w*|truncate\w*"
    r"|rm_f|remove_entry\w*|emptyDir\w*|deltree|rimraf"
)
NETWORK = (
    r"urllib\w*|requests\.\w+\s*\(|httpx\.\w+\s*\(|socket|socketserver|create_connection|https?\.(?:get|request|client|server|createServer)|aiohttp"
    r"|fetch|XMLHttpRequest|WebSocket|Net::\w+|IO::Socket\w*|LWP|HTTP::\w+|urlopen|ftplib|telnetlib|paramiko|smtplib|imaplib|poplib|xmlrpc|net\.\w*[cC]onnect\w*"
    r"|TCPSocket|UDPSocket|TCPServer|UNIXSocket|open-uri|fsockopen|pfsockopen|stream_socket_\w+|curl_\w+|DatagramSocket|luasocket"
)
HIDES = r"base64|b64decode|fromCharCode|codecs|marshal|zlib|unhexlify|fromhex|atob|pack|rot13|pickle|decode_base64|Buffer\.from"

PYTHON = (
    r"__(?!version__|file__|name__|doc__|main__|init__|path__|all__|author__|title__|annotations__)\w+__|globals|vars|importlib(?!\.metadata|\.util|\.resources)"
    r"|runpy|multiprocessing|concurrent|code\.interact|InteractiveConsole|posix|_posixsubprocess|builtins|breakpoint|pdb|sys\.modules|import_module|imp"
    r"|asyncio\.create_subprocess\w*|operator\.(?:methodcaller|attrgetter)|from\s+os\s+import|import\s+os\s+as|from\s+shutil\s+import|signal"
)
NODE = (
    r"Function|constructor|process\.(?:binding|kill|dlopen|mainModule|_\w+)|worker_threads|cluster|vm|v8|inspector|globalThis|module\.constructor|createRequire"
    r"|require\s*\(\s*(?!['\"][@\w./-]+['\"]\s*\))|require\s*[\[=;,)]|import\s*\(|Reflect|Proxy|Deno\.(?:run|Command)|Bun\.(?:spawn\w*|\$)"
    r"|require\s*\(\s*['\"](?:node:)?(?:net|https?|http2|dgram|tls|dns)['\"]|process\s*\["
)
PERL = r"open|do|require|use\s+(?:lib|POSIX)|symlink|link|no\s+strict|POSIX|Symbol|B::|glob|dump|sysopen|tie|Tk|can|AUTOLOAD"
RUBY = r"send|__send__|public_send|instance_eval|class_eval|module_eval|instance_exec|const_get|method|Process|Open3|Kernel|PTY|Fiddle|IO|Socket|load|Marshal|open|trap|Dir\.(?:rmdir|delete|unlink)|File\.(?:delete|unlink|write|symlink)"
PHP = r"assert|call_user_func\w*|create_function|preg_replace_callback|array_map|usort|include\w*|require\w*|ReflectionFunction|pcntl_\w+|putenv|mail|dl|FFI|file_get_contents"
LUA = r"load|loadstring|loadfile|dofile|require|package|io\.(?:popen|open)|os\.(?:execute|remove|rename|exit)|debug|ffi"
OTHER = r"(?:do|run|shell|start)\w*\s*(?:shell|script|command|process|program)|ProcessBuilder|Runtime|System\.cmd|Process|Port\.open|:os\.cmd|callProcess|sys-call|process|open-pipe\w*|library|source|file\.remove"
SPECIAL = {
    "python": PYTHON,
    "node": NODE,
    "perl": PERL,
    "ruby": RUBY,
    "php": PHP,
    "lua": LUA,
    "other": OTHER,
}
# signs that no word boundary can stand before
SIGNS = {
    "python": r"(?!)",
    "node": r"\]\s*\(|\]\s*`",
    "perl": r"`|&\s*[\$\{]|->\s*\(|['\"]\s*\|(?!\|)|(?<!\|)\|\s*['\"]|\$\{\s*\\",
    "ruby": r"`|%x\W|['\"]\s*\|",
    "php": r"`|\$\w+\s*\(|\$\$|->\$|::\$|['\"]\s*\(",
    "lua": r"_G|_ENV|\]\s*\(",
    "other": r"(?!)",
}
# program -> family; one that is not here is "other"
FAMILIES = {
    **dict.fromkeys("python python2 python3 pypy pypy3 python3.10 python3.11 python3.12 python3.13 python3.14 ipython".split(), "python"),
    **dict.fromkeys("node nodejs bun deno tsx ts-node".split(), "node"),
    **dict.fromkeys("ruby irb".split(), "ruby"),
    **dict.fromkeys("lua luajit".split(), "lua"),
    "perl": "perl",
    "php": "php",
}
FORKS = re.compile(r"\b(?:fork|spawn)\b")
LOOPS = re.compile(r"\b(?:while|until|loop|forever)\b|for\s*\(\s*;|for\s*;;")


def _alternation(words: str, signs: str = "(?!)") -> re.Pattern[str]:
    return re.compile(rf"(?<![\w$@-])(?:{words})(?!\w)|{signs}")


STARTING = {family: _alternation(STARTS + "|" + words, SIGNS[family]) for family, words in SPECIAL.items()}
REMOVING, FETCHING, HIDING = _alternation(REMOVES), _alternation(NETWORK), _alternation(HIDES)
WRITING = re.compile(
    r"['\"][wax]b?\+?['\"]|\bwrite\w*\b|\bappendFile\w*|file_put_contents|copy\w*|rename\w*|symlink\w*|\bmove\b|\breplace\b|[>'\"]>"
)
