"""What the guard looks at in a text."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property, lru_cache

from keeproom.vault.figures import figures
from keeproom.vault.pattern import Pattern
from keeproom.vault.words import STOP_WORDS, folded, stem

# Scripts that run words together, or glue particles to them: compared by character.
_BY_CHARACTER = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
_UNIT = Pattern(rf"[{_BY_CHARACTER}]|[^\W{_BY_CHARACTER}]+")
_CONTRACTED_NOT = Pattern(r"(?:\b(?:ca|wo|sha)|(?<=\w))n['’]t\b", re.IGNORECASE)
_CLITIC = Pattern(r"(?<=\w)['’](?:s|d|ll|m|re|ve)\b", re.IGNORECASE)
_TOKEN = Pattern(r"[\w#@][\w.#@+/-]*")
_CODE = Pattern(r"[#@_]|\w[./]\w")
_NEGATION = Pattern(
    r"\b(?:not|no|never|none|nothing|without|cannot|neither|nor|avoid(?:ed)?"
    r"|nicht|nichts|kein\w{0,2}|nie|niemals|ohne"
    r"|nunca|jamás|sin|tampoco|ning[uú]n\w?"
    r"|не|нет|ни|никогда|без)\b"
    r"|[不没沒無无]|(?<!少)な(?:い|く|かった)|ません|(?<![必まは])ず(?=に|\W|$)",
    re.IGNORECASE,
)


@dataclass(frozen=True, eq=False)
class Wording:
    """`text` is NFKC and free of English clitics: `isn't` is `is not`, `Tom's` is `Tom`."""

    text: str

    @classmethod
    @lru_cache(maxsize=64)  # a new text is compared with one after another
    def of(cls, text: str) -> "Wording":
        plain = _CONTRACTED_NOT.sub(" not", unicodedata.normalize("NFKC", text))
        return cls(_CLITIC.sub("", plain))

    @cached_property
    def units(self) -> tuple[str, ...]:
        """Words, case-folded; of scripts without spaces single characters."""
        return tuple(unit.casefold() for unit in _UNIT.findall(self.text))

    @cached_property
    def written(self) -> frozenset[str]:
        """Words in their own case."""
        return frozenset(_UNIT.findall(self.text))

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(stem(unit) for unit in self.units)

    @cached_property
    def content(self) -> tuple[str, ...]:
        """Stems in order, without stop words."""
        return tuple(stem(unit) for unit in self.units if has_content(unit))

    @cached_property
    def by_character(self) -> bool:
        return re.search(f"[{_BY_CHARACTER}]", self.text) is not None

    @cached_property
    def figures(self) -> frozenset[str]:
        return figures(self.text)

    @cached_property
    def negated(self) -> bool:
        return _NEGATION.search(self.text) is not None

    @cached_property
    def tokens(self) -> frozenset[str]:
        """Case-folded, with what holds addresses, paths and versions together."""
        return frozenset(_bare(match).casefold() for match in _TOKEN.finditer(self.text))

    @cached_property
    def names(self) -> frozenset[str]:
        """Tokens written like a name or an identifier, case-folded."""
        return frozenset(
            _bare(match).casefold()
            for match in _TOKEN.finditer(self.text)
            if _is_name(_bare(match), opens=self._opens_a_sentence(match))
        )

    @cached_property
    def opening(self) -> str:
        """The first word as it is written if it may be a name, else nothing."""
        match = _UNIT.match(self.text)
        if match is None or not match.group()[0].isupper():
            return ""
        return match.group() if has_content(match.group().casefold()) else ""

    def after(self, word: str) -> frozenset[str]:
        """Stems of the content words that follow a word where it occurs."""
        return frozenset(
            following
            for place, unit in enumerate(self.units)
            if unit == word and (following := self._content_from(place + 1))
        )

    def _content_from(self, place: int) -> str:
        return next((stem(unit) for unit in self.units[place:] if has_content(unit)), "")

    def _opens_a_sentence(self, match: re.Match[str]) -> bool:
        start = match.start()
        before = self.text[max(0, start - 8) : start].rstrip(" \n\"'“„«(-*")
        return not before or before[-1] in ".!?:;…。！？"


def has_content(unit: str) -> bool:
    return folded(unit) not in STOP_WORDS


def _bare(match: re.Match[str]) -> str:
    return match.group().rstrip(".-/+") or match.group()


def _is_name(token: str, *, opens: bool) -> bool:
    """One capital says nothing where a sentence opens."""
    if _CODE.search(token) or (any(map(str.isdigit, token)) and any(map(str.isalpha, token))):
        return True
    return sum(map(str.isupper, token)) >= (2 if opens else 1)
