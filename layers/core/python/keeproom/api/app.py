"""The HTTP application: its routes, and what every request passes on its way to them."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from fastapi import Depends, FastAPI

from keeproom.api import (
    approval,
    audit,
    cleanup,
    connect,
    exclusions,
    grants,
    guide,
    home,
    imports,
    memories,
    oauth,
    public,
    recall,
    reindex,
    review,
    settings,
    signing_in,
    statistics,
    tokens,
    whoami,
)
from keeproom.api.access import AccessLog
from keeproom.api.asked import Served, only_known_parameters
from keeproom.api.cross_origin import CrossOrigin
from keeproom.api.errors import answer_errors
from keeproom.api.gate import OwnerGate
from keeproom.api.headers import HeadAsGet, SecurityHeaders
from keeproom.api.limits import BodyLimit
from keeproom.api.local_owner import LocalOwner
from keeproom.api.owner import OwnerDoor, is_loopback_url
from keeproom.api.session_owner import SessionOwner
from keeproom.oauth.authorization import Authorization
from keeproom.oauth.sign_in import SignIn
from keeproom.vault.vault import Vault
from keeproom.vault.work import Wake

ROUTERS = tuple(
    part.router
    for part in (
        memories,
        review,
        recall,
        reindex,
        imports,
        guide,
        settings,
        exclusions,
        audit,
        statistics,
        cleanup,
        whoami,
        home,
        public,
        connect,
    )
)
IMPORT_SECONDS = 10.0  # what an import may take within its call; AWS ends a call after 30
DESCRIPTION = """\
One long-term memory for all of a person's AI agents. Every list answers `data` and the cursor
`next`; every error `{"error": {"code", "message", "param"}}`; times are UTC. An unknown field or
query parameter is an error."""

type Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def build_app(
    vault: Vault,
    *,
    owner: str,
    public_url: str = "",
    authorization: Authorization | None = None,
    sign_in: SignIn | None = None,
    wake: Wake = lambda task: None,
    import_seconds: float = IMPORT_SECONDS,
    lifespan: Lifespan | None = None,
) -> FastAPI:
    """The doors of one vault. `owner`: the address whom requests from this machine are signed in
    as, empty for nobody; `public_url`: where the vault is reached, if that is not this machine
    alone, and then no request is. `authorization`: what lets apps in; without it none is.
    `sign_in`: how the owner signs in at a provider, wherever the request comes from; then `owner`
    does not matter. `wake`: tell the background worker that there is work."""
    app = bare_app(lifespan=lifespan, lets_in=authorization is not None)
    if sign_in is not None:
        app.router.routes.extend(signing_in.ROUTES)
    app.state.served = Served(vault=vault, wake=wake, import_seconds=import_seconds)
    app.state.authorization = authorization
    app.state.sign_in = sign_in
    app.state.door = _door(sign_in, owner=owner, public_url=public_url)
    app.add_middleware(BodyLimit)
    app.add_middleware(OwnerGate)
    if authorization is not None:
        app.add_middleware(CrossOrigin, paths=oauth.FOR_PAGES)
    app.add_middleware(AccessLog)
    app.add_middleware(HeadAsGet)
    app.add_middleware(
        SecurityHeaders, hsts=public_url.startswith("https:") and not is_loopback_url(public_url)
    )
    return app


def _door(sign_in: SignIn | None, *, owner: str, public_url: str) -> OwnerDoor:
    if sign_in is not None:
        return SessionOwner(sign_in=sign_in)
    return LocalOwner(address=owner, public_url=public_url)


def bare_app(*, lifespan: Lifespan | None = None, lets_in: bool = True) -> FastAPI:
    """The routes alone, without anything behind them or a gate before them. `lets_in`: with those
    that let apps in."""
    app = FastAPI(
        title="Keeproom",
        version="1",
        description=DESCRIPTION,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        separate_input_output_schemas=False,
        dependencies=[Depends(only_known_parameters)],
        lifespan=lifespan,
    )
    routers = (*ROUTERS, grants.router, tokens.router) if lets_in else ROUTERS
    for router in routers:
        app.include_router(router)
    own = (*oauth.ROUTES, *approval.ROUTES) if lets_in else ()
    app.router.routes.extend(own)
    answer_errors(app, [*(route for router in routers for route in router.routes), *own])
    return app
