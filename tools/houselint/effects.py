"""One way for each effect: spawn, user paths, HTTP client, tenant session."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tools.houselint.base import Module, under

SPAWN_MODULES = ("subprocess", "pty", "multiprocessing", "asyncio.subprocess", "billiard", "pexpect")
SPAWN_NAMES = ("os.fork", "os.forkpty", "os.system", "os.popen", "asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell")
SPAWN_PREFIXES = ("os.exec", "os.posix_spawn", "os.spawn")
SPAWN_ATTRIBUTES = frozenset(
    {"fork", "vfork", "forkpty", "clone3", "execve", "fexecve", "posix_spawn", "subprocess_exec", "subprocess_shell"},
)
SPAWN_CLASSES = frozenset({"ProcessPoolExecutor"})

PATH_OS = (
    "open openat remove unlink rename renames replace mkdir makedirs rmdir removedirs link symlink stat lstat scandir listdir walk fwalk",
    "chmod chown lchown utime truncate access readlink mkfifo mknod statvfs chdir chroot path.exists path.lexists path.isfile path.isdir",
    "path.islink path.realpath path.getsize path.getmtime",
)
PATH_CALLS = frozenset({"open", "io.open", *(f"os.{name}" for names in PATH_OS for name in names.split())})
PATH_MODULES = ("glob", "tempfile", "fileinput", "zipfile", "tarfile")
SHUTIL_ASKS = frozenset({"shutil.which", "shutil.disk_usage"})  # ask about the machine, open nothing of a user
PATHLIB = (
    "read_text read_bytes write_text write_bytes unlink mkdir rmdir iterdir rglob symlink_to hardlink_to",
    "chmod lchmod is_file is_dir is_symlink",
)
PATH_METHODS = frozenset(name for names in PATHLIB for name in names.split())

HTTP_MODULES = ("httpx", "httpcore", "urllib.request", "http.client", "requests", "aiohttp", "urllib3", "httplib2", "pycurl")
HTTP_NAMES = ("asyncio.open_connection", "asyncio.open_unix_connection", "socket.create_connection")

DATABASE_MODULES = ("psycopg", "psycopg_pool", "asyncpg", "sqlalchemy")


def spawn(module: Module) -> Iterator[tuple[int, str]]:
    """A process is started by `handrail.jail.spawn` and nothing else.

    The bug: the agent that we replace started ripgrep for its search route by itself, past the command policy, and a pattern
    of `--pre=<program>` ran that program 4,546 times (PF-A4). A second spawn is a second place to forget `--`, the
    environment, the jail or the kill of the whole tree.
    """
    for line, name in module.imports():
        if under(name, SPAWN_MODULES) or name.rpartition(".")[2] in SPAWN_CLASSES:
            yield line, f"`{name}` starts processes: use handrail.jail.spawn"
    for line, name in module.mentions():
        if name in SPAWN_NAMES or name.startswith((*SPAWN_PREFIXES, "asyncio.subprocess.")):
            yield line, f"`{name}` starts processes: use handrail.jail.spawn"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and node.attr in SPAWN_ATTRIBUTES | SPAWN_CLASSES:
            yield node.lineno, f"`.{node.attr}` starts processes: use handrail.jail.spawn"


def user_paths(module: Module) -> Iterator[tuple[int, str]]:
    """A path that a user can name is opened by `handrail.kit.paths` and `handrail.kit.files` and nothing else.

    The bug: every route of the agent that we replace resolved paths by itself, and `ln -s /etc link` inside the work root
    made `/etc` readable and writable through them (PF-A5). Only openat2 beneath a root descriptor has no gap between the
    check and the use.

    Calls with `dir_fd` act on an entry of a directory that the resolver opened; what a program knows without a user
    (its own sockets, its package, `which`) is not meant either.
    """
    for line, name in module.imports():
        if under(name, PATH_MODULES):
            yield line, f"`{name}` opens paths by name: use handrail.kit.files"
    for line, name in module.mentions():
        if name.startswith("shutil.") and name not in SHUTIL_ASKS:
            yield line, f"`{name}` opens paths by name: use handrail.kit.files"
    for call in module.calls():
        name = module.dotted(call.func)
        if name in PATH_CALLS and not _beneath(call):
            yield call.lineno, f"`{name}` opens a path by name: use handrail.kit.files"
        elif isinstance(call.func, ast.Attribute) and (call.func.attr in PATH_METHODS or _opens(call)):
            yield call.lineno, f"`.{call.func.attr}()` opens a path by name: use handrail.kit.files"


def _beneath(call: ast.Call) -> bool:
    """`os.stat(name, dir_fd=fd)`: an entry of a directory that is open already."""
    return any(keyword.arg == "dir_fd" for keyword in call.keywords)


def _opens(call: ast.Call) -> bool:
    """`path.open("rb")`, told apart from `pool.open()` by its mode."""
    if not (isinstance(call.func, ast.Attribute) and call.func.attr == "open"):
        return False
    values = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    return any(isinstance(value, ast.Constant) and isinstance(value.value, str) and set(value.value) <= set("rwaxbt+") for value in values)


def http_client(module: Module) -> Iterator[tuple[int, str]]:
    """An HTTP request leaves through `handrail.kit.http` and nothing else.

    The bug: the skill downloader of the agent that we replace checked the host name, then connected by name again, so a
    second look-up could answer 127.0.0.1 (PF-A15). One client means one place that pins the address that was checked.
    """
    for line, name in module.imports():
        if under(name, HTTP_MODULES):
            yield line, f"`{name}` is an HTTP client: use handrail.kit.http"
    for line, name in module.mentions():
        if under(name, HTTP_NAMES):
            yield line, f"`{name}` connects by itself: use handrail.kit.http"


def tenant_session(module: Module) -> Iterator[tuple[int, str]]:
    """The database is reached through `handrail.store`, whose session sets the tenant inside each transaction.

    The bug: a query on a connection of one's own has no bound user. Under forced row-level security it sees nothing; under a
    role that owns the table it sees every tenant (the IDOR reports behind ATK-52).
    """
    for line, name in module.imports():
        if under(name, DATABASE_MODULES):
            yield line, f"`{name}` reaches the database past the tenant session: use handrail.store"
