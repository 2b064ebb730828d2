"""One clock, one JSON parser, no built SQL."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tools.houselint.base import Module, under

CLOCK_NAMES = frozenset(
    {
        "time.time",
        "time.time_ns",
        "time.monotonic",
        "time.monotonic_ns",
        "time.localtime",
        "time.gmtime",
        "datetime.datetime.now",
        "datetime.datetime.utcnow",
        "datetime.datetime.today",
        "datetime.date.today",
    }
)
CLOCK_BARE = ("time.gmtime", "time.localtime")  # with an argument they format, without one they read the clock

JSON_NAMES = ("json.JSONDecoder", "json.loads", "json.load", "orjson.loads", "ujson.loads", "rapidjson.loads")
JSON_METHODS = frozenset({"model_validate_json", "validate_json", "parse_raw"})

SQL = re.compile(
    r"^\s*(?:select\s.+\sfrom\s|insert\s+into\s|update\s+\S+\s+set\s|delete\s+from\s|with\s+\w+\s+as\s*\(|"
    r"(?:create|alter|drop)\s+(?:table|role|user|database|schema|index|policy|function|extension)\s|grant\s.+\sto\s|set\s+(?:local\s+)?role\s)",
    re.IGNORECASE | re.DOTALL,
)


def clock(module: Module) -> Iterator[tuple[int, str]]:
    """The time comes from `handrail.kit.clock`.

    The bug: pairing codes that rotate every 30 s were tested by waiting, so the one-step grace and the renewal after a use
    were never tested at all, and the new code was not shown until the next tick (PF-B18). A test can move our clock.
    """
    formatted = {id(call.func) for call in module.calls() if call.args and module.dotted(call.func) in CLOCK_BARE}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute | ast.Name) and id(node) not in formatted and module.dotted(node) in CLOCK_NAMES:
            yield node.lineno, f"`{module.dotted(node)}` reads the machine's clock: take a handrail.kit.clock.Clock"


def json_parser(module: Module) -> Iterator[tuple[int, str]]:
    """JSON is parsed by `handrail.kit.canonical.loads`.

    The bug: `json.loads` keeps the last of two equal keys and accepts NaN, so the arguments that were hashed and the arguments
    that were run can differ (row H3). The agent that we replace answered 500 to `null` (PF-B16).
    """
    for line, name in module.mentions():
        if under(name, JSON_NAMES):
            yield line, f"`{name}` is not strict: use handrail.kit.canonical.loads"
    for call in module.calls():
        if isinstance(call.func, ast.Attribute) and call.func.attr in JSON_METHODS:
            yield call.lineno, f"`.{call.func.attr}()` parses JSON past handrail.kit.canonical.loads"


def built_sql(module: Module) -> Iterator[tuple[int, str]]:
    """SQL is a named statement in a .sql file with parameters; identifiers go through `psycopg.sql`.

    The bug: the oldest one there is. A statement glued from strings runs what the string says.
    """
    for node in ast.walk(module.tree):
        glued = _glued(node)
        if glued is not None and SQL.search(glued):
            yield (
                getattr(node, "lineno", 1),
                "SQL glued from strings: use a named statement with parameters (psycopg.sql for names)",
            )


def _glued(node: ast.AST) -> str | None:
    """The literal text of an f-string, `%`, `+` or `.format` expression with something that is not literal in it."""
    if isinstance(node, ast.JoinedStr) and any(isinstance(part, ast.FormattedValue) for part in node.values):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else " x " for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
        return _text(node.left)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return _text(node.func.value)
    return None


def _text(node: ast.expr) -> str | None:
    return f"{node.value} x " if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
