"""Nothing is swallowed, silenced, waited for or skipped without a word."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from tools.houselint.base import Module

BROAD = frozenset({"Exception", "BaseException"})
LOGS = frozenset({"exception", "error", "critical", "warning", "fatal", "info"})
SILENCER = re.compile(r"#\s*(type:\s*ignore|pyright:\s*ignore)(\[[\w\-, ]+\])?(?P<reason>.*)$")
NOQA = re.compile(r"#\s*noqa:\s*(?P<codes>[A-Z]+\d+(?:[, ]+[A-Z]+\d+)*)(?P<reason>.*)$")
REASONED = re.compile(r"(?:BLE|S)\d")  # rule families about safety: silencing one takes a reason
MIN_REASON = 4  # characters; "JSON" is one, "ok" is none
SLEEPS = frozenset({"time.sleep", "asyncio.sleep", "anyio.sleep"})
SKIPS = frozenset({"pytest.skip", "pytest.mark.skip", "pytest.mark.skipif", "pytest.mark.xfail", "pytest.xfail", "pytest.importorskip"})


def broad_except(module: Module) -> Iterator[tuple[int, str]]:
    """`except Exception` stands at process edges only, and there it logs or raises again.

    The bug: the agent that we replace swallowed every uncaught exception and went on in an unknown state (PF-C8), and turned
    every failure of its search into "success, 0 results" (PF-B6).
    """
    for node in broad_handlers(module):
        if not any(_speaks(inner) for body in node.body for inner in ast.walk(body)):
            yield node.lineno, "broad except that neither logs nor raises"


def broad_handlers(module: Module) -> Iterator[ast.ExceptHandler]:
    """Every bare `except` and every `except (Base)Exception`."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ExceptHandler):
            kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            if any(kind is None or module.dotted(kind) in BROAD for kind in kinds):
                yield node


def swallowing_handlers(module: Module) -> Iterator[ast.ExceptHandler]:
    """Broad handlers where an error may end. One that cleans up and raises the same error again is none."""
    for node in broad_handlers(module):
        last = node.body[-1]
        if not (isinstance(last, ast.Raise) and last.exc is None):
            yield node


def _speaks(node: ast.AST) -> bool:
    if isinstance(node, ast.Raise):
        return True
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LOGS


def silenced(module: Module) -> Iterator[tuple[int, str]]:
    """A checker is silenced for one named rule and with a reason beside it.

    The bug: a bare `# type: ignore` outlives the line it was written for and hides the next error on it.
    """
    for line, comment in comments(module):
        match = SILENCER.search(comment)
        if match is not None and (match.group(2) is None or len(match.group("reason").strip(" #-:")) < MIN_REASON):
            yield line, "type checker silenced without a rule name and a reason: `# type: ignore[rule]  # why`"
        noqa = NOQA.search(comment)
        if noqa is not None and REASONED.match(noqa.group("codes")) and len(noqa.group("reason").strip(" #-:")) < MIN_REASON:
            yield line, f"safety rule silenced without a reason: {noqa.group('codes')}"


def comments(module: Module) -> Iterator[tuple[int, str]]:
    """(line, text) of each comment; text inside strings is none."""
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def fixed_sleep(module: Module) -> Iterator[tuple[int, str]]:
    """A test waits for a condition with a bound, never for a time.

    The bug: a sleep is too short on a busy machine (the test fails for no reason) and too long on every other one. Inside a
    loop it is the pause between two looks at the condition, which is fine.
    """
    loops = [node for node in ast.walk(module.tree) if isinstance(node, ast.For | ast.AsyncFor | ast.While)]
    polling = {id(inner) for loop in loops for inner in ast.walk(loop)}
    for call in module.calls():
        if module.dotted(call.func) in SLEEPS and id(call) not in polling and not _yields(call):
            yield call.lineno, "a fixed sleep: wait for the condition, with a bound"


def _yields(call: ast.Call) -> bool:
    """`await asyncio.sleep(0)` lets other tasks run; it does not wait."""
    return len(call.args) == 1 and isinstance(call.args[0], ast.Constant) and call.args[0].value == 0


def skipped(module: Module) -> Iterator[tuple[int, str]]:
    """A test fails when its real part is missing; it is never skipped or expected to fail.

    The bug: a suite whose database tests skip themselves stays green on a machine without a database, which is where it is
    run most (row P6).
    """
    for line, name in module.mentions():
        if name in SKIPS:
            yield line, f"`{name}`: a test that does not run proves nothing"
