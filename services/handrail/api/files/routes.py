"""The wire's file routes: each is one tool behind the gate."""

from __future__ import annotations

from fastapi import Request

from handrail.api.files import arguments as a
from handrail.api.files import schemas as s
from handrail.api.http import Router, actor_of, services_of
from handrail.api.tools.registry import Arguments, Result

router = Router(tags=["files"])


async def _call(request: Request, tool: str, args: Arguments) -> Result:
    return await services_of(request).gate.call(actor_of(request), tool, args)


@router.post("/api/fs/read", response_model=s.ReadAnswer)
async def fs_read(request: Request, body: s.PathBody) -> Result:
    """A whole file as text. `encoding` is what was detected; `lossy` says that the text cannot be written back unharmed (binary data)."""
    return await _call(request, "ReadWire", a.PathArgs(path=body.path))


@router.post("/api/fs/write", response_model=s.WriteAnswer)
async def fs_write(request: Request, body: s.WriteBody) -> Result:
    """Create or replace a file atomically; missing directories are created.

    `encoding` says how `content` is sent: text, or base64 for bytes. Text over an existing text file takes that file's encoding.
    With `expectedVersion` (from a read or a write) the file must still be that version, else 409 `stale_file` and nothing is written.
    """
    args = a.WireWriteArgs(path=body.path, content=body.content, encoding=body.encoding, expectedVersion=body.expectedVersion)
    return await _call(request, "WriteWire", args)


@router.post("/api/fs/list", response_model=s.ListAnswer)
async def fs_list(request: Request, body: s.ListBody) -> Result:
    """All entries of a directory, hidden ones too, sorted by name."""
    return await _call(request, "ListWire", a.PathArgs(path=body.path))


@router.post("/api/fs/stat", response_model=s.StatAnswer)
async def fs_stat(request: Request, body: s.PathBody) -> Result:
    """One entry; a link is described itself, with what it leads to. Times in ms."""
    return await _call(request, "Stat", a.PathArgs(path=body.path))


@router.post("/api/fs/mkdir", response_model=s.PathAnswer)
async def fs_mkdir(request: Request, body: s.PathBody) -> Result:
    """One directory; the one above must exist."""
    return await _call(request, "Mkdir", a.PathArgs(path=body.path))


@router.post("/api/fs/rename", response_model=s.RenameAnswer)
async def fs_rename(request: Request, body: s.RenameBody) -> Result:
    """Another name in the same directory; never over something that is there."""
    return await _call(request, "Rename", a.RenameArgs(path=body.path, newName=body.newName))


@router.post("/api/fs/move", response_model=s.MoveAnswer)
async def fs_move(request: Request, body: s.MoveBody) -> Result:
    """Into an existing directory; never over something that is there."""
    return await _call(request, "Move", a.MoveArgs(path=body.path, destDir=body.destDir))


@router.post("/api/fs/delete", response_model=s.DeleteAnswer)
async def fs_delete(request: Request, body: s.PathBody) -> Result:
    """Into the trash, from where it can be restored for 7 days."""
    return await _call(request, "Delete", a.DeleteArgs(path=body.path))


@router.get("/api/trash/list", response_model=s.TrashAnswer)
async def trash_list(request: Request) -> Result:
    """The caller's own trash in this workspace, oldest first."""
    return await _call(request, "TrashList", a.NoArgs())


@router.post("/api/trash/restore", response_model=s.RestoreAnswer)
async def trash_restore(request: Request, body: s.RestoreBody) -> Result:
    """Back to its place; never over something that is there now."""
    return await _call(request, "Restore", a.RestoreArgs(trashId=body.trashId))


@router.post("/api/fs/search_files", response_model=s.SearchFilesAnswer)
async def fs_search_files(request: Request, body: s.SearchFilesBody) -> Result:
    """Entries whose name matches a glob, in upper and lower case alike."""
    args = a.SearchFilesArgs(path=body.path, pattern=body.pattern, recursive=body.recursive, maxResults=body.maxResults)
    return await _call(request, "SearchFiles", args)


@router.post("/api/fs/search_content", response_model=s.SearchContentAnswer)
async def fs_search_content(request: Request, body: s.SearchContentBody) -> Result:
    """Lines that contain `pattern` as plain text. `maxResults` holds for all files together."""
    args = a.SearchContentArgs(
        path=body.path,
        pattern=body.pattern,
        filePattern=body.filePattern,
        caseSensitive=body.caseSensitive,
        recursive=body.recursive,
        maxResults=body.maxResults,
        contextLines=body.contextLines,
    )
    return await _call(request, "SearchContent", args)
