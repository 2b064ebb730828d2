"""What transfers refuse beyond the errors of `kit.errors`."""

from __future__ import annotations

from handrail.contract.errors import HandrailError


class UploadAborted(HandrailError):
    """The client went away, fell silent, or sent fewer bytes than it had announced."""

    code = "upload.aborted"
    status = 400
    en = "The upload ended before its last byte: {received} bytes came."
    zh = "上传在完成前中断：已收到 {received} 字节。"


class UploadTooLarge(HandrailError):
    code = "upload.too_large"
    status = 413
    en = "The upload is too large: the limit is {limit} bytes."
    zh = "上传内容过大：上限为 {limit} 字节。"


class UploadQuota(HandrailError):
    code = "upload.quota"
    status = 413
    en = "Your unfinished uploads would take more than {limit} bytes. Finish or remove some of them."
    zh = "未完成的上传将超过 {limit} 字节。请先完成或删除一部分。"


class OffsetDiffers(HandrailError):
    """`offset` in the body says where to go on."""

    code = "upload.offset"
    status = 409
    en = "The upload goes on at byte {expected}, not at byte {offset}."
    zh = "上传应从第 {expected} 字节继续，而不是第 {offset} 字节。"


class HashDiffers(HandrailError):
    code = "upload.hash"
    status = 422
    en = "The SHA-256 of what arrived is {actual}, not the announced one. Nothing was changed."
    zh = "收到内容的 SHA-256 为 {actual}，与声明不符。未做任何修改。"


class TooManyTransfers(HandrailError):
    code = "transfer.busy"
    status = 429
    en = "At most {limit} transfers run at once. Try again when one has ended."
    zh = "最多同时进行 {limit} 个传输，请在其中之一完成后重试。"


class TooManyEntries(HandrailError):
    code = "archive.too_many"
    status = 413
    en = "Too many files for one archive: the limit is {limit}."
    zh = "单个压缩包的文件过多：上限为 {limit}。"


class NothingSelected(HandrailError):
    code = "paths_missing"
    status = 400
    en = "Name at least one path, and at most {limit}."
    zh = "请至少指定一个路径，最多 {limit} 个。"


class RangeRefused(HandrailError):
    code = "range"
    status = 416
    en = "The range lies outside of the file, which has {size} bytes."
    zh = "请求范围超出文件，文件大小为 {size} 字节。"


class BadForm(HandrailError):
    code = "form"
    status = 400
    en = "The form is not valid: {reason}"
    zh = "表单无效：{reason}"


class NotASpreadsheet(HandrailError):
    code = "not_spreadsheet"
    status = 415
    en = "This is not a spreadsheet that can be shown: {path}"
    zh = "无法预览，该文件不是可识别的电子表格：{path}"


class SheetRefused(HandrailError):
    """A bomb, or larger than the limits of the parser."""

    code = "sheet_refused"
    status = 413
    en = "The spreadsheet needs more than a preview may take: {path} ({reason})"
    zh = "电子表格超出预览允许的限度：{path}（{reason}）"


class NoDesktop(HandrailError):
    code = "browser.no_desktop"
    status = 409
    en = "There is no desktop to open it on where Handrail runs. Download the file instead."
    zh = "Handrail 所在机器没有可用的桌面环境，请改为下载该文件。"


class NotForBrowser(HandrailError):
    """Opening it on the desktop would run it, or nobody knows what it would do."""

    code = "browser.type"
    status = 415
    en = "Only pages, images, PDF and plain text are opened on the desktop: {path}"
    zh = "仅可在桌面上打开网页、图片、PDF 和纯文本：{path}"
