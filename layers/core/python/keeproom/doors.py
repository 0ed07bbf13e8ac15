"""Every door of a vault as one application: the owner's, the one that lets apps in, the agents'."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import partial

from fastapi import FastAPI

from keeproom import api, mcp
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
) -> FastAPI:
    """`owner`, `public_url`, `sign_in`, `wake`: as `api.build_app` takes them. `running`: entered
    when the doors are open and left before they close; they can be opened again."""
    agents = mcp.build_door(
        mcp.Served(vaults=mcp.only(vault), wake=wake),
        verify=partial(authenticated, authorization),
        url=authorization.issuer,
    )

    @asynccontextmanager
    async def opened(_: FastAPI) -> AsyncGenerator[None]:
        async with agents.opened(), running():
            yield

    app = api.build_app(
        vault,
        owner=owner,
        public_url=public_url,
        authorization=authorization,
        sign_in=sign_in,
        wake=wake,
        lifespan=opened,
    )
    app.router.routes[:0] = agents.routes()
    return app
