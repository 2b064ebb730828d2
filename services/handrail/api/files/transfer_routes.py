"""The wire's transfer routes: each is one tool behind the gate, bodies stream in and out."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Request

from handrail.api.files import transfer_arguments as a
from handrail.api.files import transfer_schemas as s
from handrail.api.files.arguments import PathArgs
from handrail.api.files.forms import Form, clean
from handrail.api.files.transfer_answers import Sent, inside_json, source_of, stream
from handrail.api.files.transfers import Body
from handrail.api.http import Router, actor_of, services_of, validate
from handrail.api.tools.registry import Arguments, Result
from handrail.kit.errors import EMPTY, InvalidPath

router = Router(tags=["transfers"])
BYTES: dict[str, Any] = {"content": {"*/*": {"schema": {"type": "string", "format": "binary"}}}}
RAW: dict[str, Any] = {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
RAW_BODY: dict[str, Any] = {"requestBody": {"required": False, **RAW}}
FORM_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {"type": "object", "required": ["file"], "properties": {"file": {"type": "string", "format": "binary"}}}
            }
        },
    }
}
STREAMED: dict[int | str, dict[str, Any]] = {200: BYTES, 206: BYTES, 304: {"description": "Not changed"}}


async def _call(request: Request, tool: str, args: Arguments, body: Body | None = None) -> Result:
    return await services_of(request).gate.call(actor_of(request), tool, args, body=body)


def _length(request: Request) -> int | None:
    length = request.headers.get("content-length")
    return int(length) if length is not None else None  # the edge has seen that it is a number


# --- up ---


@router.post("/api/fs/upload-stream", response_model=s.UploadAnswer, response_model_exclude_none=True, openapi_extra=RAW_BODY)
async def upload_stream(
    request: Request,
    path: str = "",
    sha256: str = "",
    overwrite: bool = True,  # noqa: FBT001, FBT002 - a query parameter
    uploadId: str = "",  # noqa: N803
    offset: Annotated[int, Query(ge=0, le=2**53)] = 0,
    total: Annotated[int | None, Query(ge=0, le=2**53)] = None,
) -> Result:
    """The raw body into `path`, seen when its last byte has come; an upload that breaks off leaves the old file as it was.

    `sha256` (hex) is compared before anything changes. With `uploadId` (chosen by the client) and `total` the body is the piece that
    begins at `offset`; what has arrived stays for 24 hours, and GET on this path says where to go on.
    """
    if not path:
        raise InvalidPath("", reason=EMPTY)
    digest = sha256.lower()
    if not uploadId:
        values = {"path": path, "size": _length(request), "sha256": digest, "overwrite": overwrite}
        return await _call(request, "Upload", validate(a.UploadArgs, values), request.stream())
    values = {"path": path, "upload_id": uploadId, "offset": offset, "total": total, "sha256": digest}
    return await _call(request, "UploadPart", validate(a.UploadPartArgs, values), request.stream())


@router.get("/api/fs/upload-stream", response_model=s.UploadStatusAnswer)
async def upload_status(request: Request, uploadId: str = "") -> Result:  # noqa: N803
    """How far an unfinished upload of the caller is: `offset` bytes have arrived."""
    return await _call(request, "UploadStatus", a.UploadIdArgs(upload_id=uploadId))


@router.delete("/api/fs/upload-stream", response_model=s.UploadDropAnswer)
async def upload_drop(request: Request, uploadId: str = "") -> Result:  # noqa: N803
    """Forget an unfinished upload of the caller."""
    return await _call(request, "UploadDrop", a.UploadIdArgs(upload_id=uploadId))


@router.post("/api/files/upload", response_model=s.StageAnswer, openapi_extra=FORM_BODY)
async def files_upload(request: Request) -> Result:
    """The one file of a form into the work root, under its cleaned name, with _1, _2, ... when that is taken."""
    form = Form(request.headers.get("content-type", ""), request.stream())
    args = a.StageArgs(name=clean(await form.name()), size=None)
    return await _call(request, "Stage", args, form.data())


# --- down ---


@router.post("/api/fs/download-stream", responses=STREAMED)
async def download_stream(request: Request, body: s.StreamBody) -> Sent:
    """A file as it is, or a directory (`path`) or several places (`paths`) as a zip archive. Content-Length is always there."""
    return await _download(request, body.paths if body.paths is not None else [body.path or ""], several=body.paths is not None)


@router.get("/api/fs/download-stream", responses=STREAMED)
async def download_get(request: Request, path: Annotated[list[str] | None, Query()] = None) -> Sent:
    """The same by query, so that a download can be resumed by ordinary tools (`Range`, `If-Range`, `ETag`)."""
    return await _download(request, path or [""], several=len(path or ()) > 1)


async def _download(request: Request, paths: list[str], *, several: bool) -> Sent:
    result = await _call(request, "Download", a.DownloadArgs(paths=paths, several=several))
    services, actor, source = services_of(request), actor_of(request), source_of(result)
    try:
        return stream(services.transfers, actor, source, request.headers)
    except BaseException:
        source.close()
        services.transfers.release(actor.user_id)
        raise


@router.post("/api/fs/download", response_model=s.DownloadAnswer)
async def download(request: Request, body: s.DownloadBody) -> Sent:
    """A file, or a directory as a zip archive, as base64 inside of JSON, up to the size limit of files."""
    return await _inside(request, [body.path], several=False)


@router.post("/api/fs/download-multi", response_model=s.DownloadAnswer)
async def download_multi(request: Request, body: s.DownloadMultiBody) -> Sent:
    """Several places as one zip archive, as base64 inside of JSON."""
    return await _inside(request, body.paths, several=True)


async def _inside(request: Request, paths: list[str], *, several: bool) -> Sent:
    result = await _call(request, "Download", a.DownloadArgs(paths=paths, several=several, encoded=True))
    return inside_json(services_of(request).transfers, actor_of(request), source_of(result))


# --- look ---


@router.post("/api/fs/preview-xlsx", response_model=s.PreviewAnswer)
async def preview_xlsx(request: Request, body: s.PreviewBody) -> Result:
    """Sheets of a spreadsheet (xlsx, xlsm, xlsb, xls, ods) as rows of text; of a formula, its value."""
    return await _call(request, "PreviewSheet", a.PreviewArgs(path=body.path, max_rows=body.maxRows))


@router.post("/api/browser/open", response_model=s.OpenAnswer)
async def browser_open(request: Request, body: s.DownloadBody) -> Result:
    """Show a page, image, PDF or text on the desktop of the machine that Handrail runs on, if it has one."""
    return await _call(request, "OpenOnDesktop", PathArgs(path=body.path))
