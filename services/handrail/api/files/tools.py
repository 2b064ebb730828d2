"""The file tools of the registry: the listed ones, and those that only the wire's routes call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from handrail.api.files import arguments as a
from handrail.api.files import changing, editing, patching, picture, reading, searching
from handrail.api.files.picture_arguments import ImageArgs
from handrail.api.files.service import FileService
from handrail.api.tools.registry import Arguments, Effect, Invocation, Result, Tool
from handrail.kit.fetch import Fetcher

Executor = Callable[[FileService, Invocation], Awaitable[Result]]
SHOWN = 500  # characters of an argument in an audit row


def tools(files: FileService) -> tuple[Tool, ...]:
    """Every file tool, bound to this service."""

    def tool(
        name: str,
        action: str,
        effect: Effect,
        args: type[Arguments],
        run: Executor,
        *,
        about: str = "",
        title: tuple[str, str] | None = None,
        touches: Callable[[Any], Sequence[str]] | None = None,
    ) -> Tool:
        async def bound(call: Invocation) -> Result:
            return await run(files, call)

        return Tool(
            name=name,
            description=about,
            args=args,
            effect=effect,
            executor="files",
            category="fs",
            action=action,
            run=bound,
            summary=summary,
            listed=bool(about),
            touches=touches,
            title={"en": title[0], "zh": title[1]} if title else {},
        )

    return (
        tool("Read", "read", "read", a.ReadArgs, reading.read, about=READ, title=("Read file", "读取文件")),
        tool("Write", "write", "write", a.WriteArgs, changing.write, about=WRITE, title=("Write file", "写入文件")),
        tool("Edit", "edit", "write", a.EditArgs, editing.edit_file, about=EDIT, title=("Edit file", "编辑文件")),
        tool(
            "MultiEdit",
            "edit",
            "write",
            a.MultiEditArgs,
            editing.multi_edit,
            about=MULTI,
            title=("Edit several places", "多处编辑"),
        ),
        tool(
            "Patch",
            "patch",
            "write",
            a.PatchArgs,
            patching.apply_patch,
            about=PATCH,
            title=("Apply a patch", "应用补丁"),
            touches=patching.paths,
        ),
        replace(
            tool(
                "Image",
                "image",
                "write",
                ImageArgs,
                picture.show_with(Fetcher()),
                about=IMAGE,
                title=("Show pictures", "显示图片"),
            ),
            judge=picture.judge,
        ),
        tool("List", "list", "read", a.ListArgs, reading.list_tree, about=LIST, title=("List directory", "列出目录")),
        tool("Glob", "search_files", "read", a.GlobArgs, searching.glob_files, about=GLOB, title=("Find files", "查找文件")),
        tool("Grep", "search_content", "read", a.GrepArgs, searching.grep, about=GREP, title=("Search content", "搜索内容")),
        tool("Delete", "delete", "write", a.DeleteArgs, changing.delete, about=DELETE, title=("Delete to trash", "删除到回收站")),
        tool("ReadWire", "read", "read", a.PathArgs, reading.read_wire),
        tool("ListWire", "list", "read", a.PathArgs, reading.list_wire),
        tool("Stat", "stat", "read", a.PathArgs, reading.stat_wire),
        tool("SearchFiles", "search_files", "read", a.SearchFilesArgs, searching.search_files),
        tool("SearchContent", "search_content", "read", a.SearchContentArgs, searching.search_content),
        tool("WriteWire", "write", "write", a.WireWriteArgs, changing.write_wire),
        tool("Mkdir", "mkdir", "write", a.PathArgs, changing.mkdir),
        tool("Rename", "rename", "write", a.RenameArgs, changing.rename),
        tool("Move", "move", "write", a.MoveArgs, changing.move),
        tool("TrashList", "trash_list", "read", a.NoArgs, changing.trash_list),
        tool("Restore", "restore", "write", a.RestoreArgs, changing.restore),
    )


# what an audit row shows of the arguments: places and sizes, never content
_PLACES = ("path", "newName", "destDir", "trashId", "pattern", "file_pattern", "filePattern")
_SIZES = ("content", "old_string", "new_string", "patch")


def summary(args: Any) -> dict[str, object]:  # noqa: ANN401 - each tool has its own argument class
    """Places and sizes of a call's arguments."""
    out: dict[str, object] = {}
    for name, value in args.__dict__.items():
        if name in _PLACES and isinstance(value, str):
            out[name] = value[:SHOWN]
        elif name in _SIZES and isinstance(value, str):
            out[name + "_chars"] = len(value)
    return out


READ = (
    "Read lines of a text file, numbered from 1; says the encoding and whether this is the whole file. Also pages of a PDF, cells of a "
    "notebook, Word, PowerPoint, spreadsheets, the list of a zip archive, pictures. Other binary files are refused."
)
WRITE = "Create a file or replace its whole text in one step. Missing directories are created; mode and encoding of an existing file stay."
EDIT = (
    "Replace a text in a file. It must occur exactly once unless replace_all is set. When it does not occur exactly, line endings, "
    "then white space at the ends of lines, then one uniform indentation are set aside; matchStrategy says which. "
    "Encoding, BOM and line endings stay."
)
MULTI = "Several edits of one file, each on the result of the ones before: all are made in one write, or none. Each edit is as in Edit."
PATCH = "Apply a unified diff to one or more files: all hunks of all files, or none. Can create files; a deleted file goes to the trash."
IMAGE = "Show up to 12 pictures from files, http(s) URLs or base64. A URL needs a person's yes and is never a private address."
LIST = "List a directory down to a depth, by path. .git, what ignore files name, dependencies and build output are left out."
GLOB = "Find files by a glob pattern, by path. .git, what ignore files name, dependencies and build output are left out."
GREP = "Search lines by regular expression (RE2) or plain text: matching lines with context, files, or counts. Binary files are skipped."
DELETE = "Move a file, link or directory to the trash, from where it can be restored for 7 days. Use this and never rm."
