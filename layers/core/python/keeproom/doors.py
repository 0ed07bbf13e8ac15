"""Every door of a vault as one application: the owner's, the one that lets apps in, the agents'."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import cache, partial

from starlette.applications import Starlette
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from keeproom import api, mcp
from keeproom.api.access import AccessLog
from keeproom.api.headers import HeadAsGet, SecurityHeaders
from keeproom.api.limits import BodyLimit
from keeproom.engines.loopback import is_loopback
from keeproom.oauth.authorization import Authorization
from keeproom.oauth.sign_in import SignIn
from keeproom.oauth.verify import authenticated
from keeproom.vault.vault import Vault
from keeproom.vault.work import Wake


def application(
    vault: Vault,
    authorization: Authorization,
    *,
    owner: str,
    public_url: str = "",
    sign_in: SignIn | None = None,
    wake: Wake = lambda task: None,
    running: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
) -> Starlette:
    """`owner`, `public_url`, `sign_in`, `wake`: as `api.build_app` takes them. `running`: entered
    when the doors are open and left before they close; they can be opened again.

    Agents come first and often, to a container that has just begun: all other doors are loaded
    when the first request comes to one of them, which takes a third of a second."""
    agents = mcp.build_door(
        mcp.Served(vaults=mcp.only(vault), wake=wake),
        verify=partial(authenticated, authorization),
        url=authorization.issuer,
    )

    @asynccontextmanager
    async def opened(_: Starlette) -> AsyncGenerator[None]:
        async with agents.opened(), running():
            yield

    @cache
    def others() -> ASGIApp:
        return api.build_app(
            vault,
            owner=owner,
            public_url=public_url,
            authorization=authorization,
            sign_in=sign_in,
            wake=wake,
        )

    async def other(scope: Scope, receive: Receive, send: Send) -> None:
        await others()(scope, receive, send)

    guarded = _guarded(agents, public_url)
    routes = [Route(path, guarded, include_in_schema=False) for path in mcp.PATHS]
    return Starlette(routes=[*routes, Mount("", app=other)], lifespan=opened)


def _guarded(door: ASGIApp, public_url: str) -> ASGIApp:
    """With what `api.build_app` puts before its own routes."""
    hsts = public_url.startswith("https:") and not is_loopback(public_url)
    return SecurityHeaders(HeadAsGet(AccessLog(BodyLimit(door))), hsts=hsts)
