from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from tools.houselint.base import Module, Rule, room_of
from tools.houselint.honesty import swallowing_handlers
from tools.houselint.rules import RULES
from tools.houselint.run import lint, modules

ROOT = Path(__file__).resolve().parents[3]

BAD: list[tuple[str, str]] = [
    ("spawn", "import subprocess"),
    ("spawn", "from subprocess import run as go"),
    ("spawn", "import os as o\no.fork()"),
    ("spawn", "import os\nos.execvpe('x', [], {})"),
    ("spawn", "from os import posix_spawn as p\np('x', [], {})"),
    ("spawn", "import os\nstart = os.popen"),
    ("spawn", "import pty"),
    ("spawn", "from multiprocessing.pool import Pool"),
    ("spawn", "from concurrent.futures import ProcessPoolExecutor"),
    ("spawn", "import asyncio\nasync def f():\n    await asyncio.create_subprocess_shell('x')"),
    ("spawn", "import asyncio\nasync def f(loop):\n    await loop.subprocess_exec(object, 'x')"),
    ("spawn", "import ctypes\nctypes.CDLL(None).fork()"),
    ("user-paths", "open('x')"),
    ("user-paths", "import os\nos.open('x', 0)"),
    ("user-paths", "from os import unlink as rm\nrm('x')"),
    ("user-paths", "from pathlib import Path\nPath('x').read_text()"),
    ("user-paths", "def f(path):\n    return path.open('rb')"),
    ("user-paths", "def f(path):\n    return path.open(mode='w')"),
    ("user-paths", "import shutil\nshutil.rmtree('x')"),
    ("user-paths", "from shutil import copyfile\ncopyfile('a', 'b')"),
    ("user-paths", "import tempfile"),
    ("user-paths", "import os\nos.path.realpath('x')"),
    ("http-client", "import httpx"),
    ("http-client", "from urllib.request import urlopen"),
    ("http-client", "import urllib.request as r"),
    ("http-client", "import asyncio\nasync def f():\n    await asyncio.open_connection('h', 1)"),
    ("tenant-session", "import psycopg"),
    ("tenant-session", "from psycopg_pool import AsyncConnectionPool"),
    ("clock", "import time\ntime.time()"),
    ("clock", "from time import monotonic\nnow = monotonic"),
    ("clock", "from datetime import datetime\ndatetime.now()"),
    ("clock", "import datetime as dt\ndt.datetime.now(dt.UTC)"),
    ("clock", "import time\ntime.gmtime()"),
    ("json-parser", "import json\njson.loads('1')"),
    ("json-parser", "import json\njson.JSONDecoder()"),
    ("json-parser", "from orjson import loads\nloads('1')"),
    ("json-parser", "def f(model, raw):\n    return model.model_validate_json(raw)"),
    ("built-sql", "def f(c, t):\n    c.execute(f'select a from {t} where b')"),
    ("built-sql", "def f(c, t):\n    c.execute('delete from ' + t)"),
    ("built-sql", "def f(c, t):\n    c.execute('insert into %s values (1)' % t)"),
    ("built-sql", "def f(c, t):\n    c.execute('drop table {}'.format(t))"),
    ("broad-except", "try:\n    x()\nexcept Exception:\n    pass"),
    ("broad-except", "try:\n    x()\nexcept:\n    y = 1"),
    ("broad-except", "try:\n    x()\nexcept (ValueError, BaseException):\n    print('x')"),
    ("silenced", "x = 1  # type: ignore"),
    ("silenced", "x = 1  # type: ignore[arg-type]"),
    ("silenced", "x = 1  # pyright: ignore[reportX]"),
    ("silenced", "x = 1  # noqa: BLE001"),
    ("silenced", "x = 1  # noqa: S603"),
    ("fixed-sleep", "import time\ntime.sleep(1)"),
    ("fixed-sleep", "import asyncio\nasync def f():\n    await asyncio.sleep(0.5)"),
    ("skipped", "import pytest\n@pytest.mark.skipif(True, reason='x')\ndef test_x(): ..."),
    ("skipped", "import pytest\npytest.importorskip('x')"),
]

GOOD: list[tuple[str, str]] = [
    ("spawn", "from handrail.jail.spawn import spawn"),
    ("spawn", "pty = True\nrequest = {'pty': pty}"),
    ("spawn", "import os\nos.getpid()\nexecutor = object()"),
    ("spawn", '"""subprocess and os.fork in a docstring."""'),
    ("user-paths", "pool.open()"),
    ("user-paths", "from handrail.kit import files\nfiles.read(root, 'x')"),
    ("user-paths", "'a'.replace('a', 'b')"),
    ("user-paths", "import shutil\nshutil.which('rg')"),
    ("user-paths", "import os\nos.stat('name', dir_fd=3)"),
    ("http-client", "from urllib.parse import urlsplit"),
    ("http-client", "from handrail.kit.http import Client"),
    ("tenant-session", "from handrail.store.session import Database"),
    ("clock", "import time\ntime.gmtime(5)"),
    ("clock", "from datetime import datetime\ndatetime.fromtimestamp(5, tz=None)"),
    ("clock", "def f(clock):\n    return clock.now()"),
    ("json-parser", "import json\njson.dumps({})"),
    ("json-parser", "from handrail.kit.canonical import loads\nloads('1')"),
    ("built-sql", "def f(c, t):\n    c.execute('select a from b where c = %s', (t,))"),
    ("built-sql", "from psycopg import sql\nsql.SQL('drop table {}').format(sql.Identifier('t'))"),
    ("built-sql", "def f(n):\n    return f'selected {n} rows from the list'"),
    ("broad-except", "try:\n    x()\nexcept ValueError:\n    pass"),
    ("broad-except", "try:\n    x()\nexcept Exception:\n    log.exception('x failed')"),
    ("broad-except", "try:\n    x()\nexcept BaseException:\n    undo()\n    raise"),
    ("silenced", "x = 1  # type: ignore[arg-type]  # the stub lacks the overload"),
    ("silenced", "x = 1  # noqa: BLE001 - the edge of the process"),
    ("silenced", "x = 1  # noqa: SIM102"),
    ("silenced", "x = '# type: ignore'"),
    ("fixed-sleep", "import time\nwhile not ready():\n    time.sleep(0.01)"),
    ("fixed-sleep", "import asyncio\nasync def f():\n    await asyncio.sleep(0)"),
    ("skipped", "import pytest\n@pytest.mark.req('A1')\ndef test_x(): ..."),
]


def rule(name: str) -> Rule:
    return next(rule for rule in RULES if rule.name == name)


@pytest.mark.parametrize(("name", "text"), BAD)
def test_a_rule_finds_what_it_is_for(name: str, text: str) -> None:
    assert rule(name).findings(Module("services/handrail/api/x.py", dedent(text)))


@pytest.mark.parametrize(("name", "text"), GOOD)
def test_a_rule_leaves_everything_else_alone(name: str, text: str) -> None:
    assert rule(name).findings(Module("services/handrail/api/x.py", dedent(text))) == []


def test_every_rule_has_samples_of_both_kinds_and_a_docstring_that_tells_the_bug() -> None:
    names = {rule.name for rule in RULES}
    assert {name for name, _ in BAD} == names
    assert {name for name, _ in GOOD} == names
    assert [rule.name for rule in RULES if "The bug:" not in (rule.check.__doc__ or "")] == []


def test_an_exempt_file_may_do_what_others_may_not() -> None:
    exempt = Rule("spawn", rule("spawn").check, allowed={"services/handrail/jail/spawn*.py": "the one place"})
    sources = [Module("services/handrail/jail/spawn.py", "import subprocess"), Module("services/handrail/api/x.py", "import subprocess")]
    assert [finding.path for finding in lint(sources, (exempt,))] == ["services/handrail/api/x.py"]


def test_an_exemption_that_nothing_needs_is_a_finding() -> None:
    exempt = Rule("spawn", rule("spawn").check, allowed={"services/handrail/jail/spawn*.py": "the one place"})
    [finding] = lint([Module("services/handrail/jail/spawn.py", "x = 1")], (exempt,))
    assert "not needed" in finding.message


def test_every_exemption_has_a_reason() -> None:
    assert [(rule.name, path) for rule in RULES for path, reason in rule.allowed.items() if len(reason) < len("the one x")] == []


def test_the_room_is_the_third_part_of_the_path() -> None:
    assert room_of("services/handrail/api/x.py") == "api"
    assert room_of("services/handrail/__init__.py") == ""
    assert room_of("tests/unit/x.py") == ""


@pytest.mark.req("HAB-1")
def test_the_house_is_in_order() -> None:
    assert [str(finding) for finding in lint(modules(ROOT))] == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("try:\n    x()\nexcept BaseException:\n    undo()\n    raise", 0),
        ("try:\n    x()\nexcept Exception as exc:\n    raise Other from exc", 1),
        ("try:\n    x()\nexcept Exception:\n    log.exception('x')", 1),
        ("try:\n    x()\nexcept ValueError:\n    pass", 0),
    ],
)
def test_a_handler_that_cleans_up_and_raises_again_swallows_nothing(text: str, count: int) -> None:
    assert len(list(swallowing_handlers(Module("services/handrail/api/x.py", text)))) == count
