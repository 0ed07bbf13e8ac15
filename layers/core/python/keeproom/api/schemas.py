"""What the HTTP door takes and gives as JSON: the shapes that several routes share."""

import re
from collections.abc import Callable
from datetime import date, datetime
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    WithJsonSchema,
)

from keeproom.clock import iso
from keeproom.errors import Invalid, NotFound
from keeproom.vault import model
from keeproom.vault.model import (
    ApprovalMode,
    Decision,
    MemoryType,
    Preset,
    ReviewSimilar,
    Status,
)
from keeproom.vault.split import parsed_date
from keeproom.vault.text import hidden_characters

_SURROGATE = re.compile("[\ud800-\udfff]")
_ID = re.compile(r"(?:[a-z]{3}_)?[0-9a-z]{1,64}")


class Body(BaseModel):
    """What is sent. An unknown field is an error: nothing is dropped unseen."""

    model_config = ConfigDict(extra="forbid")


class Answer(BaseModel):
    """What is answered."""

    model_config = ConfigDict(frozen=True)


def without_surrogates(value: object) -> object:
    """JSON can spell half a character; pydantic would refuse it, and the vault repairs it."""
    return _SURROGATE.sub("\ufffd", value) if isinstance(value, str) else value


def _day(value: object) -> object:
    """Strictly: pydantic alone would take 20261130 for a second of 1970."""
    try:
        day = parsed_date(value, param="")
    except Invalid as error:
        raise ValueError(str(error)) from None
    if day is None:
        raise ValueError("An empty text is no date.")
    return day


def _known(value: str) -> str:
    """Anything that cannot be an id is no memory's; it is neither looked up nor repeated."""
    if not _ID.fullmatch(value):
        raise NotFound("There is no such thing. Use an id from an answer of this vault.")
    return value


Text = Annotated[str, BeforeValidator(without_surrogates)]
Id = Annotated[str, AfterValidator(_known)]
Day = Annotated[date, BeforeValidator(_day, json_schema_input_type=date)]
Time = Annotated[
    datetime,
    PlainSerializer(iso, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]


class Fault(Answer):
    """`param` names the part of the request at fault. With a conflict comes what is there
    now (`current`), with a duplicate the memory that says it already (`memory_id`)."""

    code: str
    message: str
    param: str | None = None
    memory_id: str | None = None
    current: object = None


class Problem(Answer):
    """Every error has this form."""

    error: Fault


class Page[T](Answer):
    """`next` is the cursor of the following page, null at the end."""

    data: list[T]
    next: str | None


def page[T, A](found: model.Page[T], of: Callable[[T], A]) -> tuple[list[A], str | None]:
    """The parts of a `Page`."""
    return [of(one) for one in found.items], found.next or None


class Earlier(Answer):
    """A text the memory had before an edit."""

    content: str
    replaced_by: str
    replaced_at: Time


class HiddenCharacter(Answer):
    """A character in the content that a reader cannot see; `position` counts from 0."""

    position: int
    code_point: str
    name: str


class Reviewed(Answer):
    """The owner's last decision; it can be taken back while this is here."""

    decision: Decision
    at: Time


class Withdrawn(Answer):
    """An app asked to forget the memory: forget it, or bring it back by undo."""

    by: str
    at: Time
    reason: str | None


class Memory(Answer):
    """One self-contained fact. `revision` is also its ETag."""

    id: str
    content: str
    type: MemoryType
    status: Status
    source: str
    source_date: date | None
    tags: list[str]
    created_at: Time
    updated_at: Time
    actor: str
    supersedes: str | None
    superseded_by: str | None
    superseded_at: Time | None
    similar_to: list[str]
    conflicts_with: list[str]
    batch_id: str | None
    content_hash: str
    identity: str
    revision: int
    hidden_characters: list[HiddenCharacter]
    history: list[Earlier]
    review: Reviewed | None
    withdrawn: Withdrawn | None

    @classmethod
    def of(cls, memory: model.Memory) -> Self:
        return cls.model_validate(memory_fields(memory))


def memory_fields(memory: model.Memory) -> dict[str, object]:
    return {
        "id": memory.id,
        "content": memory.content,
        "type": memory.type,
        "status": memory.status,
        "source": memory.source,
        "source_date": memory.source_date,
        "tags": list(memory.tags),
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "actor": memory.actor,
        "supersedes": memory.supersedes or None,
        "superseded_by": memory.superseded_by or None,
        "superseded_at": memory.superseded_at,
        "similar_to": list(memory.similar_to),
        "conflicts_with": list(memory.conflicts_with),
        "batch_id": memory.batch_id or None,
        "content_hash": memory.content_hash,
        "identity": memory.identity,
        "revision": memory.revision,
        "hidden_characters": [
            HiddenCharacter(
                position=one.position, code_point=f"U+{one.code_point:04X}", name=one.name
            )
            for one in hidden_characters(memory.content)
        ],
        "history": [
            Earlier(content=one.content, replaced_by=one.replaced_by, replaced_at=one.replaced_at)
            for one in memory.history
        ],
        "review": memory.review and Reviewed(decision=memory.review.decision, at=memory.review.at),
        "withdrawn": memory.withdrawn
        and Withdrawn(
            by=memory.withdrawn.by,
            at=memory.withdrawn.at,
            reason=memory.withdrawn.reason or None,
        ),
    }


class GuideVersion(Answer):
    """Version 0 is the guide that ships; `number` is also the ETag."""

    number: int
    content: str
    at: Time | None
    actor: str | None

    @classmethod
    def of(cls, version: model.GuideVersion) -> Self:
        return cls(
            number=version.number,
            content=version.content,
            at=version.at,
            actor=version.actor or None,
        )


class Settings(Answer):
    """`revision` is also the ETag; 0 while nothing was ever changed."""

    approval_mode: ApprovalMode
    review_similar: ReviewSimilar
    recall_preset: Preset
    recall_limit: int
    forget_limit: int
    keep_superseded_days: int
    keep_rejected_days: int
    keep_audit_days: int
    revision: int

    @classmethod
    def of(cls, settings: model.Settings) -> Self:
        return cls(
            approval_mode=settings.approval_mode,
            review_similar=settings.review_similar,
            recall_preset=settings.recall_preset,
            recall_limit=settings.recall_limit,
            forget_limit=settings.forget_limit,
            keep_superseded_days=settings.keep_superseded_days,
            keep_rejected_days=settings.keep_rejected_days,
            keep_audit_days=settings.keep_audit_days,
            revision=settings.revision,
        )


class Health(Answer):
    """The vault can be reached."""

    status: Literal["ok"]
