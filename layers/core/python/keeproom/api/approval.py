"""`/authorize`: the owner is shown who asks, and decides."""

import secrets
from collections.abc import Awaitable, Callable
from functools import partial
from typing import cast
from urllib.parse import urlsplit

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.routing import Route

from keeproom.api import cookies
from keeproom.api.approval_page import Shown, asking
from keeproom.api.asked import PERSONAL, Served
from keeproom.api.gate import login_address
from keeproom.api.oauth import authorization, read_form
from keeproom.api.owner import OwnerDoor, TurnedAway, Why
from keeproom.api.page import policy, said
from keeproom.errors import VaultError
from keeproom.oauth import authorize
from keeproom.oauth.authorize import Approval, SentBack, Waiting
from keeproom.oauth.errors import InvalidRequest, InvalidScope, OAuthError, TooMany
from keeproom.oauth.model import Permission
from keeproom.oauth.parameters import Parameters, read_parameters
from keeproom.oauth.redirects import destination
from keeproom.vault.model import OWNER, ApprovalMode

_VAULTS = (PERSONAL,)
_TICKED = {
    ApprovalMode.REVIEW: frozenset({Permission.READ, Permission.PROPOSE}),
    ApprovalMode.AUTO: frozenset({Permission.READ, Permission.PROPOSE, Permission.WRITE}),
}

type _Endpoint = Callable[[Request], Awaitable[Response]]


def _answering(endpoint: _Endpoint) -> _Endpoint:
    """Errors are shown to the owner: it is not sure that anybody else may hear of them."""

    async def answered(request: Request) -> Response:
        try:
            return await endpoint(request)
        except OAuthError as error:
            return _said(request, 429 if isinstance(error, TooMany) else 400, str(error))
        except VaultError:
            return _said(request, 503, "The vault is busy. Start again in the app.")

    return answered


def _said(request: Request, status: int, sentence: str) -> Response:
    return said(status, "Nothing to approve", sentence, host=_host(request))


async def _ask(request: Request) -> Response:
    verdict = await run_in_threadpool(_door(request).visits, request)
    if isinstance(verdict, TurnedAway):
        if verdict.why is Why.NOT_SIGNED_IN:
            return RedirectResponse(login_address(request), 302)
        return _said(request, 403, verdict.sentence)
    asked = read_parameters(request.query_params.multi_items())
    browser = cookies.browser(request) or secrets.token_urlsafe(32)

    def answer() -> Response:
        found = authorize.ask(authorization(request), asked, browser=browser)
        if isinstance(found, SentBack):
            return RedirectResponse(found.address, 302)
        page = _page(request, found, owner=verdict.address)
        cookies.set_browser(request, page, browser)
        return page

    return await run_in_threadpool(answer)


def _page(
    request: Request, waiting: Waiting, *, owner: str, note: str = "", status: int = 200
) -> Response:
    served = cast("Served", request.app.state.served)
    mode = served.vault.memories.settings().approval_mode
    where = destination(waiting.pending.redirect_uri)
    shown = Shown(
        transaction=waiting.transaction,
        client=waiting.client,
        where=where,
        asked=waiting.pending.asked,
        ticked=waiting.pending.asked & _TICKED[mode],
        is_auto=mode is ApprovalMode.AUTO,
        vaults=_VAULTS,
        owner=owner,
        host=_host(request),
        note=note,
    )
    headers = {
        "Content-Security-Policy": policy(sends_to=where.source),
        # A form on a page that tells nobody where it was has the origin `null`.
        "Referrer-Policy": "same-origin",
    }
    return HTMLResponse(asking(shown), status, headers)


async def _decide(request: Request) -> Response:
    verdict = await run_in_threadpool(_door(request).calls, request)
    if isinstance(verdict, TurnedAway):
        if verdict.why is Why.NOT_SIGNED_IN:
            return _said(request, 401, "You are signed out. Start again in the app.")
        return _said(request, 403, verdict.sentence)
    form = await read_form(request)
    match form.needed("decision"):
        case "approve":
            decide = partial(_approve, owner=verdict.address)
        case "deny":
            decide = _deny
        case _:
            raise InvalidRequest("Approve or deny.")
    return await run_in_threadpool(decide, request, form)


def _approve(request: Request, form: Parameters, *, owner: str) -> Response:
    browser = cookies.browser(request)
    auth, transaction = authorization(request), form.needed("transaction")
    vault = form.needed("vault")
    if vault not in _VAULTS:
        raise InvalidRequest("There is no vault of this name.")
    allowed = frozenset(one for one in Permission if form.get(one))
    approval = Approval(vault=vault, permissions=allowed)
    try:
        sent = authorize.approve(auth, transaction, approval, browser=browser, by=OWNER.name)
    except InvalidScope as error:
        waiting = authorize.waiting(auth, transaction, browser=browser)
        return _page(request, waiting, owner=owner, note=str(error), status=400)
    return RedirectResponse(sent.address, 303)


def _deny(request: Request, form: Parameters) -> Response:
    transaction, browser = form.needed("transaction"), cookies.browser(request)
    sent = authorize.deny(authorization(request), transaction, browser=browser, by=OWNER.name)
    return RedirectResponse(sent.address, 303)


def _door(request: Request) -> OwnerDoor:
    return cast("OwnerDoor", request.app.state.door)


def _host(request: Request) -> str:
    return urlsplit(authorization(request).issuer).netloc


ROUTES = [
    Route("/authorize", _answering(_ask), methods=["GET"]),
    Route("/authorize", _answering(_decide), methods=["POST"]),
]
