"""Service logs: one line an event on stderr, control characters escaped, never blocking for long, never fatal."""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

MAX_VALUE = 2000  # characters of one value; more is cut and marked


def configure(*, level: int = logging.INFO) -> None:
    """Set up structlog for this process. Call once, first thing in `__main__`."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.add_log_level,
            structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False),
            structlog.processors.format_exc_info,
            _line,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    # libraries that log by the standard module: warnings and worse, in the same place
    logging.basicConfig(
        level=logging.WARNING, format="[%(asctime)s] [%(levelname)s] [%(name)s] %(message)s", datefmt="%H:%M:%S", stream=sys.stderr
    )


def _line(_logger: object, _name: str, event: MutableMapping[str, Any]) -> str:
    """`[12:30:01] [INFO] [event] key=value ...`; a trace follows on lines of its own, indented."""
    stamp, level, text = event.pop("timestamp", ""), str(event.pop("level", "info")).upper(), event.pop("event", "")
    trace = event.pop("exception", None)
    pairs = "".join(f" {key}={escape(value)}" for key, value in event.items())
    line = f"[{stamp}] [{level}] {escape(text)}{pairs}"
    return line if trace is None else line + "\n    " + str(trace).replace("\n", "\n    ")


def escape(value: object) -> str:
    """Text that cannot move a terminal's cursor or fake a line: control and format characters become escapes."""
    text = str(value)
    if len(text) > MAX_VALUE:
        text = text[:MAX_VALUE] + f"...(+{len(text) - MAX_VALUE})"
    if text.isprintable():
        return f'"{text}"' if " " in text or text == "" else text
    return '"' + "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text) + '"'
