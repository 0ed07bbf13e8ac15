"""What counts as the same text, what text is taken, and what a reader cannot see in it."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from keeproom.errors import Invalid

MAX_CONTENT = 8000
MAX_TAGS = 8
MAX_TAG = 64
MAX_SOURCE = 200
# Written languages stack fewer than ten marks on a letter; "zalgo" text stacks hundreds.
MAX_MARKS = 30

# Unicode's Default_Ignorable_Code_Point (stable by policy) and the interlinear annotation marks.
INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_INVISIBLE_RUN = re.compile(f"[{INVISIBLE}]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BRAILLE_BLANK = "\u2800"


def visible(text: str) -> str:
    """The text without its invisible characters."""
    return text if text.isascii() else _INVISIBLE_RUN.sub("", text)


def canonical(content: str) -> str:
    """NFKC, case folded, white space collapsed, invisible characters left out; empty when there
    is nothing to see. A fixed point. (Unicode D146: fold twice around the normalisation.)"""
    if content.isascii():
        return " ".join(content.lower().split())
    text = visible(_SURROGATE.sub("\ufffd", content)).replace(_BRAILLE_BLANK, " ")
    once = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", text).casefold())
    twice = unicodedata.normalize("NFKC", once.casefold())
    return " ".join(visible(twice).split())


def identity_of(content: str) -> str:
    """40 hex digits: equal for texts that say the same with the same words."""
    return hashlib.sha256(canonical(content).encode()).hexdigest()[:40]


def cleaned(content: str, *, param: str = "content", limit: int = MAX_CONTENT) -> str:
    """The text as written, trimmed; lone surrogates become U+FFFD, CRLF a newline. Raises
    `Invalid`, which never repeats the text."""
    text = _SURROGATE.sub("\ufffd", content).replace("\r\n", "\n")
    _refuse_controls(text, param=param)
    text = text.strip()
    if not text or not canonical(text):
        raise Invalid(
            f"The field `{param}` is empty: write at least one visible character.", param=param
        )
    if len(text) > limit:
        raise Invalid(
            f"The field `{param}` has {len(text):,} characters and at most {limit:,} are taken: "
            "shorten it or split it.",
            param=param,
        )
    _refuse_stacked_marks(text, param=param)
    return text


def cleaned_tag(tag: str, *, param: str = "tags") -> str:
    """A label: NFKC, lower case, one line, nothing hidden, 1 to 64 characters."""
    text = unicodedata.normalize("NFKC", cleaned(tag, param=param)).lower()
    label = _one_line(unicodedata.normalize("NFKC", text))
    if not label:
        raise Invalid("A tag is empty: leave it out.", param=param)
    if len(label) > MAX_TAG:
        raise Invalid(
            f"A tag has {len(label):,} characters and at most {MAX_TAG} are taken: shorten it.",
            param=param,
        )
    return label


def cleaned_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Each tag once, in the order given; at most 8."""
    labels = tuple(dict.fromkeys(cleaned_tag(tag) for tag in tags))
    if len(labels) > MAX_TAGS:
        raise Invalid(
            f"{len(labels)} tags were given and at most {MAX_TAGS} are taken: leave some out.",
            param="tags",
        )
    return labels


def cleaned_source(source: str) -> str:
    """Where a memory comes from: one line, nothing hidden, at most 200 characters; may be
    empty."""
    if not source.strip():
        return ""
    return cleaned(_one_line(source.replace("\r\n", "\n")), param="source", limit=MAX_SOURCE)


def _one_line(text: str) -> str:
    """White space collapsed; control characters, which Python takes for it, are left in place."""
    return re.sub(r"[^\S\x0b-\x1f\x85]+", " ", without_hidden(text)).strip(" ")


def without_controls(text: str) -> str:
    """With a space for each control character and U+FFFD for each half of one."""
    return _CONTROL.sub(" ", _SURROGATE.sub("\ufffd", text))


def _refuse_controls(text: str, *, param: str) -> None:
    found = _CONTROL.search(text)
    if found:
        raise Invalid(
            f"The field `{param}` has the control character U+{ord(found[0]):04X} at position "
            f"{found.start() + 1}: remove it (tabs and newlines are fine).",
            param=param,
        )


def _refuse_stacked_marks(text: str, *, param: str) -> None:
    """Invisible characters neither break a stack nor add to one."""
    if text.isascii():
        return
    marks = 0
    for position, char in enumerate(text, start=1):
        if _INVISIBLE.match(char):
            continue
        marks = marks + 1 if unicodedata.category(char)[0] == "M" else 0
        if marks > MAX_MARKS:
            raise Invalid(
                f"The field `{param}` stacks more than {MAX_MARKS} combining marks in a row "
                f"at position {position}: remove them.",
                param=param,
            )


# Where an invisible character does its work: each rule looks at visible neighbours only, so that
# a second one in a row is hidden, and so that taking hidden ones out leaves the others at work.
_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_JOINED = (  # scripts whose letters join or stack: Arabic to N'Ko, Indic, Myanmar, Khmer, Mongolian
    "\u0620-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff\u1820-\u18aa"
    "\ua840-\ua877\ua8e0-\ua8ff\ufb50-\ufdff\ufe70-\ufefc"
)
_UNSPACED = "\u0e00-\u0fff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff\u1980-\u19df\uaa60-\uaa7f"
_VARIES = f"0{_HAN}\u1000-\u109f\u2200-\u22ff\u2a00-\u2aff\u3000-\u303f\ua840-\ua877\uff01-\uff60"
_LETTER = r"[^\W\d_\u115f\u1160\u3164\uffa0]"
_MARK = "[\u0300-\u034e\u0350-\u036f\u05b0-\u05c7]"
_DIRECTION = "\u061c\u200e\u200f"
_RIGHT_TO_LEFT = re.compile(
    "[\u05d0-\u05f4\u0620-\u064a\u066e-\u06ef\u06fa-\u08ff\ufb1d-\ufdfb\ufe70-\ufefc"
    "\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_WORKING = re.compile(
    "|".join(
        (
            f"(?:(?<=[{_EMOJI}])|(?<=[{_EMOJI}]\ufe0f))\u200d(?=[{_EMOJI}])",
            f"(?<=[{_EMOJI}])[\ufe0e\ufe0f]",
            "(?<=[0-9#*])\ufe0f(?=\u20e3)",  # a keycap
            "(?<=\U0001f3f4)[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f",  # a flag
            f"(?<=[{_JOINED}])[\u200c\u200d]",
            f"(?<=[{_UNSPACED}])\u200b(?=[{_UNSPACED}])",
            f"(?<=[{_VARIES}])[\ufe00-\ufe0d]",
            f"(?<=[{_HAN}])[\U000e0100-\U000e01ef]",
            f"(?<={_LETTER})\u00ad(?={_LETTER})",
            f"(?<={_MARK})\u034f(?={_MARK})",
            f"(?:(?<![{INVISIBLE}])|(?<=[{_EMOJI}]\ufe0f))[{_DIRECTION}]",
            "\u115f(?=[\u1161-\u11a7])",
            "(?<=[\u1100-\u115e])\u1160",
            "(?<=[\u1820-\u18aa])[\u180b-\u180f]",
            "(?<=[\U0001bc00-\U0001bc9f])[\U0001bca0-\U0001bca3]",
            "(?<=[\U0001d100-\U0001d172\U0001d17b-\U0001d1ff])[\U0001d173-\U0001d17a]",
        )
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """One character a reader cannot see. `position` counts characters from 0."""

    code_point: int
    position: int
    name: str


def hidden_characters(text: str) -> tuple[Hidden, ...]:
    """Invisible and bidirectional control characters that do no work where they stand. Those that
    do are left alone: joiners in emoji, Arabic and Indic words, breaks in Thai or Khmer,
    variation selectors after what varies, soft hyphens in words, marks of direction beside
    right-to-left letters."""
    return tuple(
        Hidden(
            code_point=ord(text[at]),
            position=at,
            name=unicodedata.name(text[at], "UNNAMED INVISIBLE CHARACTER"),
        )
        for at in _hidden(text)
    )


def without_hidden(text: str) -> str:
    """The text without its hidden characters: what agents are given."""
    hidden = set(_hidden(text))
    if not hidden:
        return text
    return "".join(char for at, char in enumerate(text) if at not in hidden)


def _hidden(text: str) -> list[int]:
    places: list[int] = []
    if text.isascii():
        return places
    found = _INVISIBLE.search(text)
    idle = "" if found and _RIGHT_TO_LEFT.search(text) else _DIRECTION
    while found:
        at, end = found.span()
        works = None if text[at] in idle else _WORKING.match(text, at)
        if works:
            end = works.end()
        else:
            places.append(at)
        found = _INVISIBLE.search(text, end)
    return places
