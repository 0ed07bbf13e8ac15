"""`/api/owner`: whom this browser is signed in as."""

from typing import cast

from fastapi import APIRouter, Request

from keeproom.api.errors import documented
from keeproom.api.owner import Owner
from keeproom.api.schemas import Answer

router = APIRouter(prefix="/api/owner", tags=["owner"])


class SignedInAs(Answer):
    """`address`: null for a script. `sign_out`: the page that ends this session; null where nobody
    has to sign in."""

    address: str | None
    actor: str
    sign_out: str | None


@router.get("", responses=documented())
async def read_owner(request: Request) -> SignedInAs:
    """Whom this request is taken for."""
    owner = cast("Owner", request.state.owner)
    signs_in = request.app.state.sign_in is not None and bool(owner.address)
    return SignedInAs(
        address=owner.address or None,
        actor=owner.actor.name,
        sign_out="/auth/logout" if signs_in else None,
    )
