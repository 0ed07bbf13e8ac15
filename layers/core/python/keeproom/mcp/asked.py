"""What tools take: arguments as clients really send them."""

import json
import re
from datetime import date
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from keeproom.errors import Invalid
from keeproom.vault.model import MemoryType
from keeproom.vault.split import parsed_date

_SURROGATE = re.compile("[\ud800-\udfff]")
_ID = re.compile(r"[a-z]{3}_[0-9a-z]{1,64}")


class Asked(BaseModel):
    """The arguments of a tool. An unknown one is an error: nothing is dropped unseen."""

    model_config = ConfigDict(extra="forbid")


def whole(text: str) -> str:
    """JSON can spell half a character; each becomes U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)


def _text(value: object) -> object:
    return whole(value) if isinstance(value, str) else value


def unpacked(value: object) -> object:
    """What a text holds that some clients send in place of a list or an object."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise ValueError("This text starts like JSON and is none: send a JSON list.") from None


def _several(value: object) -> object:
    """Also one alone, as it is or as JSON."""
    held = unpacked(value)
    return [held] if isinstance(held, str) and held.strip() else held


def _day(value: object) -> date | None:
    try:
        return parsed_date(value, param="")
    except Invalid as error:
        raise ValueError(str(error)) from None


def _id(value: object) -> object:
    """What cannot be an id is no memory's: it is neither looked up nor repeated."""
    if isinstance(value, str) and not _ID.fullmatch(value):
        raise ValueError("This is not an id of this vault. Ids look like mem_... or bat_...")
    return value


Text = Annotated[str, BeforeValidator(_text)]
Id = Annotated[str, BeforeValidator(_id)]
Several = BeforeValidator(_several)
Day = Annotated[
    date | None, BeforeValidator(_day), WithJsonSchema({"type": "string", "format": "date"})
]
Tags = Annotated[
    list[Annotated[Text, Field(max_length=200)]],
    Several,
    Field(max_length=8, description="Lower-case labels, such as a project's name."),
]
Types = Annotated[list[MemoryType], Several]
RequestId = Annotated[
    Text,
    Field(max_length=200, description="Any text. Repeating a call with the same one is harmless."),
]
