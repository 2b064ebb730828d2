# ruff: noqa: E501 - a test may look at the disk; bytes of documents
"""Documents and pictures: read in a jailed child or handed over, hostile ones refused."""

from __future__ import annotations

import asyncio
import base64
import importlib
import io
import json
import os
import socket
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from handrail.api.files.errors import NotText
from handrail.api.files.read import sniff
from handrail.contract.errors import HandrailError
from handrail.kit.errors import TooLarge, UnsupportedTarget
from tests.support.filecalls import Calls

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")


def pdf(pages: int, *, kids: int | None = None) -> bytes:
    """A valid PDF with one line of text a page."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    refs: list[str] = []
    for number in range(1, pages + 1):
        stream = f"BT /F1 12 Tf 20 100 Td (Text of page {number}) Tj ET".encode()
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
            % len(objects)
        )
        refs.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(refs)}] /Count {kids or pages} >>".encode()
    out, offsets = bytearray(b"%PDF-1.4\n"), list[int]()
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return bytes(out + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start))


W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def zipped(members: Mapping[str, bytes | str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def docx(body: str, *, head: str = "", rels: str = "") -> bytes:
    types = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
    top = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>'
    members: dict[str, bytes | str] = {
        "[Content_Types].xml": types,
        "_rels/.rels": top,
        "word/document.xml": f'<?xml version="1.0"?>{head}<w:document {W}><w:body>{body}</w:body></w:document>',
    }
    if rels:
        members["word/_rels/document.xml.rels"] = rels
    return zipped(members)


def paragraphs(*texts: str) -> str:
    return "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in texts)


def slides(path: Path, count: int) -> None:
    pptx: Any = importlib.import_module("pptx")
    deck = pptx.Presentation()
    for number in range(1, count + 1):
        slide = deck.slides.add_slide(deck.slide_layouts[5])
        slide.shapes.title.text = f"Title {number} é中"
        table = slide.shapes.add_table(1, 2, 0, 0, 100, 100).table
        table.cell(0, 0).text, table.cell(0, 1).text = "left", "right"
        slide.notes_slide.notes_text_frame.text = f"say {number}"
    deck.save(str(path))


@pytest.mark.req("F3")
async def test_pages_of_a_pdf_are_read(calls: Calls, work: Path) -> None:
    (work / "a.pdf").write_bytes(pdf(12))
    answer = await calls("Read", path="a.pdf")
    assert (answer["kind"], answer["pageTotal"], answer["pageEnd"], answer["view"]) == ("pdf", 12, 5, "partial")
    assert "--- page 5 ---\nText of page 5" in answer["content"]
    answer = await calls("Read", path="a.pdf", page_start=11, page_limit=10)
    assert (answer["pageStart"], answer["pageEnd"]) == (11, 12)
    assert "page 10 " not in answer["content"]
    assert "Text of page 12" in answer["content"]
    assert (await calls("Read", path="a.pdf", page_start=99))["content"] == ""


@pytest.mark.req("F3")
async def test_office_documents_notebooks_and_archives_are_read(calls: Calls, work: Path) -> None:
    (work / "a.docx").write_bytes(docx(paragraphs("Erste Zeile é中", "second line")))
    answer = await calls("Read", path="a.docx")
    assert (answer["kind"], answer["content"].split()) == ("word", ["Erste", "Zeile", "é中", "second", "line"])
    slides(work / "a.pptx", 3)
    answer = await calls("Read", path="a.pptx", page_start=2, page_limit=1)
    assert (answer["kind"], answer["slideTotal"]) == ("slides", 3)
    assert answer["content"] == "--- slide 2 ---\nTitle 2 é中\nleft | right\nNotes: say 2"
    xlsxwriter: Any = importlib.import_module("xlsxwriter")
    with xlsxwriter.Workbook(str(work / "a.xlsx")) as book:
        sheet = book.add_worksheet("Werte")
        sheet.write_row(0, 0, ["name", "n"])
        sheet.write_row(1, 0, ["é中", 1.5])
    answer = await calls("Read", path="a.xlsx")
    assert (answer["kind"], answer["content"]) == ("sheet", "--- sheet 1: Werte (2 rows, 2 columns) ---\nname\tn\né中\t1.5")
    cells = [
        {"cell_type": "code", "source": ["a = 1\n", "a"], "outputs": [{"data": {"text/plain": "1"}}, {"ename": "E", "evalue": "x"}]},
        {"cell_type": "markdown", "source": "x" * 3000},
        7,
    ]
    (work / "a.ipynb").write_text(json.dumps({"cells": cells}))
    answer = await calls("Read", path="a.ipynb")
    assert (answer["kind"], answer["cellTotal"]) == ("notebook", 3)
    assert answer["content"].startswith("--- cell 1 ---\n[code]\na = 1\na\n=> 1\n=> E: x\n--- cell 2 ---\n[markdown]\nxxx")
    assert "[1800 more characters]" in answer["content"]
    assert "[broken cell]" in answer["content"]
    (work / "a.zip").write_bytes(zipped({f"d/{n}.txt": "x" * n for n in range(300)} | {"../../evil\n": "x"}))
    answer = await calls("Read", path="a.zip", start_line=299)
    assert (answer["kind"], answer["entryTotal"]) == ("archive", 301)
    assert answer["content"].splitlines()[0].split() == ["298", "7", "d/298.txt"]
    assert answer["content"].splitlines()[2].endswith("'../../evil\\n'")


@pytest.mark.req("F3", "C20")
async def test_a_picture_is_handed_over_by_what_it_is(calls: Calls, work: Path) -> None:
    (work / "wrong.txt").write_bytes(PNG)
    answer = await calls("Read", path="wrong.txt")
    assert (answer["kind"], answer["mimeType"], base64.b64decode(answer["data"])) == ("image", "image/png", PNG)
    (work / "huge.png").write_bytes(PNG)
    os.truncate(work / "huge.png", (25 << 20) + 1)
    with pytest.raises(TooLarge):
        await calls("Read", path="huge.png")
    for head, kind in (
        (b"\xff\xd8\xff\xe0", "jpeg"),
        (b"GIF89a", "gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "webp"),
        (b"\0\0\0\x1cftypavif", "avif"),
        (b"BM\x10\0\0\0\0\0\0\0", "bmp"),
    ):
        assert sniff.image_type(head) == f"image/{kind}"
    assert sniff.image_type(b"<svg>") is None


@pytest.mark.req("F3", "ATK-28")
@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("pe.pdf", b"MZ\x90\0" + b"\0" * 500, "not_text"),
        ("broken.pdf", b"%PDF-1.7\n" + b"\xff" * 5000, "not_a_document"),
        ("broken.docx", b"PK\x03\x04" + b"\xff" * 500, "not_a_document"),
        ("broken.pptx", zipped({"a": "b"}), "not_a_document"),
        ("broken.docx", zipped({"a": "b"}), "not_a_document"),
        ("broken.zip", b"PK\x05\x06" + b"\xff" * 100, "document_refused"),
        ("bomb.docx", docx(paragraphs("x" * (300 << 20))), "document_refused"),
        ("bomb.pptx", zipped({"ppt/x.xml": b"\0" * (300 << 20)}), "document_refused"),
        ("slip.docx", zipped({"../../etc/x": "y", "word/document.xml": "<x/>"}), "document_refused"),
        ("laughs.docx", docx(paragraphs("&i;"), head="<!DOCTYPE w [<!ENTITY a 'aaaaaaaaaa'>" + "".join(f"<!ENTITY {chr(98 + n)} '{f'&{chr(97 + n)};' * 40}'>" for n in range(8)) + "]>"), "not_a_document"),
        ("xxe.docx", docx(paragraphs("&x;"), head='<!DOCTYPE w [<!ENTITY x SYSTEM "file:///etc/passwd">]>'), None),
        ("deep.ipynb", b'{"cells":' + b"[" * 100_000, "not_a_document"),
        ("no.ipynb", b'{"cells": 5}', "not_a_document"),
    ],
)  # fmt: skip
async def test_hostile_documents_are_refused_and_harm_nothing(calls: Calls, work: Path, name: str, data: bytes, code: str | None) -> None:
    (work / name).write_bytes(data)
    if code is None:
        assert "root:" not in (await calls("Read", path=name)).get("content", "")
        return
    with pytest.raises(HandrailError) as caught:
        await calls("Read", path=name)
    assert caught.value.code == code


@pytest.mark.req("F3", "ATK-28")
async def test_a_document_cannot_make_the_reader_look_elsewhere(calls: Calls, work: Path) -> None:
    """An external picture or template is neither fetched nor read."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.setblocking(False)
        where = f"http://127.0.0.1:{server.getsockname()[1]}/x"
        rels = f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId9" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image" Target="{where}" TargetMode="External"/></Relationships>'
        picture = '<w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData><pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:blipFill><a:blip xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" r:link="rId9"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>'
        (work / "a.docx").write_bytes(docx(paragraphs("text") + picture, rels=rels))
        assert "text" in (await calls("Read", path="a.docx"))["content"]
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.req("F3", "ATK-28")
async def test_many_pages_and_encrypted_documents_end_soon(calls: Calls, work: Path) -> None:
    (work / "many.pdf").write_bytes(pdf(3000))
    answer = await calls("Read", path="many.pdf", page_start=2999)
    assert "Text of page 3000" in answer["content"]
    (work / "lies.pdf").write_bytes(pdf(2, kids=100_000_000))
    assert "Text of page 2" in (await calls("Read", path="lies.pdf"))["content"]
    outcomes = await asyncio.gather(*(calls("Read", path="many.pdf", page_start=n) for n in range(1, 6)))
    assert [f"Text of page {n + 1}" in outcome["content"] for n, outcome in enumerate(outcomes)] == [True] * 5


@pytest.mark.req("F3", "PF-C1")
async def test_binary_files_and_devices_are_refused_with_a_hint(calls: Calls, work: Path) -> None:
    for data, hint in (
        (b"\x7fELF\2\1\1\0", "ELF"),
        (b"\x1f\x8b\x08\0\0", "gzip"),
        (b"SQLite format 3\0", "SQLite"),
        (sniff.OLE + b"\0" * 8, "Office"),
    ):
        (work / "x").write_bytes(data)
        with pytest.raises(NotText) as caught:
            await calls("Read", path="x")
        assert hint in caught.value.text("en")
    os.mkfifo(work / "fifo")
    with pytest.raises(UnsupportedTarget):
        await asyncio.wait_for(calls("Read", path="fifo"), 5)
