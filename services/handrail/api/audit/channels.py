"""The two places besides the table: the file of the day and the terminal. Neither delays an answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from handrail.api.audit.shapes import file_line, terminal_line
from handrail.contract.errors import Lang
from handrail.kit.daylog import DayLog
from handrail.kit.droplines import DropLines
from handrail.kit.journal import Entry

STEM = "agent"
STDERR = 2
SHOWN = 100  # lines of one batch, ten batches a second: more is for the file and the table


class Channels:
    """Writes entries that are in the table already."""

    def __init__(self, log_dir: Path, *, lang: Lang, terminal: DropLines | None = None) -> None:
        self.days = DayLog(log_dir, STEM)
        self._lang: Lang = lang
        self._terminal = terminal or DropLines(STDERR)

    def show(self, entries: Sequence[Entry]) -> None:
        """Hand the entries to the terminal; lines that it cannot take, or nobody could read, are dropped and counted."""
        shown = entries[:SHOWN]
        self._terminal.put([terminal_line(entry.fields, self._lang).encode("utf-8", "replace") + b"\n" for entry in shown])
        if len(entries) > len(shown):
            self._terminal.skip(len(entries) - len(shown))

    def keep(self, entries: Sequence[Entry], *, today: str) -> None:
        """Append the entries to the files of their days. Blocking. Raises OSError."""
        self.days.append([(entry.fields["ts"][:10], file_line(entry.fields)) for entry in entries], today=today)

    def keep_checkpoint(self, day: str, line: bytes) -> None:
        """A signed checkpoint in the file too: the files can then show that the table's tail was cut. Raises OSError."""
        self.days.append([(day, line)], today=day)

    def last_kept(self, writer: str, days: Sequence[str]) -> int:
        """The highest seq of `writer` in the files of these days; 0 when there is none."""
        mark = re.compile(rb'"id":"%b-(\d+)"' % writer.encode())
        highest = 0
        for day in days:
            for line in self.days.lines(day):
                match = mark.search(line[:64])
                if match:
                    highest = max(highest, int(match[1]))
        return highest

    def close(self) -> None:
        self._terminal.close()
