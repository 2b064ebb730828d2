"""The text that a change starts from: read now, and compared with what the caller saw or says that it saw."""

from __future__ import annotations

from dataclasses import dataclass

from handrail.api.context import Actor
from handrail.api.files.errors import BadVersion, CannotEncode, NotText
from handrail.api.files.service import FileService
from handrail.api.tools.registry import Result
from handrail.contract.errors import Lang
from handrail.kit import files as kit_files
from handrail.kit.errors import FileMissing, StaleFile, TooLarge
from handrail.kit.paths import Location, Scope
from handrail.kit.text import Decoded, decode, encode
from handrail.kit.versions import FileVersion

NOTICE: dict[Lang, str] = {
    "en": "The file had not been read whole before, so it was read now; its content was not shown. Read it if you have not seen it.",
    "zh": "该文件此前未被完整读取，现已自动读取，但内容未展示。如未看过请先读取。",
}


@dataclass(frozen=True, slots=True)
class Base:
    """A file as it is before a change."""

    location: Location
    raw: bytes
    text: Decoded
    version: FileVersion
    auto_read: bool


def expected(text: str) -> FileVersion:
    """What a client sent as the version. Raises BadVersion."""
    try:
        return FileVersion.parse(text)
    except ValueError as exc:
        raise BadVersion from exc


def load(files: FileService, actor: Actor, scope: Scope, location: Location, wanted: str | None) -> Base:
    """Read a text for a change. Raises StaleFile when it is not what was seen, NotText, FileMissing, TooLarge, ..."""
    try:
        raw, info = kit_files.read(scope, location, files.file_max_size)
    except FileMissing:
        files.seen.forget(actor, location)
        raise
    version = FileVersion.of(info, raw)
    auto_read = False
    if wanted is not None:
        if not version.matches(expected(wanted)):
            raise StaleFile(location.path)
    else:
        sight = files.seen.get(actor, location)
        if sight is not None and not sight.version.matches(version):
            raise StaleFile(location.path)
        auto_read = sight is None or not sight.whole
    text = decode(raw)
    if text.binary:
        raise NotText(path=location.path)
    return Base(location, raw, text, version, auto_read)


def encoded(files: FileService, base: Base, text: str) -> bytes:
    """The new bytes in the encoding of the old ones. Raises CannotEncode, TooLarge."""
    try:
        data = encode(text, base.text.encoding, bom=base.text.bom)
    except UnicodeEncodeError as exc:
        raise CannotEncode(path=base.location.path, encoding=base.text.encoding) from exc
    if len(data) > files.file_max_size:
        raise TooLarge(base.location.path, size=len(data), limit=files.file_max_size)
    return data


def save(files: FileService, actor: Actor, scope: Scope, base: Base, data: bytes) -> FileVersion:
    """Replace exactly the version that was read. Raises StaleFile when somebody else was faster."""
    written = kit_files.write(scope, base.location, data, parents=False, expect=base.version)
    version = FileVersion.written(written.version, data)
    files.seen.put(actor, base.location, version, whole=True)
    return version


def described(base: Base, text: str, version: FileVersion, lang: Lang) -> Result:
    """What every changing tool says of the new file."""
    answer: Result = {
        "path": base.location.path,
        "size": version.size,
        "totalLines": line_count(text),
        "encoding": base.text.encoding,
        "version": str(version),
    }
    if base.auto_read:
        answer |= {"autoRead": "full", "notice": NOTICE[lang]}
    return answer


def line_count(text: str) -> int:
    """Lines of a text; a line end at the very end begins no further one."""
    return text.count("\n") + (not text.endswith("\n") and bool(text))
