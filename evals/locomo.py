"""Reading the LoCoMo data set: conversations, what to remember of them, and questions.

The file is not part of this project (its licence, CC BY-NC 4.0, forbids it): fetch `locomo10.json`
from its authors, and measure with it only.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

CATEGORIES = {1: "multi_hop", 2: "temporal", 3: "open", 4: "single_hop"}  # 5 has no evidence
_TURN = re.compile(r"D(\d+):(\d+)")
_SESSION = re.compile(r"session_(\d+)")
_SPOKEN_ON = re.compile(r"(\d+ \w+),? (\d{4})")

type Json = Mapping[str, Any]


class Kind(StrEnum):
    """What is remembered of a conversation: what was said, or the facts noted down from it."""

    DIALOGUE = "dialogue"
    FACTS = "facts"


@dataclass(frozen=True, slots=True)
class Text:
    """`covers`: the turns it is evidence for."""

    content: str
    covers: frozenset[str]
    said_on: date | None


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    category: str
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    texts: Mapping[Kind, Sequence[Text]]
    questions: Sequence[Question]


def conversations(path: Path) -> list[Conversation]:
    return [_conversation(one) for one in json.loads(path.read_text(encoding="utf-8"))]


def _conversation(one: Json) -> Conversation:
    sessions: Json = one["conversation"]
    days, turns = _days(sessions), list(_turns(sessions))
    known = {turn["dia_id"] for turn in turns}
    said = [
        Text(_said(turn), frozenset({turn["dia_id"]}), _day(turn["dia_id"], days)) for turn in turns
    ]
    return Conversation(
        texts={Kind.DIALOGUE: said, Kind.FACTS: list(_facts(one["observation"], days))},
        questions=[
            Question(asked["question"], CATEGORIES[asked["category"]], evidence)
            for asked in one["qa"]
            if asked["category"] in CATEGORIES and (evidence := _evidence(asked) & known)
        ],
    )


def _days(sessions: Json) -> dict[str, date]:
    """The day of each session, under the number its turns begin with."""
    days: dict[str, date] = {}
    for name, value in sessions.items():
        if name.endswith("_date_time") and (number := _SESSION.match(name)):
            spoken = _SPOKEN_ON.search(value)
            assert spoken, name
            days[number[1]] = datetime.strptime(" ".join(spoken.groups()), "%d %B %Y").date()  # noqa: DTZ007
    return days


def _day(turn: str, days: Mapping[str, date]) -> date | None:
    found = _TURN.search(turn)
    return days.get(found[1]) if found else None


def _turns(sessions: Json) -> Iterator[Json]:
    for name, turns in sessions.items():
        if _SESSION.fullmatch(name):
            yield from turns


def _said(turn: Json) -> str:
    shared = f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return f"{turn['speaker']}: {turn['text']}{shared}"


def _facts(observation: Json, days: Mapping[str, date]) -> Iterator[Text]:
    for speakers in observation.values():
        for noted in speakers.values():
            for content, evidence in noted:
                covers = frozenset(found[0] for found in _TURN.finditer(str(evidence)))
                yield Text(content, covers, _day(min(covers), days) if covers else None)


def _evidence(asked: Json) -> frozenset[str]:
    """Some are written "D1:05" or "D:1:5", and one entry may name several turns."""
    named = " ".join(asked.get("evidence", [])).replace("D:", "D")
    return frozenset(f"D{int(session)}:{int(turn)}" for session, turn in _TURN.findall(named))
