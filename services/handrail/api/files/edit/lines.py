"""Lines and their ends. A line ends at LF or CRLF; a lone CR is an ordinary character."""

from __future__ import annotations

from dataclasses import dataclass

MARK = "\ufeff"
# the characters with the property White_Space; str.strip() without an argument would also take U+001C..U+001F
WHITE = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"


@dataclass(frozen=True, slots=True)
class Hit:
    """Characters [start, end) of the text, and what is put there instead (line ends still to be adapted)."""

    start: int
    end: int
    filling: str


@dataclass(frozen=True, slots=True)
class Lines:
    """A text by lines: contents without their ends, where each begins, and where it ends without its line end."""

    contents: list[str]
    starts: list[int]  # one more than lines: the last is the end of the text

    @property
    def ended(self) -> bool:
        """Whether the last line has a line end."""
        return bool(self.contents) and self.starts[-1] > self.starts[-2] + len(self.contents[-1])

    def span(self, first: int, count: int, *, with_end: bool) -> tuple[int, int]:
        """Characters of `count` lines from `first` on; the end of the last one only `with_end`."""
        last = first + count - 1
        end = self.starts[last + 1] if with_end else self.starts[last] + len(self.contents[last])
        return self.starts[first], end


def split(text: str) -> Lines:
    """Lines of a text. A line end at the very end begins no further line; an empty text has none."""
    contents = text.split("\n")
    starts = [0]
    position = 0
    for raw in contents:
        position += len(raw) + 1
        starts.append(position)
    starts[-1] = len(text)
    if not contents[-1]:
        contents.pop()
        starts.pop()
    # the CR belongs to the line end where there is one; a CR at the very end of the text is a lone one
    ended = len(contents) if text.endswith("\n") else len(contents) - 1
    for index in range(ended):
        contents[index] = contents[index].removesuffix("\r")
    return Lines(contents, starts)


def to_lf(text: str) -> str:
    """CRLF becomes LF."""
    return text.replace("\r\n", "\n")


def to_dominant_eol(new: str, text: str) -> str:
    """`new` with the line ending that `text` mostly uses: CRLF when there are at least as many as lone LFs. Without any it stays."""
    pairs = text.count("\r\n")
    lone = text.count("\n") - pairs
    if not pairs and not lone:
        return new
    plain = to_lf(new)
    return plain.replace("\n", "\r\n") if pairs >= lone else plain


def blank(line: str) -> bool:
    """Whether there is nothing but white space."""
    return not line.strip(WHITE)


def indent(line: str) -> str:
    """The white space that a line begins with."""
    return line[: len(line) - len(line.lstrip(WHITE))]
