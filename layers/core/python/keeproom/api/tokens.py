"""`/api/tokens`: what the owner's scripts come with."""

from datetime import timedelta
from typing import Annotated, Self

from fastapi import APIRouter, Path
from pydantic import Field

from keeproom.api.asked import Cursor, Limit
from keeproom.api.errors import documented
from keeproom.api.grants import Letting
from keeproom.api.owner import Signed
from keeproom.api.schemas import Answer, Body, Page, Text, Time
from keeproom.oauth import service_tokens
from keeproom.oauth.model import Scope, ServiceToken

router = APIRouter(prefix="/api/tokens", tags=["service tokens"])

TokenId = Annotated[str, Path(alias="id", max_length=100, description="Such as `tok_...`.")]


class Token(Answer):
    """A script's token, without its secret. `expires_at`: null for never."""

    id: str
    name: str
    scopes: list[Scope]
    created_at: Time
    expires_at: Time | None
    last_used_at: Time | None

    @classmethod
    def of(cls, token: ServiceToken) -> Self:
        return cls(
            id=token.id,
            name=token.name,
            scopes=[one for one in Scope if one in token.scopes],
            created_at=token.created,
            expires_at=token.expires,
            last_used_at=token.last_used,
        )


class Tokens(Page[Token]):
    """One page of tokens."""


class NewToken(Body):
    """What the script may do: `read`, `write`, `forget`, `backup`, or `admin` for all of it."""

    name: Text = Field(min_length=1, max_length=200)
    scopes: list[Scope] = Field(min_length=1, max_length=len(Scope))
    expires_in_days: int | None = Field(
        None, strict=True, ge=1, le=3650, description="Null for never."
    )


class MadeToken(Answer):
    """`token` is told this once."""

    token: str
    id: str
    name: str
    scopes: list[Scope]
    created_at: Time
    expires_at: Time | None


@router.get("", responses=documented(503))
def list_tokens(auth: Letting, cursor: Cursor = "", limit: Limit = 50) -> Tokens:
    """Every service token that is good, with its last use, oldest first."""
    found = service_tokens.tokens(auth, cursor=cursor, limit=limit)
    return Tokens(data=[Token.of(one) for one in found.items], next=found.next or None)


@router.post("", status_code=201, responses=documented(413, 422, 503))
def create_token(auth: Letting, owner: Signed, new: NewToken) -> MadeToken:
    """Make a token for a script, to be sent as `Authorization: Bearer` to `/api`. It is shown this
    once."""
    lasts = None if new.expires_in_days is None else timedelta(days=new.expires_in_days)
    made = service_tokens.create(auth, new.name, frozenset(new.scopes), by=owner.name, lasts=lasts)
    told = Token.of(made.token).model_dump(exclude={"last_used_at"})
    return MadeToken(token=made.text, **told)


@router.delete("/{id}", status_code=204, responses=documented(404, 503))
def revoke_token(auth: Letting, owner: Signed, token_id: TokenId) -> None:
    """It opens nothing from the next call on."""
    service_tokens.revoke_token(auth, token_id, by=owner.name)
