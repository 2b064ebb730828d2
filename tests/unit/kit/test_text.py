from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.kit.text import Decoded, decode, encode

SAMPLES = {
    "gb18030": [
        "你好，世界\n这是一个测试文件。",
        "配置项：端口",
        "注释：初始化数据库连接\nint main() {}",
        "错误",
        "甲乙丙丁",
        "𠀀是扩展区的字，会用四字节",
    ],
    "big5": ["你好，世界\n這是一個測試檔案。", "設定檔：連接埠", "註解：初始化資料庫連線\nint main() {}", "錯誤"],
    "shift_jis": ["こんにちは、世界\nこれはテストです。", "設定ファイル", "テスト", "日本語のコメント", "エラー"],
    "latin-1": ["café\n", "naïve résumé für Übung", "señor", "Größe", "Müller\n", "déjà vu", 'x = "ß"', "£5", "élan", "Ça va"],
    "windows-1252": ["“quoted” – it’s", "5 € each"],
    "utf-8": ["", "plain ascii\n", "mixed 中文 text é", "emoji 🙂"],
    "utf-16-le": ["hello world\n", "one\r\ntwo\r\n"],
    "utf-16-be": ["hello\n"],
}


@pytest.mark.req("C4", "PF-B9")
@pytest.mark.parametrize(("encoding", "text"), [(name, text) for name, texts in SAMPLES.items() for text in texts])
def test_text_is_detected_and_goes_back_to_its_bytes(encoding: str, text: str) -> None:
    raw = text.encode(encoding)
    found = decode(raw)
    assert (found.text, found.encoding, found.bom, found.lossy) == (text, encoding, False, False)
    assert encode(found.text, found.encoding, bom=found.bom) == raw


@pytest.mark.req("PF-B9")
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_is_no_character_and_comes_back(encoding: str) -> None:
    raw = "hé中\n".encode(encoding)
    found = decode(raw)
    assert (found.text, found.bom) == ("hé中\n", True)
    assert encode(found.text, found.encoding, bom=True) == raw


@pytest.mark.req("PF-B9")
@pytest.mark.parametrize(
    "raw", [b"\x7fELF\x02\x01\x01\0\0", bytes(range(256)), b"\x89PNG\r\n\x1a\n" + bytes(range(128, 256)), b"a\0b", b"\xff\xfe\0"]
)
def test_binary_is_said_to_be_binary(raw: bytes) -> None:
    found = decode(raw)
    assert found.binary
    with pytest.raises(ValueError, match="binary"):
        encode(found.text, found.encoding)


@given(st.binary(max_size=300))
def test_decoding_never_fails_and_what_is_not_lossy_comes_back(raw: bytes) -> None:
    found = decode(raw)
    if found.binary:
        assert found.lossy == (found.text.encode("utf-8", "surrogatepass") != raw)
    else:
        assert not found.lossy
        assert encode(found.text, found.encoding, bom=found.bom) == raw


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=100),
    st.sampled_from(["utf-8-sig", "utf-16", "utf-32", "utf-8", "gb18030"]),
)
def test_text_in_an_encoding_is_never_harmed(text: str, encoding: str) -> None:
    raw = text.encode(encoding)
    found: Decoded = decode(raw)
    if not found.binary:
        assert encode(found.text, found.encoding, bom=found.bom) == raw
