"""Which legacy encoding a text is most likely in: the one under which its characters are the most usual. Pure.

Every candidate decodes the sample; each non-ASCII character scores by how usual it is in running text. There is no
frequency table of a language here, only a short list of the commonest characters and the structure of the code pages
(in GB 2312 and Big5 the common characters come first).
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from typing import Literal

Legacy = Literal["gb18030", "big5", "shift_jis", "windows-1252", "latin-1"]

# the commonest characters of running Chinese text, simplified and traditional
COMMON_HAN = frozenset(
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运"
    "這個們來為國說時會對於過發後裡麼經學現當沒動還進樣無與長機實從開關點業將兩間問並應戰頭體見話產給門員論處義條氣題爾別變總電數報結資務計統區決書則聽卻達強難權萬張該規術領確傳師觀讓識帶導爭運請檔設定測試檢視"
)
ASCII = 0x7F  # the last one
COMMON_POINT = 3  # one of the list, or kana
USUAL_POINT = 1  # in the first, common part of its code page
RARE_POINT = -1
NEVER_POINT = -6  # private use, unassigned, control
MIN_SCORE = 0.4  # of a multi-byte candidate, per character
LATIN_FLANKED = 2.2  # a letter with an accent inside of a word
LATIN_LOOSE = 0.1
_NOT_C1 = bytes(set(range(256)) - set(range(0x80, 0xA0)))
LEVEL_1 = {"gb18030": (0xB0, 0xD7), "big5": (0xA4, 0xC6), "shift_jis": (0x88, 0x97)}  # lead bytes of the common characters
PUNCTUATION = frozenset("，。、；：？！“”‘’（）《》【】—…·「」『』〈〉\uff5e\u3000")


def best_legacy(sample: bytes) -> tuple[Legacy, ...]:
    """Candidates for text that is not UTF-8, the best first. Latin-1 has no 0x80..0x9F in text; with them it is windows-1252."""
    latin: Legacy = "windows-1252" if sample.translate(None, _NOT_C1) else "latin-1"
    scores: dict[Legacy, float] = {latin: _latin_score(sample)}
    for encoding in ("gb18030", "big5", "shift_jis"):
        score = _wide_score(sample, encoding)
        if score is not None and score >= MIN_SCORE:
            scores[encoding] = score
    return tuple(sorted(scores, key=lambda name: scores[name], reverse=True))


def _wide_score(sample: bytes, encoding: Literal["gb18030", "big5", "shift_jis"]) -> float | None:
    """Mean points of a non-ASCII character; None when the sample is not valid in `encoding` (a cut last character is fine)."""
    for cut in range(4):
        try:
            text = sample[: len(sample) - cut].decode(encoding)
            break
        except UnicodeDecodeError as exc:
            if exc.start < len(sample) - 4:
                return None
    else:
        return None
    counts = Counter(char for char in text if char > "\x7f")
    total = sum(counts.values())
    if not total:
        return None
    return sum(_points(char, encoding) * times for char, times in counts.items()) / total


def _points(char: str, encoding: str) -> float:
    if "\u3041" <= char <= "\u30fe":  # kana
        return COMMON_POINT if encoding == "shift_jis" else RARE_POINT
    if char in PUNCTUATION or char in COMMON_HAN:
        return COMMON_POINT
    if "\uff61" <= char <= "\uff9f":  # half-width kana: what Latin text looks like under Shift-JIS
        return RARE_POINT
    if unicodedata.category(char) in {"Co", "Cn", "Cc"}:
        return NEVER_POINT
    raw = char.encode(encoding)
    low, high = LEVEL_1[encoding]
    usual = low <= raw[0] <= high and (encoding != "gb18030" or raw[-1] >= 0xA1)  # noqa: PLR2004 - below is GBK's extension
    return USUAL_POINT if usual else RARE_POINT


def _latin_score(sample: bytes) -> float:
    """Accented letters stand alone between ASCII letters; bytes of wide characters stand in runs."""
    points = 0.0
    padded = b" " + sample + b" "
    wide = [index for index in range(1, len(padded) - 1) if padded[index] > ASCII]
    for index in wide:
        before, after = padded[index - 1], padded[index + 1]
        if before > ASCII or after > ASCII:
            points -= 1
        elif padded[index] >= 0xC0 and (chr(before).isalpha() or chr(after).isalpha()):  # noqa: PLR2004 - where the letters begin
            points += LATIN_FLANKED
        else:
            points += LATIN_LOOSE
    return points / len(wide) if wide else 0.0
