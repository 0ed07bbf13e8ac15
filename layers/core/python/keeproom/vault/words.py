"""The one analyser: what a text is found by, the same for every index and for every query."""

import re
import threading
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import pairwise

import snowballstemmer  # pyright: ignore[reportMissingTypeStubs]

from keeproom.vault.stop_words import STOP_WORDS
from keeproom.vault.text import INVISIBLE

__all__ = ["STOP_WORDS", "folded", "query_terms", "script_of", "stem", "terms"]

MAX_TERM = 128  # a SHA-512 in hex; longer words are cut
_CACHED = 64  # longer chunks are rare and would fill the cache

_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3041-\u3096\u3099-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_HANGUL = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3\uffa0-\uffdc"
_CJK = f"{_HAN}{_KANA}{_HANGUL}\u3105-\u312f"
# Thai, Lao, Myanmar and Khmer put no space between words; a letter and its marks are one unit.
_UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u1049\u1050-\u109f\u1780-\u17d3\u17dc-\u17dd"
)
_UNSPACED_MARK = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059"
    "\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d"
    "\u17b6-\u17d3\u17dd"
)
_INDIC = "\u0900-\u0963\u0971-\u0de5\u0df2-\u0df3\u0f71-\u0f84\u0f8d-\u0fbc"
_JOINER = r"(?:://|::|[-.:/\\@+&=?#~])"


def _compound(char: str) -> str:
    """Words with joiners between them; `C++` and `C#` keep their tails."""
    return rf"{char}+(?:{_JOINER}{char}+)*(?:\+\+|#)?"


_ASCII_CHUNK = re.compile(_compound("[A-Za-z0-9_]"))
_CHUNK = re.compile(
    f"([{_CJK}]+)|([{_UNSPACED}]+)|" + _compound(rf"(?:[^\W{_CJK}{_UNSPACED}{_INDIC}]|[{_INDIC}])")
)
_SEPARATORS = tuple(map(re.compile, (r"[:/\\@+&=?#~]+", r"\.", "-", "_+")))
_JOINED = re.compile(r"[-._:/\\@+&=?#~]")
_GROUPED = re.compile(r",(?<=\d,)(?=\d{3}(?!\d))")  # 12,500
_CAMEL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_HUMP = re.compile(r"[A-Z]{2,}s?(?![a-z])|[A-Z]?[a-z]+|[A-Z]|\d+")
_COUNTED = re.compile(r"(\d+)([a-z]{2,})|([a-z]{2,})(\d+)")  # 16gb, python3
_VERSION = re.compile(r"[vV](\d[\w.+-]*)")
_UNIT = re.compile(f"[{_UNSPACED_MARK}]*[^{_UNSPACED_MARK}][{_UNSPACED_MARK}]*|[{_UNSPACED_MARK}]+")
_HANGUL_WORD = re.compile(f"[{_HANGUL}]{{3,}}")
_SCRIPT_RUN = re.compile("[\x00-\u02af\u1e00-\u1eff]+|[^\x00-\u02af\u1e00-\u1eff]+")
_CYRILLIC = re.compile("[\u0400-\u052f]")

# Marks that are accents: Latin, Greek and Cyrillic (but the breve of й is a letter's), Hebrew
# points, Arabic vowels. Kana voicing and Indic or Thai marks make other words and stay.
_ACCENT = (
    "\u0300-\u0305\u0307-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1-\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
# Letters that other spellings write without the stroke, and typographic signs.
_PLAIN = (
    {"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ı": "i", "æ": "ae", "Æ": "AE"}
    | {"œ": "oe", "Œ": "OE", "ß": "ss", "ẞ": "SS", "ی": "ي", "ى": "ي", "ک": "ك"}
    | {"’": "'", "‘": "'", "ʼ": "'", "‐": "-"}
)
_UNFOLDED = re.compile(f"(?<![иИ])\u0306|[{_ACCENT}{INVISIBLE}{''.join(_PLAIN)}]")
_CONTRACTION = re.compile(r"(?<![a-z])[a-z]{1,9}'[a-z]{1,3}(?![a-z])", re.IGNORECASE)
_ELISION = re.compile(r"\b(?:[cdjlmnst]|qu|un|(?:d|n|s)?ell|all|dall)'(?!s\b)(?=\w)", re.IGNORECASE)


def terms(text: str) -> list[str]:
    """What a memory with this text is found by, in order and as often as it occurs. Identifiers,
    versions, addresses come whole and in parts; Chinese, Japanese and Korean as pairs of
    characters and single ones."""
    return [term for _, term in _analysed(_ungrouped(folded(text)), singles=True)]


def query_terms(text: str) -> list[str]:
    """Distinct terms to search for, in order, without stop words unless there are only such. A
    single Chinese, Japanese or Korean character only where it stands alone: pairs tell more."""
    plain = _ungrouped(folded(text))
    told = _ELISION.sub("", _CONTRACTION.sub(_unless_stop_word, plain)) if "'" in plain else plain
    found = [pair for pair in _analysed(told, singles=False) if pair[0] not in STOP_WORDS]
    return list(dict.fromkeys(term for _, term in found or _analysed(plain, singles=False)))


def stem(word: str) -> str:
    """The term of one word: folded, lower case, Porter's stem of a Latin word and Snowball's of a
    Russian one. Safe for threads."""
    return _stem(folded(word).casefold()[:MAX_TERM])


def folded(text: str) -> str:
    """Accents, compatibility forms and invisible characters gone; the case is kept."""
    if text.isascii():
        return text
    apart = _UNFOLDED.sub(_plain, unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFKC", apart)


def script_of(text: str) -> str:
    """The script of most letters: latin, cyrillic, han, kana, hangul, arabic, devanagari, or
    other. Japanese, which mixes kana with Han, is kana."""
    if text.isascii():
        return "latin" if _ANY_LETTER.search(text) else "other"
    counts = {script: _count(run, text) for script, run in _SCRIPTS.items()}
    counts["other"] = _count(_ANY_LETTER, text) - sum(counts.values())
    # Chinese text with a Japanese name in it stays Chinese.
    if counts["kana"] * 10 >= counts["han"] > 0:
        counts["kana"] += counts.pop("han")
    script, most = max(counts.items(), key=lambda item: item[1])
    return script if most else "other"


_SCRIPTS = {
    "latin": re.compile(
        "[A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u1e00-\u1eff"
        "\uff21-\uff3a\uff41-\uff5a]+"
    ),
    "cyrillic": re.compile("[\u0400-\u0481\u048a-\u052f]+"),
    "han": re.compile(f"[{_HAN}]+"),
    "kana": re.compile("[\u3041-\u3096\u30a1-\u30fa\u30fc\uff66-\uff9d]+"),
    "hangul": re.compile(f"[{_HANGUL}]+"),
    "arabic": re.compile("[\u0620-\u064a\u066e-\u06d3\u06fa-\u06fc\u0750-\u077f\ufb50-\ufefc]+"),
    "devanagari": re.compile("[\u0904-\u0939\u0958-\u0961\u0972-\u097f]+"),
}
_ANY_LETTER = re.compile(r"[^\W\d_]+")


def _count(run: re.Pattern[str], text: str) -> int:
    return sum(map(len, run.findall(text)))


def _ungrouped(text: str) -> str:
    return _GROUPED.sub("", text) if "," in text else text


def _unless_stop_word(found: re.Match[str]) -> str:
    return " " if found[0].lower() in STOP_WORDS else found[0]


def _plain(found: re.Match[str]) -> str:
    return _PLAIN.get(found[0], "")


def _analysed(text: str, *, singles: bool) -> list[tuple[str, str]]:
    """Words with their terms."""
    found: list[tuple[str, str]] = []
    if text.isascii():
        for chunk in _ASCII_CHUNK.findall(text):
            found += _known(chunk) if len(chunk) <= _CACHED else _worked_out(chunk)
        return found
    for match in _CHUNK.finditer(text):
        chunk = match[0]
        if match.lastindex:
            units = _units(chunk, spaced=match.lastindex == 1, singles=singles)
            found += [(unit, unit) for unit in units]
        else:
            found += _known(chunk) if len(chunk) <= _CACHED else _worked_out(chunk)
    return found


def _worked_out(chunk: str) -> tuple[tuple[str, str], ...]:
    return tuple((word, _stem(word)) for word in _words(chunk))


_known = lru_cache(maxsize=16384)(_worked_out)


def _words(chunk: str) -> Iterable[str]:
    """The chunk whole, its segments (of a URL, a path, an address) and their parts, each once. A
    long compound is found by its parts alone."""
    if chunk.isalpha() and chunk.islower() and chunk.isascii():
        return (chunk[:MAX_TERM],)
    words = pieces = [chunk]
    for separator in _SEPARATORS:
        pieces = [piece for word in pieces for piece in separator.split(word)]
        words = words + pieces
    for piece in pieces:
        words += _parts(piece)
    for version in filter(None, map(_VERSION.fullmatch, tuple(words))):
        words.append(version[1])
    return dict.fromkeys(word.casefold()[:MAX_TERM] for word in words if _is_term(word))


def _is_term(word: str) -> bool:
    return bool(word.strip("_")) and (len(word) <= MAX_TERM or not _JOINED.search(word))


def _parts(word: str) -> list[str]:
    """Humps of camelCase, number and unit, runs of one script."""
    if not word.isascii():
        runs = _SCRIPT_RUN.findall(word)
        return runs if len(runs) > 1 else []
    humps = _HUMP.findall(word) if _CAMEL.search(word) else ()
    counted = _COUNTED.fullmatch(word.lower())
    return [
        *(hump for hump in humps if len(hump) > 1),
        *(part for part in (counted.groups() if counted else ()) if part),
    ]


def _units(run: str, *, spaced: bool, singles: bool) -> list[str]:
    """Pairs of neighbouring characters (of letters with their marks where `spaced` is false),
    single ones too or when there is only one, and whole Korean words."""
    units = list(run) if spaced else _UNIT.findall(run)
    pairs = [one + two for one, two in pairwise(units)]
    korean = [word[:MAX_TERM] for word in _HANGUL_WORD.findall(run)]
    return [*(units if singles or not pairs else ()), *pairs, *korean]


def _stemmer(language: str) -> Callable[[str], str]:
    made = snowballstemmer.stemmer(language)  # pyright: ignore[reportUnknownMemberType]
    return made.stemWord  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


class _Stemmers(threading.local):
    """A stemmer holds the word it works on, so each thread has its own."""

    def __init__(self) -> None:
        self.latin = _stemmer("porter")
        self.russian = _stemmer("russian")


_STEMMERS = _Stemmers()


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    if len(word) < 3 or not word.isalpha():  # Porter: short words are their own stems
        return word
    if word.isascii():
        return _STEMMERS.latin(word)
    return _STEMMERS.russian(word) if _CYRILLIC.match(word) else word
