"""Numbers, versions, addresses, times and dates, as comparable values."""

import re
import unicodedata
from collections.abc import Iterator

from keeproom.vault.pattern import Pattern
from keeproom.vault.words import stem

_NUMBER = Pattern(r"(?:(?<![\w-])[-\u2212])?\d+(?:[.:,/-]\d+)*(?:\s?[ap]m\b)?", re.IGNORECASE)
_THOUSANDS = Pattern(r"\d{1,3}(?:,\d{3})+")
_WORD = Pattern(r"[^\W\d_]+")

_COUNTED = (
    "zero null cero ноль",
    "one eins один одна одно first",
    "two zwei dos два две second",
    "three drei tres три third",
    "four vier cuatro четыре",
    "five fünf cinco пять",
    "six sechs seis шесть",
    "seven sieben siete семь",
    "eight acht ocho восемь",
    "nine neun nueve девять",
    "ten zehn diez десять",
    "eleven elf одиннадцать",
    "twelve zwölf doce двенадцать",
)
_NUMBER_WORDS = {word: str(value) for value, row in enumerate(_COUNTED) for word in row.split()}

_MONTHS = (
    "january januar enero января январь",
    "february februar febrero февраля февраль",
    "march märz marzo марта март",
    "april abril апреля апрель",
    "may mai mayo мая май",
    "june juni junio июня июнь",
    "july juli julio июля июль",
    "august agosto августа август",
    "september septiembre сентября сентябрь",
    "october oktober octubre октября октябрь",
    "november noviembre ноября ноябрь",
    "december dezember diciembre декабря декабрь",
)
_WEEKDAYS = (
    "monday montag lunes понедельник",
    "tuesday dienstag martes вторник",
    "wednesday mittwoch miércoles среда",
    "thursday donnerstag jueves четверг",
    "friday freitag viernes пятница",
    "saturday samstag sábado суббота",
    "sunday sonntag domingo воскресенье",
)
_CALENDAR = {
    stem(word): f"{kind}{number}"
    for kind, rows in (("month", _MONTHS), ("weekday", _WEEKDAYS))
    for number, row in enumerate(rows, start=1)
    for word in row.split()
}
_ALSO_A_VERB = frozenset({"may", "march"})

_CHINESE_WEEKDAY = Pattern("(?:周|週|星期|礼拜)([一二三四五六日天])")
_JAPANESE_WEEKDAY = Pattern("([月火水木金土日])曜")
# One is left out: before a counter it is Chinese for "a".
_COUNTER = Pattern(
    "([二两三四五六七八九十])(?=[个個只人名位次回天年月日号岁歳点時时分台本枚匹件条张つ])"
)
_NUMERALS = {"两": "2"} | {numeral: str(n) for n, numeral in enumerate("二三四五六七八九十", 2)}


def figures(text: str) -> frozenset[str]:
    """Every number, version, address, time, month and weekday the text names, however written:
    `two` is `2`, `v3.1` is `3.1`, `Thursdays` and `星期四` are `weekday4`."""
    text = unicodedata.normalize("NFKC", text)
    return frozenset((*_digits(text), *_spelt(text), *_ideographic(text)))


def _digits(text: str) -> Iterator[str]:
    for match in _NUMBER.finditer(text):
        number = match.group().lower().replace(" ", "")
        grouped = _THOUSANDS.fullmatch(number) is not None
        yield number.replace(",", "" if grouped else ".")


def _spelt(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        word = match.group().casefold()
        if word in _NUMBER_WORDS:
            yield _NUMBER_WORDS[word]
        elif stem(word) in _CALENDAR and (word not in _ALSO_A_VERB or _is_a_month(match)):
            yield _CALENDAR[stem(word)]


def _is_a_month(match: re.Match[str]) -> bool:
    """`May` inside a sentence or beside a number, not `may` nor `May` where a sentence opens."""
    before, after = match.string[: match.start()].rstrip(), match.string[match.end() :].lstrip()
    beside_a_number = before[-1:].isdigit() or after[:1].isdigit()
    inside = bool(before) and before[-1] not in ".!?"
    return beside_a_number or (inside and match.group()[0].isupper())


def _ideographic(text: str) -> Iterator[str]:
    for match in _CHINESE_WEEKDAY.finditer(text):
        yield f"weekday{'一二三四五六日'.find(match[1].replace('天', '日')) + 1}"
    for match in _JAPANESE_WEEKDAY.finditer(text):
        yield f"weekday{'月火水木金土日'.find(match[1]) + 1}"
    for match in _COUNTER.finditer(text):
        yield _NUMERALS[match[1]]
