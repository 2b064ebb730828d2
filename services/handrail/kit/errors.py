"""What can go wrong with a path or a file, for every surface: status, stable code, text in zh and en.

The codes are those that the tools report to a model (`not_found`, `out_of_bounds`, ...); `{path}` is the path as the caller wrote it.
"""

from __future__ import annotations

import errno

from handrail.contract.errors import HandrailError, Lang

SHOWN_CHARS = 300  # of a path in a message
Text = tuple[str, str]  # (en, zh)

EMPTY: Text = ("it is empty", "不能为空")
TOO_LONG: Text = ("it is too long", "路径过长")
CONTROL: Text = ("it contains a control character", "包含控制字符")
NOT_UNICODE: Text = ("it is not valid Unicode", "不是有效的 Unicode 文本")
NOT_TEXT: Text = ("it must be a string", "必须是字符串")
DOT_NAME: Text = ("it is empty or a dot name", "为空或是点名称")
SEPARATOR: Text = ("it contains a path separator", "包含路径分隔符")
LINK_LOOP: Text = ("too many symbolic links", "符号链接层数过多")
NOT_SUPPORTED: Text = ("the file system does not support it", "文件系统不支持")


class FileError(HandrailError):
    """Base of this module: `path` is cut to SHOWN_CHARS characters."""

    code = "io"
    status = 503
    en = "The file system could not do it: {path} ({reason})"
    zh = "文件系统操作失败：{path}（{reason}）"

    def __init__(self, path: str = "", *, reason: str | Text = "", **params: object) -> None:
        shown = path if len(path) <= SHOWN_CHARS else path[:SHOWN_CHARS] + "…"
        self._reason = (reason, reason) if isinstance(reason, str) else reason
        super().__init__(extra=None, headers=None, path=shown, reason=self._reason[0], **params)

    def text(self, lang: Lang) -> str:
        """The message; a reason given as (en, zh) is shown in `lang`."""
        template, reason = (self.zh, self._reason[1]) if lang == "zh" else (self.en, self._reason[0])
        return template.format(**{**self.params, "reason": reason})


class InvalidPath(FileError):
    """Not a path at all: empty, NUL or control characters, too long."""

    code = "invalid_path"
    status = 400
    en = "Invalid path: {reason}"
    zh = "路径无效：{reason}"


class OutOfBounds(FileError):
    """Outside of every allowed directory, or a link that leads there."""

    code = "out_of_bounds"
    status = 403
    en = "Path is not within allowed directories: {path}"
    zh = "路径不在允许的目录内：{path}"


class ProtectedPath(FileError):
    """The agent's own data."""

    code = "protected_path"
    status = 403
    en = "Access to agent system files is forbidden: {path}"
    zh = "禁止访问代理的系统文件：{path}"


class RootChanged(FileError):
    """The allowed directory is not the one that was opened: replaced, unmounted or gone. Nothing is done until a person confirms it."""

    code = "root_changed"
    status = 409
    en = "The allowed directory {path} was replaced or removed. Set the work directory again to confirm it."
    zh = "允许的目录 {path} 已被替换或移除。请重新设置工作目录以确认。"


class FileMissing(FileError):
    code = "not_found"
    status = 404
    en = "File does not exist: {path}"
    zh = "文件不存在：{path}"


class DirectoryMissing(FileError):
    code = "not_found"
    status = 404
    en = "Directory does not exist: {path}"
    zh = "目录不存在：{path}"


class NotAFile(FileError):
    """A directory where a file is needed."""

    code = "not_a_file"
    status = 400
    en = "Path is a directory, not a file: {path}"
    zh = "路径是目录而不是文件：{path}"


class NotADirectory(FileError):
    code = "not_a_directory"
    status = 400
    en = "Path is not a directory: {path}"
    zh = "路径不是目录：{path}"


class UnsupportedTarget(FileError):
    """A FIFO, device, socket or a file of a kernel file system."""

    code = "unsupported_target"
    status = 400
    en = "Only regular files can be used, this is a pipe, device or socket: {path}"
    zh = "只能使用普通文件，该路径是管道、设备或套接字：{path}"


class AlreadyExists(FileError):
    code = "exists"
    status = 409
    en = "Target already exists: {path}"
    zh = "目标已存在：{path}"


class RootItself(FileError):
    code = "root_itself"
    status = 400
    en = "An allowed directory itself cannot be removed, renamed or moved: {path}"
    zh = "不能删除、重命名或移动允许的目录本身：{path}"


class IntoItself(FileError):
    code = "into_itself"
    status = 400
    en = "A directory cannot be moved into itself: {path}"
    zh = "不能将目录移动到其自身内部：{path}"


class InvalidName(FileError):
    code = "invalid_name"
    status = 400
    en = "Invalid name: {reason}"
    zh = "名称无效：{reason}"


class TooLarge(FileError):
    code = "too_large"
    status = 413
    en = "File too large: {path} has {size} bytes, the limit is {limit}."
    zh = "文件过大：{path} 有 {size} 字节，上限为 {limit} 字节。"


class StaleFile(FileError):
    """Changed on disk since the version that the caller expected."""

    code = "stale_file"
    status = 409
    en = "The file has changed since it was read: {path}. Read it again first."
    zh = "文件在读取之后已被修改：{path}。请先重新读取。"


class PermissionRefused(FileError):
    code = "permission_denied"
    status = 403
    en = "The operating system refused access: {path}"
    zh = "操作系统拒绝访问：{path}"


class DirectoryNotEmpty(FileError):
    code = "not_empty"
    status = 409
    en = "The directory is not empty: {path}"
    zh = "目录不为空：{path}"


class TargetBusy(FileError):
    code = "busy"
    status = 409
    en = "The file or directory is in use by the system: {path}"
    zh = "文件或目录正被系统占用：{path}"


class NoSpace(FileError):
    code = "no_space"
    status = 507
    en = "No space left or quota exceeded: {path}"
    zh = "磁盘空间不足或超出配额：{path}"


_BY_ERRNO: dict[int, type[FileError]] = {
    errno.ENOENT: FileMissing,
    errno.EISDIR: NotAFile,
    errno.ENOTDIR: NotADirectory,
    errno.EEXIST: AlreadyExists,
    errno.ENOTEMPTY: DirectoryNotEmpty,
    errno.EACCES: PermissionRefused,
    errno.EPERM: PermissionRefused,
    errno.EROFS: PermissionRefused,
    errno.ENXIO: UnsupportedTarget,
    errno.ENODEV: UnsupportedTarget,
    errno.EBUSY: TargetBusy,
    errno.ETXTBSY: TargetBusy,
    errno.ENOSPC: NoSpace,
    errno.EDQUOT: NoSpace,
    errno.EFBIG: NoSpace,
    errno.ESTALE: RootChanged,
}


def from_os(exc: OSError, path: str) -> FileError:
    """The error class for an errno. Name and loop problems become InvalidPath, everything unknown FileError."""
    number = exc.errno or 0
    if number == errno.ENAMETOOLONG:
        return InvalidPath(path, reason=TOO_LONG)
    if number == errno.ELOOP:
        return InvalidPath(path, reason=LINK_LOOP)
    if number == errno.EINVAL:
        return InvalidPath(path, reason=NOT_SUPPORTED)
    kind = _BY_ERRNO.get(number)
    return kind(path) if kind else FileError(path, reason=errno.errorcode.get(number, "?"))


class TrashIdMissing(FileError):
    code = "trash_id_missing"
    status = 400
    en = "Missing trashId."
    zh = "缺少 trashId。"


class UnknownTrashId(FileError):
    """Not there, or another user's."""

    code = "trash_unknown"
    status = 404
    en = "No such entry in the trash: {path}"
    zh = "回收站中没有该条目：{path}"


class OriginalPlaceTaken(FileError):
    code = "trash_place_taken"
    status = 400
    en = "Cannot restore: something exists at the original path again: {path}"
    zh = "无法恢复：原路径已存在同名项：{path}"


class ParentGone(FileError):
    code = "trash_parent_gone"
    status = 400
    en = "Cannot restore: the original directory no longer exists: {path}"
    zh = "无法恢复：原目录已不存在：{path}"
