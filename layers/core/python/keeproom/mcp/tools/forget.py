"""`forget`: take a memory out of every answer."""

from typing import Annotated, Literal

from pydantic import Field

from keeproom.mcp.answers import Answer
from keeproom.mcp.asked import Asked, Id, RequestId, Text
from keeproom.mcp.calls import Call
from keeproom.mcp.tool import Tool
from keeproom.oauth.model import Permission
from keeproom.vault.forget import forget


class Unwanted(Asked):
    id: Annotated[Id, Field(description="Of the memory, as recall gives it.")]
    reason: Annotated[
        Text | None, Field(description="Why, for the owner; at most 500 characters.")
    ] = None
    request_id: RequestId | None = None


class Forgotten(Answer):
    """`withdrawn`: out of every answer at once, and the owner confirms or brings it back."""

    outcome: Literal["forgotten", "withdrawn"]
    id: str
    next: str


def _run(call: Call, unwanted: Unwanted) -> Forgotten:
    waits = forget(
        call.vault,
        unwanted.id,
        by=call.by,
        reason=unwanted.reason or "",
        request_id=call.request(unwanted.request_id),
    )
    if waits is None:
        said = "It is gone for good, and its text is kept from coming back."
        return Forgotten(outcome="forgotten", id=unwanted.id, next=said)
    said = "It is out of every answer now. The owner confirms, or brings it back."
    return Forgotten(outcome="withdrawn", id=unwanted.id, next=said)


FORGET = Tool(
    name="forget",
    title="Forget",
    description=(
        "Remove one memory and keep its text from coming back. Only when the owner asks for it or "
        "it is plainly wrong; to correct a fact, use remember with `supersedes`. Recall it first, "
        "for its id."
    ),
    needs=frozenset({Permission.FORGET}),
    takes=Unwanted,
    gives=Forgotten,
    run=_run,
    destroys=True,
    repeatable=True,
)
