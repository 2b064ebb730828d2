"""Arguments of the file tools: the listed ones for a model, the others for the wire's routes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from handrail.api.tools.registry import Arguments

PathText = Annotated[str, Field(description="Relative to the work directory, absolute inside an allowed directory, or beginning with ~/.")]
Offset = Annotated[int, Field(ge=0, description="Results to skip: continue a listing that was cut.")]
ExpectedVersion = Annotated[
    str | None, Field(max_length=120, description="The version that Read gave: if the file is another one by now, nothing is done.")
]
Ignored = Annotated[bool, Field(description="Also what .gitignore or .ignore leave out, dependencies and build output; never .git.")]
MaxResults = Annotated[int, Field(ge=1, le=5000, description="Results at most.")]

# --- for a model ---


class ReadArgs(Arguments):
    """Lines of a text file, pages of a PDF, slides, cells of a notebook."""

    path: PathText
    start_line: Annotated[int, Field(ge=1, description="First line, counted from 1.")] = 1
    limit: Annotated[int, Field(ge=1, le=100_000, description="Lines at most.")] = 200
    line_offset: Annotated[
        int, Field(ge=0, description="Bytes of the first line to skip: go on within a long line, as `next` of the answer before says.")
    ] = 0
    page_start: Annotated[int, Field(ge=1, description="First page of a PDF or slide, counted from 1.")] = 1
    page_limit: Annotated[int, Field(ge=1, le=100, description="Pages or slides at most.")] = 5
    cell_start: Annotated[int, Field(ge=1, description="First cell of a notebook, counted from 1.")] = 1
    cell_limit: Annotated[int, Field(ge=1, le=200, description="Cells at most.")] = 20


class WriteArgs(Arguments):
    """The whole new text of a file."""

    path: PathText
    content: str
    expected_version: Annotated[
        str | None,
        Field(max_length=120, description='The version that Read gave, or "absent": if it is another one by now, nothing is done.'),
    ] = None


class EditArgs(Arguments):
    """Replace a text that occurs exactly once (or everywhere)."""

    path: PathText
    old_string: Annotated[str, Field(min_length=1, description="The text as it is in the file, with enough lines around it to be unique.")]
    new_string: str
    replace_all: bool = False
    expected_replacements: Annotated[int, Field(ge=1)] | None = None
    expected_version: ExpectedVersion = None


class EditStep(Arguments):
    """One replacement of several."""

    old_string: Annotated[str, Field(min_length=1, description="The text as it is after the edits before this one.")]
    new_string: str
    replace_all: bool = False
    expected_replacements: Annotated[int, Field(ge=1)] | None = None


class MultiEditArgs(Arguments):
    """Several replacements in one file, one after the other."""

    path: PathText
    edits: Annotated[list[EditStep], Field(min_length=1, max_length=200)]
    expected_version: ExpectedVersion = None


class PatchArgs(Arguments):
    """A unified diff."""

    patch: Annotated[str, Field(min_length=1, description="As `diff -u` or `git diff` writes it; several files, new and deleted ones too.")]


class ListArgs(Arguments):
    """Entries of a directory."""

    path: PathText = "."
    depth: Annotated[int, Field(ge=1, le=20, description="1 = only what is directly in it.")] = 2
    include_ignored: Ignored = False
    offset: Offset = 0
    max_results: MaxResults = 200


class GlobArgs(Arguments):
    """Files by pattern."""

    pattern: Annotated[
        str,
        Field(
            min_length=1,
            max_length=1024,
            description="Without / for base names at any depth (*.py), with / for the path (src/**/*.ts). Knows * ? [] {a,b} **.",
        ),
    ]
    path: PathText = "."
    include_ignored: Ignored = False
    offset: Offset = 0
    max_results: MaxResults = 200


class GrepArgs(Arguments):
    """Lines by regular expression."""

    pattern: Annotated[
        str,
        Field(min_length=1, max_length=4096, description="RE2 syntax, no look-around or back-references; within a line unless multiline."),
    ]
    path: Annotated[str, Field(description="Directory or one file.")] = "."
    file_pattern: Annotated[str, Field(max_length=1024, description="Globs joined by |, as for Glob.")] | None = None
    ignore_case: bool = True
    multiline: Annotated[bool, Field(description="Match across lines: `.` is also a line feed, ^ and $ are at every line.")] = False
    include_ignored: Ignored = False
    fixed_strings: Annotated[bool, Field(description="Take the pattern as plain text.")] = False
    output_mode: Literal["content", "files", "count"] = "content"
    head_limit: MaxResults = 200
    offset: Offset = 0
    context: Annotated[int, Field(ge=0, le=50, description="Lines shown around each match.")] = 0


class DeleteArgs(Arguments):
    """A file, link or directory."""

    path: PathText


# --- for the wire's routes ---


class PathArgs(Arguments):
    """One path."""

    path: str


class NoArgs(Arguments):
    """Nothing."""


class WireWriteArgs(Arguments):
    """A whole file as text or base64."""

    path: str
    content: str = ""
    encoding: Literal["utf-8", "base64"] = "utf-8"
    expectedVersion: Annotated[str, Field(max_length=120)] | None = None  # noqa: N815 - in the wire's style


class RenameArgs(Arguments):
    """Another name in the same directory."""

    path: str
    newName: str  # noqa: N815 - the wire's name


class MoveArgs(Arguments):
    """Into another directory."""

    path: str
    destDir: str  # noqa: N815 - the wire's name


class RestoreArgs(Arguments):
    """An entry of the trash."""

    trashId: str = ""  # noqa: N815 - the wire's name


class SearchFilesArgs(Arguments):
    """Names by glob."""

    path: str = "."
    pattern: str = "*"
    recursive: bool = True
    maxResults: int = 200  # noqa: N815 - the wire's name


class SearchContentArgs(Arguments):
    """Lines by plain text."""

    path: str = "."
    pattern: str
    filePattern: str | None = None  # noqa: N815 - the wire's name
    caseSensitive: bool = False  # noqa: N815 - the wire's name
    recursive: bool = True
    maxResults: int = 100  # noqa: N815 - the wire's name
    contextLines: int = 2  # noqa: N815 - the wire's name
