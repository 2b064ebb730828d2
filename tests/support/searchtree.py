"""A tree for the two search engines: mixed encodings, line ends, binary, odd names, hidden and skipped directories."""

# ruff: noqa: E501, RUF001 - tables of patterns in several alphabets
from __future__ import annotations

import os
from pathlib import Path


def build(root: Path) -> None:
    files: dict[str, bytes] = {
        "a.py": b"import os\n\ndef foo(bar):\n    return bar  # TODO\n\n# foo again\nFOO = 1\n",
        "b.txt": "中文内容\nTODO: 翻译\nÉcole école\nstraße\n".encode(),
        "crlf.txt": b"one\r\ntwo foo\r\n\r\nfoo\r\n",
        "no_end.txt": b"first\nlast foo",
        "empty.txt": b"",
        "only_newlines": b"\n\n\n",
        "bom8.txt": b"\xef\xbb\xbffoo at the start\nsecond\n",
        "wide.txt": "wide foo\nзначение\n".encode("utf-16"),
        "wide_be.txt": b"\xfe\xff" + "big foo\n".encode("utf-16-be"),
        "latin.txt": "caf\xe9 foo\n".encode("latin-1"),
        "gbk.txt": "中文 foo\n".encode("gbk"),
        "bin_start": b"\0foo\n",
        "bin_late": b"foo\n" * 20000 + b"\0\n",
        "pic.png": b"\x89PNG\r\n\x1a\n\0\0foo",
        "long.min.js": b"x" * 300_000 + b"foo" + b"y" * 300_000 + b"\n" + b"foo\n",
        "many.txt": b"".join(b"line %d foo\n" % n for n in range(400)),
        "a:12:b.txt": b"colons foo\n",
        "-foo.txt": b"dash foo\n",
        "--pre=x": b"option foo\n",
        "with space.txt": b"space foo\n",
        "new.TXT": b"upper foo\n",
        "sub/deep/er/x.py": b"class Foo:\n    foo = None\n",
        "sub/x.py": b"a.b\na+b\na*b (c) [d] {e} ^f$ \\g |h\n",
        "sub.d/y.txt": b"sorted foo\n",
        "sub-a/z.txt": b"foo\n",
        ".hidden": b"hidden foo\n",
        ".config/x": b"dot directory foo\n",
        ".git/config": b"git foo\n",
        "node_modules/m/index.js": b"module foo\n",
        "dist/out.js": b"dist foo\n",
        "sub/build/out.js": b"build foo\n",
        "build.txt": b"build foo\n",
        ".gitignore": b"ignored\n*.log\n!keep.log\n/sub/*/er/\n",
        "ignored": b"ignored foo\n",
        "a.log": b"log foo\n",
        "keep.log": b"kept foo\n",
        "sub/.ignore": b"gone.*\n!gone.md\n",
        "sub/gone.txt": b"gone foo\n",
        "sub/gone.md": b"kept foo\n",
        "sub/deep/gone.txt": b"gone foo\n",
        "sub.d/profound/er/x": b"kept foo\n",
        "words": b"foobar barfoo foo-bar foo_bar\nno\n\tfoo\n  foo  \nFOO\nfo\n",
        "controls.txt": b"a\tb foo\x1b[31m red\x07\n",
        "vertical": b"one\x0btwo foo\x0cthree\n",
        "lone_cr": b"one\rtwo foo\rthree\n",
        "invalid": b"ok foo\n\xff\xfe\xfa foo \xe4\xb8\n\xc3 end\n",
    }
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    with open(os.fsencode(root) + b"/odd\xff\xe9.txt", "wb") as file:
        file.write(b"odd name foo\n")
    (root / "new\nline.txt").write_bytes(b"line foo\n")
    (root / "link.txt").symlink_to("a.py")
    (root / "link_dir").symlink_to("sub")
    (root / "link_out").symlink_to("/etc")
    os.mkfifo(root / "fifo")


FIXED = [
    "foo", "FOO", "TODO", "a.b", "a+b", "a*b", "(c)", "[d]", "{e}", "^f$", "\\g", "|h", "foo(bar)", "中文", "翻译", "école", "ÉCOLE", "straße", "STRASSE",
    "значение", " ", "\t", "--pre=x", "-foo", "-e", "--", "x", "one", "line 399", "café", "zzz_nothing", "foo ", "$", "^", ".*", "\\b", "ſ", "K", "é",
]  # fmt: skip

REGEX = [
    "foo", "^foo", "foo$", "^foo$", "^$", "f.o", "fo+", "(foo|bar)", r"\bfoo\b", r"\Bfoo", r"foo\B", r"foo\d*", r"\w+\(\w+\)", r"^\s+foo", r"\S+foo\S*",
    r"line \d+ foo$", r"[^f]oo", "[fF]oo", "[[:alpha:]]+foo", r"[\w.]+foo", r"[^\w\s]foo", r"\.", r"a\.b", r"\$", r"[$]", r"\^f", r"[a-c]\+b", r"\[d\]",
    r"[[d]", r"[]d]", r"[^]d]oo", r"[&~]", r"\x66oo", r"\x{66}oo", r"\p{Han}+", r"\p{L}+e", r"\pN", r"(?i:FOO)", r"(?P<n>foo)", r"foo.*bar", r"^.{3}$", r"^.{0,3}$",
    r"\Qa.b\E", r"\Q(c)", r"\Afoo", r"foo\z", r"foo\s*$", r"é", r"caf.", r"\bécole\b", r".", r"^.*$", r"x*", r"$", r"^", r"one\s", r"\tfoo", r"[\t ]foo",
    r"foo\r", r"(?s).foo", r"(?U)f.*o", r"\a", r"\x1b", r"foo[\s\S]*", r"[\d\w]oo", r"\D\D\D$", r"\W", r"[^\n]foo", r"--pre", r"-", r"[a\-z]oo", r"[f-g]oo",
]  # fmt: skip
