"""Spreadsheet previews, in the real child process."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest

from handrail.api.files import sheets
from handrail.api.files.transfer_arguments import PreviewArgs
from handrail.api.files.transfer_errors import NotASpreadsheet, SheetRefused
from handrail.api.tools.registry import Invocation
from tests.support.filecalls import Calls

NS = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
STYLES = f'<styleSheet {NS}><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>'


def workbook(path: Path, rows: str, *, after: str = "", extra: dict[str, bytes] | None = None) -> None:
    """A minimal xlsx file of one sheet."""
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": (
            f'<Relationships xmlns="{PACKAGE}/relationships">'
            f'<Relationship Id="r1" Type="{REL}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
        ),
        "xl/workbook.xml": f'<workbook {NS} xmlns:r="{REL}"><sheets><sheet name="Data 表" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": (
            f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" Type="{REL}/worksheet" Target="worksheets/sheet1.xml"/>'
            f'<Relationship Id="r2" Type="{REL}/styles" Target="styles.xml"/></Relationships>'
        ),
        "xl/styles.xml": STYLES,
        "xl/worksheets/sheet1.xml": f"<worksheet {NS}><sheetData>{rows}</sheetData>{after}</worksheet>",
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
        for name, raw in (extra or {}).items():
            file.writestr(name, raw)


async def preview(calls: Calls, path: Path, **more: Any) -> dict[str, Any]:
    tool = calls.registry.get("Read")
    assert tool is not None
    args = PreviewArgs(path=str(path), **more)
    return (await sheets.preview(calls.service, Invocation(calls.actor, tool, args, {}, None)))["data"]["sheets"][0]


@pytest.mark.req("C11", "TR-9")
async def test_cells_are_shown_as_a_person_sees_them(calls: Calls, work: Path) -> None:
    rows = (
        '<row r="1"><c r="A1" t="inlineStr"><is><t>名字</t></is></c><c r="B1"><v>3</v></c>'
        '<c r="C1"><v>0.1</v></c><c r="D1" t="b"><v>1</v></c></row>'
        '<row r="3"><c r="A3" s="1"><v>45292</v></c><c r="B3"><f>B1*2</f><v>6</v></c>'
        '<c r="C3" t="str"><f>"a"&amp;"b"</f><v>ab</v></c></row>'
    )
    workbook(work / "x.xlsx", rows, after='<mergeCells count="1"><mergeCell ref="A1:B2"/></mergeCells>')
    sheet = await preview(calls, work / "x.xlsx")
    assert (sheet["name"], sheet["index"], sheet["colCount"], sheet["totalRows"], sheet["truncated"]) == ("Data 表", 0, 4, 3, False)
    assert sheet["rows"] == [["名字", "3", "0.1", "TRUE"], [], ["2024-01-01", "6", "ab"]]
    assert sheet["merged"] == [{"row": 0, "column": 0, "rowSpan": 2, "colSpan": 2}]


async def test_a_table_that_begins_further_in_keeps_its_place(calls: Calls, work: Path) -> None:
    workbook(work / "x.xlsx", '<row r="2"><c r="B2"><v>1</v></c></row><row r="4"><c r="D4"><v>2</v></c></row>')
    sheet = await preview(calls, work / "x.xlsx")
    assert (sheet["rows"], sheet["totalRows"], sheet["colCount"]) == ([[], ["", "1"], [], ["", "", "", "2"]], 4, 4)


@pytest.mark.req("C11", "TR-9")
async def test_long_sheets_are_cut_and_say_so(calls: Calls, work: Path) -> None:
    workbook(work / "x.xlsx", "".join(f'<row r="{n}"><c r="A{n}"><v>{n}</v></c></row>' for n in range(1, 3001)))
    sheet = await preview(calls, work / "x.xlsx")
    assert (len(sheet["rows"]), sheet["totalRows"], sheet["truncated"], sheet["rows"][-1]) == (2001, 3000, True, ["2001"])
    assert len((await preview(calls, work / "x.xlsx", max_rows=5))["rows"]) == 5


@pytest.mark.req("ATK-27", "C11", "TR-7")
@pytest.mark.parametrize("bomb", ["sparse", "ratio", "lie", "slip", "link"])
async def test_a_bomb_is_refused_and_the_service_lives(calls: Calls, work: Path, bomb: str) -> None:
    path = work / "bomb.xlsx"
    cell = '<row r="1"><c r="A1"><v>1</v></c></row>'
    if bomb == "sparse":  # two cells, seventeen thousand million in between
        workbook(path, cell + '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>')
    elif bomb == "ratio":
        workbook(path, cell, extra={"xl/media/zeros.bin": bytes(200 << 20)})
    elif bomb == "lie":
        workbook(path, cell, extra={"xl/media/zeros.bin": bytes(300 << 20)})
        raw = path.read_bytes()
        path.write_bytes(raw.replace(struct.pack("<I", 300 << 20), struct.pack("<I", 10_000)))
    elif bomb == "slip":
        workbook(path, cell, extra={"../../evil": b"x"})
    else:
        workbook(path, cell)
        with zipfile.ZipFile(path, "a") as file:
            info = zipfile.ZipInfo("xl/link.xml")
            info.external_attr = 0o120777 << 16
            file.writestr(info, "/etc/passwd")
    with pytest.raises((SheetRefused, NotASpreadsheet)):
        await preview(calls, path)
    workbook(path, cell)
    assert (await preview(calls, path))["rows"] == [["1"]]


@pytest.mark.req("ATK-28", "TR-9")
async def test_entities_and_outside_references_are_not_followed(calls: Calls, work: Path) -> None:
    workbook(work / "x.xlsx", "")
    laughs = "".join(
        f'<!ENTITY l{n} "&l{n - 1};&l{n - 1};&l{n - 1};&l{n - 1};&l{n - 1};&l{n - 1};&l{n - 1};&l{n - 1};">' for n in range(1, 12)
    )
    document = (
        f'<?xml version="1.0"?><!DOCTYPE w [<!ENTITY l0 "ha"><!ENTITY file SYSTEM "file:///etc/passwd">{laughs}]>'
        f'<worksheet {NS}><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>&l11;&file;</t></is></c></row></sheetData></worksheet>'
    )
    raw = work / "x.xlsx"
    with zipfile.ZipFile(raw) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    parts["xl/worksheets/sheet1.xml"] = document.encode()
    with zipfile.ZipFile(raw, "w") as file:
        for name, content in parts.items():
            file.writestr(name, content)
    try:
        shown = str(await preview(calls, raw))
    except (SheetRefused, NotASpreadsheet):
        return  # refused whole: as good
    assert "root:" not in shown
    assert len(shown) < 5000
