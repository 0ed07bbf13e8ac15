"""`/`: the owner's first page: the address for apps, what the vault holds, and what is wrong."""

from html import escape
from typing import cast

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from keeproom.api.asked import Behind
from keeproom.api.connect import address_of
from keeproom.api.owner import Owner
from keeproom.api.page import policy, said, whole
from keeproom.errors import VaultError
from keeproom.vault.model import Status
from keeproom.vault.statistics import Statistics, statistics

router = APIRouter(tags=["public"])

_CARD = """\
<section class="card">
<header><h1>Your vault</h1><p>{held}</p></header>
{note}<div class="where"><span>Apps find it at</span><p><b>{address}/mcp</b></p></div>
<a class="button" href="/connect">Connect an app</a>
</section>
<p class="small">{signed_in}</p>"""


@router.get("/", response_class=HTMLResponse, include_in_schema=False)
def home(request: Request, behind: Behind) -> HTMLResponse:
    """What a browser opens. Nothing that a memory says is on it."""
    address = address_of(request)
    host = address.partition("://")[2]
    try:
        found = statistics(behind.vault)
    except VaultError as error:
        return said(503, "The vault does not answer", f"{error} Try again in a moment.", host=host)
    owner = cast("Owner", request.state.owner)
    leave = ' · <a href="/auth/logout">Sign out</a>' if request.app.state.sign_in else ""
    card = _CARD.format(
        held=_held(found),
        note=_wrong(found),
        address=escape(address),
        signed_in=f"Signed in as {escape(owner.address)}{leave}",
    )
    return HTMLResponse(
        whole("Keeproom", host, card), headers={"Content-Security-Policy": policy()}
    )


def _held(found: Statistics) -> str:
    active, waiting = found.by_status[Status.ACTIVE], found.by_status[Status.PROPOSED]
    waiting += found.withdrawn
    if not active and not waiting:
        return "Nothing is in it yet."
    memories = "1 active memory" if active == 1 else f"{active:,} active memories"
    return f"{memories}, {waiting:,} waiting for your review"


def _wrong(found: Statistics) -> str:
    """What the owner should know of; empty when all is well."""
    if not found.embedding_problem:
        return ""
    told = f"Recall goes by words alone, as the model does not answer. {found.embedding_problem}"
    return f'<p class="note" role="status">{escape(told)}</p>\n'
