"""The owner's decisions: one by one, and many at once."""

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field

from keeproom.api.asked import IfMatch, Key, MemoryId, Opened, expected
from keeproom.api.errors import documented, fault_of
from keeproom.api.memories import Changes, tagged
from keeproom.api.owner import Signed
from keeproom.api.schemas import Answer, Body, Fault, Memory, Text
from keeproom.errors import Invalid
from keeproom.vault import model, review
from keeproom.vault.forget import forget
from keeproom.vault.model import Actor
from keeproom.vault.undo import undo as take_back
from keeproom.vault.vault import Vault

router = APIRouter(prefix="/api", tags=["review"])

MOST_AT_ONCE = 1_000

DECIDED = documented(404, 409, 422, 503)
Named = Annotated[Text, Field(max_length=200)]
Superseding = Annotated[
    bool, Query(description="Also replace what it may conflict with, or else its nearest.")
]


class Verb(StrEnum):
    APPROVE = "approve"
    REJECT = "reject"
    KEEP_BOTH = "keep-both"
    FORGET = "forget"
    UNDO = "undo"


class Order(Body):
    """Do the same to many memories, each by itself."""

    verb: Verb
    ids: list[Named] = Field(min_length=1, max_length=MOST_AT_ONCE)
    supersede_similar: bool = Field(default=False, strict=True, description="With `approve` only.")


class Verdict(Answer):
    """What became of one memory: `memory` as it is now (null when forgotten), or the error."""

    id: str
    memory: Memory | None
    error: Fault | None


class Verdicts(Answer):
    """In the order of the ids."""

    data: list[Verdict]
    done: int
    failed: int


@router.post("/memories/{id}/approve", responses=DECIDED)
def approve(
    vault: Opened,
    owner: Signed,
    memory_id: MemoryId,
    response: Response,
    edited: Changes | None = None,
    supersede_similar: Superseding = False,  # noqa: FBT002  a query parameter
    if_match: IfMatch = None,
    key: Key = "",
) -> Memory:
    """Make a proposal active, edited first if a body is sent. What it replaces becomes history."""
    wanted = edited.edit() if edited and edited.changes_something() else None
    now = review.approve(
        vault,
        memory_id,
        by=owner,
        replacing_similar=supersede_similar,
        wanted=wanted,
        revision=expected(if_match, edited.expected_revision if edited else None),
        request_id=key,
    )
    return tagged(now, response)


@router.post("/memories/{id}/reject", responses=DECIDED)
def reject(
    vault: Opened, owner: Signed, memory_id: MemoryId, response: Response, key: Key = ""
) -> Memory:
    """Turn a proposal down and keep its text out."""
    return tagged(review.reject(vault, memory_id, by=owner, request_id=key), response)


@router.post("/memories/{id}/keep-both", responses=DECIDED)
def keep_both(
    vault: Opened, owner: Signed, memory_id: MemoryId, response: Response, key: Key = ""
) -> Memory:
    """Say that it contradicts nothing; a proposal becomes active."""
    return tagged(review.keep_both(vault, memory_id, by=owner, request_id=key), response)


@router.post("/memories/{id}/undo", responses=DECIDED)
def undo(
    vault: Opened, owner: Signed, memory_id: MemoryId, response: Response, key: Key = ""
) -> Memory:
    """Bring back what an app has withdrawn, or else take back the last decision or edit."""
    return tagged(take_back(vault, memory_id, by=owner, request_id=key), response)


@router.post("/memories/{id}/forget", status_code=204, responses=DECIDED)
def forget_one(vault: Opened, owner: Signed, memory_id: MemoryId, key: Key = "") -> None:
    """The same as DELETE."""
    forget(vault, memory_id, by=owner, request_id=key)


@router.post("/review", responses=documented(413, 422, 503))
def review_many(vault: Opened, owner: Signed, order: Order, key: Key = "") -> Verdicts:
    """Decide about many at once. What fails for one is told beside it."""
    if order.supersede_similar and order.verb is not Verb.APPROVE:
        raise Invalid("This goes with `approve` only.", param="supersede_similar")
    verb = _verb(order, owner, key)
    told = review.each(vault, list(dict.fromkeys(order.ids)), verb)
    failed = sum(one.error is not None for one in told)
    return Verdicts(
        data=[
            Verdict(
                id=one.memory_id,
                memory=Memory.of(one.memory) if one.memory else None,
                error=fault_of(one.error) if one.error else None,
            )
            for one in told
        ],
        done=len(told) - failed,
        failed=failed,
    )


def _verb(order: Order, by: Actor, key: str) -> Callable[[Vault, str], model.Memory | None]:
    """Each memory's part of the request is retried under a key of its own."""
    similar = order.supersede_similar

    def own(memory_id: str) -> str:
        return f"{key}/{memory_id}" if key else ""

    match order.verb:
        case Verb.APPROVE:
            return lambda vault, one: review.approve(
                vault, one, by=by, replacing_similar=similar, request_id=own(one)
            )
        case Verb.REJECT:
            return lambda vault, one: review.reject(vault, one, by=by, request_id=own(one))
        case Verb.KEEP_BOTH:
            return lambda vault, one: review.keep_both(vault, one, by=by, request_id=own(one))
        case Verb.FORGET:
            return lambda vault, one: forget(vault, one, by=by, request_id=own(one))
        case Verb.UNDO:
            return lambda vault, one: take_back(vault, one, by=by, request_id=own(one))
