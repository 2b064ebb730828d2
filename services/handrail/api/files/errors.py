"""What the file tools refuse beyond the errors of `kit.errors`."""

from __future__ import annotations

from handrail.contract.errors import HandrailError


class RegexInvalid(HandrailError):
    code = "regex_invalid"
    status = 400
    en = "Invalid regular expression: {reason}"
    zh = "正则表达式无效：{reason}"


class GlobInvalid(HandrailError):
    code = "glob_invalid"
    status = 400
    en = "Invalid file pattern: {reason}"
    zh = "文件匹配模式无效：{reason}"


class PatternInvalid(HandrailError):
    code = "pattern_invalid"
    status = 400
    en = "The search pattern must be one non-empty line without NUL."
    zh = "搜索内容必须是单行非空文本，且不含 NUL 字符。"


class NotText(HandrailError):
    code = "not_text"
    status = 415
    en = "The file is binary, not text: {path}{hint}"
    zh = "文件是二进制文件，不是文本：{path}{hint}"

    def __init__(self, *, path: str, hint: str = "") -> None:
        """`hint` says what the bytes look like."""
        super().__init__(path=path, hint=f" ({hint})" if hint else "")


class CannotEncode(HandrailError):
    code = "cannot_encode"
    status = 400
    en = "The file is {encoding} text, which has no form for a character of the new text: {path}"
    zh = "该文件编码为 {encoding}，新文本中有字符无法用此编码表示：{path}"


class BadBase64(HandrailError):
    code = "bad_base64"
    status = 400
    en = "The content is not valid base64."
    zh = "内容不是有效的 base64。"


class EditNoMatch(HandrailError):
    code = "edit_no_match"
    status = 409
    en = "old_string was not found in {path}. Read the file again and copy the text exactly.{hint_en}"
    zh = "在 {path} 中未找到 old_string。请重新读取文件并准确复制文本。{hint_zh}"


class EditAmbiguous(HandrailError):
    code = "edit_ambiguous"
    status = 409
    en = "old_string occurs {count} times in {path} (lines {lines}). Add surrounding lines to make it unique, or set replace_all."
    zh = "old_string 在 {path} 中出现了 {count} 次（第 {lines} 行）。请加入上下文使其唯一，或设置 replace_all。"


class EditCountMismatch(HandrailError):
    code = "edit_count_mismatch"
    status = 409
    en = "Expected {expected} replacements in {path}, there would be {actual}. Nothing was changed."
    zh = "预期在 {path} 中替换 {expected} 处，实际为 {actual} 处。未做任何修改。"


class EditNoChange(HandrailError):
    code = "edit_no_change"
    status = 400
    en = "old_string and new_string lead to the same file: {path}"
    zh = "old_string 与 new_string 的结果相同，文件无变化：{path}"


class TooManyFileTasks(HandrailError):
    code = "files.busy"
    status = 429
    en = "Too many file operations are waiting. Try again in a moment."
    zh = "等待中的文件操作过多，请稍后重试。"


class BadVersion(HandrailError):
    code = "bad_version"
    status = 400
    en = "The expected version is not one that Read or a write gave."
    zh = "预期版本不是由读取或写入返回的版本。"


class PatchInvalid(HandrailError):
    code = "patch_invalid"
    status = 400
    en = "The patch is not a unified diff that can be applied (line {line}): {reason}"
    zh = "补丁不是可应用的 unified diff（第 {line} 行）：{reason}"


class PatchNoMatch(HandrailError):
    code = "patch_no_match"
    status = 409
    en = "Hunk {hunk} does not fit {path}. Read the file again and make the patch anew. Nothing was changed."
    zh = "补丁块 {hunk} 与 {path} 不符。请重新读取文件并重新生成补丁。未做任何修改。"


class PatchAmbiguous(HandrailError):
    code = "patch_ambiguous"
    status = 409
    en = "Hunk {hunk} fits {count} places in {path} and none of them is where it says. Give more context. Nothing was changed."
    zh = "补丁块 {hunk} 在 {path} 中有 {count} 处可匹配，且都不在其声明的位置。请提供更多上下文。未做任何修改。"


class BadOffset(HandrailError):
    code = "bad_offset"
    status = 400
    en = "line_offset {offset} is not the start of a character within line {line} of {path}."
    zh = "line_offset {offset} 不是 {path} 第 {line} 行内某个字符的起点。"


class NotThatDocument(HandrailError):
    code = "not_a_document"
    status = 415
    en = "The file cannot be read as {kind}: {path}"
    zh = "无法将文件作为 {kind} 读取：{path}"


class DocumentRefused(HandrailError):
    code = "document_refused"
    status = 422
    en = "The document is too large, encrypted or built to do harm, and is not read ({reason}): {path}"
    zh = "文档过大、已加密或存在恶意结构，拒绝读取（{reason}）：{path}"


class NotAPicture(HandrailError):
    code = "not_a_picture"
    status = 415
    en = "Not a supported picture: {path}"
    zh = "不是支持的图片：{path}"


class TooManyPictures(HandrailError):
    code = "too_many_pictures"
    status = 400
    en = "Give between 1 and {limit} pictures."
    zh = "请提供 1 到 {limit} 张图片。"
