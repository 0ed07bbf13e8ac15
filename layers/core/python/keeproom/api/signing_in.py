"""`/auth`: the owner leaves for the provider, comes back, and signs out. Pages for people."""

import re
from collections.abc import Awaitable, Callable
from typing import cast
from urllib.parse import urlsplit

from fastapi import Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.routing import Route

from keeproom.api import cookies
from keeproom.api.oauth import read_form
from keeproom.api.origins import no_other_site, origin_of, same_origin, shows_origin
from keeproom.api.owner import is_loopback_url
from keeproom.api.page import Link, policy, said, whole
from keeproom.errors import VaultError
from keeproom.oauth import sessions, sign_in
from keeproom.oauth.errors import InvalidRequest, NotAllowed, OAuthError, SignInFailed, TooMany
from keeproom.oauth.parameters import Parameters, read_parameters
from keeproom.oauth.sign_in import Attempt, Entered, SignIn

_PATH = re.compile(r"/(?![/\\])[!-\[\]-~]*")  # printable ASCII without the backslash
_AGAIN = Link("Sign in", "/auth/login")
_ANEW = Link("Sign in", "/auth/login?anew=1")
_NOT_BEGUN = "This sign-in was not begun in this browser, or it is over. Sign in again."

_LEAVE = """\
<form class="card said" method="post" action="/auth/logout">
<h1>Sign out</h1>
<p>Of this browser, or of every browser at once. Apps and service tokens stay as they are.</p>
<div class="actions">
<button name="everywhere" value="1">Everywhere</button>
<button class="primary">This browser</button>
</div>
</form>"""

type _Endpoint = Callable[[Request], Awaitable[Response]]


def is_own_path(back: str) -> bool:
    """Whether it is a path of this vault that may be gone back to, however a browser reads it."""
    return bool(_PATH.fullmatch(back)) and not back.startswith("/auth/")


def _answering(endpoint: _Endpoint) -> _Endpoint:
    """With every error as a page that says what to do."""

    async def answered(request: Request) -> Response:
        try:
            return await endpoint(request)
        except (OAuthError, VaultError) as error:
            return await run_in_threadpool(_told, request, error)

    return answered


def _told(request: Request, error: OAuthError | VaultError) -> Response:
    match error:
        case NotAllowed():
            # The provider would let the same person in again without a word.
            there = _exit(request, otherwise=_ANEW.address)
            link = Link("Sign in as somebody else", there)
            sentence = f"{error} Nothing was stored."
            return _said(request, 403, "This vault is not yours", sentence, link)
        case TooMany():
            answer = _said(request, 429, "Not signed in", str(error))
            answer.headers["Retry-After"] = str(error.retry_after)
            return answer
        case OAuthError():
            return _said(request, 400, "Not signed in", str(error), _AGAIN)
        case _:
            return _said(request, 503, "Not signed in", f"{error} Try again in a moment.", _AGAIN)


def _said(
    request: Request, status: int, title: str, sentence: str, link: Link | None = None
) -> Response:
    return said(status, title, sentence, host=_host(request), link=link)


async def _login(request: Request) -> Response:
    signing = _signing(request)
    asked = read_parameters(request.query_params.multi_items())
    back = asked.get("back") or "/"
    if not is_own_path(back):
        raise InvalidRequest("After signing in one comes back to a page of this vault only.")
    if len(back) > cookies.LONGEST_BACK:
        raise InvalidRequest("That address is too long. Sign in, then start again in the app.")
    if (canonical := _by_another_name(request, signing)) is not None:
        return canonical
    begun = sign_in.begin(signing, back=back)
    anew = bool(asked.get("anew"))
    there = await run_in_threadpool(lambda: sign_in.entrance(signing, begun, anew=anew))
    answer = RedirectResponse(there, 302)
    cookies.set_attempt(request, answer, begun)
    return answer


def _by_another_name(request: Request, signing: SignIn) -> Response | None:
    """This machine has several names, and a cookie belongs to one."""
    issuer = signing.auth.issuer
    if not is_loopback_url(issuer) or request.url.netloc.lower() == _host(request).lower():
        return None
    return RedirectResponse(f"{issuer}/auth/login?{request.url.query}", 302)


async def _callback(request: Request) -> Response:
    asked = read_parameters(request.query_params.multi_items())
    begun = cookies.attempt(request, asked.get("state"))
    if begun is None:
        raise SignInFailed(_NOT_BEGUN)
    try:
        entered = await run_in_threadpool(_entered, request, asked, begun)
    except (OAuthError, VaultError) as error:
        answer = await run_in_threadpool(_told, request, error)
    else:
        answer = RedirectResponse(begun.back if is_own_path(begun.back) else "/", 303)
        cookies.set_session(request, answer, entered.secret)
    cookies.drop_attempt(request, answer, begun.state)
    return answer


def _entered(request: Request, asked: Parameters, begun: Attempt) -> Entered:
    signing = _signing(request)
    # As with the description, a slash at the end does not make another name.
    if asked.get("iss").rstrip("/") not in ("", signing.provider.issuer.rstrip("/")):
        raise SignInFailed("The answer is another sign-in service's.")
    if asked.get("error") or not asked.get("code"):
        raise SignInFailed("The sign-in service did not sign you in.")
    address = request.client.host if request.client else ""
    entered = sign_in.finish(signing, begun, asked.get("code"), address=address)
    sessions.replaced(signing.auth, cookies.session(request))
    return entered


async def _leave(request: Request) -> Response:
    page = whole("Sign out", _host(request), _LEAVE)
    there = await run_in_threadpool(_exit, request)
    sends_to = origin_of(there) if there.startswith("http") else origin_of(_issuer(request))
    return HTMLResponse(
        page,
        headers={
            "Content-Security-Policy": policy(sends_to=sends_to),
            # A form on a page that tells nobody where it was has the origin `null`.
            "Referrer-Policy": "same-origin",
        },
    )


async def _logout(request: Request) -> Response:
    own = origin_of(_issuer(request))
    ours = same_origin(request, own) and no_other_site(request) and shows_origin(request)
    if not ours:
        return _said(request, 403, "Still signed in", "Sign out on a page of this vault.")
    everywhere = bool((await read_form(request)).get("everywhere"))
    there = await run_in_threadpool(_signed_out, request, everywhere=everywhere)
    if "application/json" in request.headers.get("accept", ""):
        answer: Response = JSONResponse({"next": there})
    else:
        answer = RedirectResponse(there, 303)
    cookies.drop_session(request, answer)
    return answer


def _signed_out(request: Request, *, everywhere: bool) -> str:
    """Where the browser goes to be signed out there too."""
    auth, secret = _signing(request).auth, cookies.session(request)
    session = sessions.session_of(auth, secret)
    if session is not None and everywhere:
        sessions.sign_out_everywhere(auth)
    elif session is not None:
        sessions.sign_out(auth, secret)
    return _exit(request)


def _exit(request: Request, *, otherwise: str = "/auth/signed-out") -> str:
    """Our own page when the provider names no place: here one is signed out all the same."""
    try:
        return _signing(request).provider.exit() or otherwise
    except VaultError:
        return otherwise


async def _gone(request: Request) -> Response:
    is_out_there_too = await run_in_threadpool(_exit, request, otherwise="")
    link = _AGAIN if is_out_there_too else _ANEW
    return _said(request, 200, "Signed out", "This browser is signed out of the vault.", link)


def _signing(request: Request) -> SignIn:
    return cast("SignIn", request.app.state.sign_in)


def _issuer(request: Request) -> str:
    return _signing(request).auth.issuer


def _host(request: Request) -> str:
    return urlsplit(_issuer(request)).netloc


ROUTES = [
    Route("/auth/login", _answering(_login), methods=["GET"]),
    Route("/auth/callback", _answering(_callback), methods=["GET"]),
    Route("/auth/logout", _answering(_leave), methods=["GET"]),
    Route("/auth/logout", _answering(_logout), methods=["POST"]),
    Route("/auth/signed-out", _answering(_gone), methods=["GET"]),
]
