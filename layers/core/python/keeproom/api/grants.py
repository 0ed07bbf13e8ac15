"""`/api/oauth`: the apps that are let in, and what they may do."""

from typing import Annotated, Self, cast

from fastapi import APIRouter, Depends, Path, Request
from pydantic import Field

from keeproom.api.asked import Cursor, Limit
from keeproom.api.errors import documented
from keeproom.api.owner import Signed
from keeproom.api.schemas import Answer, Body, Page, Time
from keeproom.oauth import grants
from keeproom.oauth.authorization import Authorization
from keeproom.oauth.model import Client, Permission, Permissions

router = APIRouter(prefix="/api/oauth", tags=["connected apps"])


async def _authorization(request: Request) -> Authorization:
    return cast("Authorization", request.app.state.authorization)


Letting = Annotated[Authorization, Depends(_authorization)]
GrantId = Annotated[str, Path(alias="id", max_length=100, description="Such as `grt_...`.")]
ClientId = Annotated[
    str,
    Path(
        alias="id",
        max_length=500,
        description="Such as `cli_...`, or the address of the client's own document.",
    ),
]


def _in_order(permissions: Permissions) -> list[Permission]:
    return [one for one in Permission if one in permissions]


class Grant(Answer):
    """What the owner has allowed an app. `verified_by`: the domain that vouches for its name, if
    one does; `redirect_host`: where its sign-in went; `failures`: calls that were refused since the
    last one that went well, the latest for `failure_reason`; `revoked_at`: shown for a month."""

    id: str
    client_id: str
    client_name: str
    verified_by: str | None
    redirect_host: str
    vault: str
    permissions: list[Permission]
    created_at: Time
    expires_at: Time
    last_used_at: Time | None
    failures: int
    last_failure_at: Time | None
    failure_reason: str | None
    revoked_at: Time | None

    @classmethod
    def of(cls, found: grants.Connected) -> Self:
        grant, use = found.grant, found.use
        return cls(
            id=grant.id,
            client_id=grant.client_id,
            client_name=grant.client_name,
            verified_by=grant.verified_by or None,
            redirect_host=grant.redirect_host,
            vault=grant.vault,
            permissions=_in_order(grant.permissions),
            created_at=grant.created,
            expires_at=grant.expires,
            last_used_at=use.last_used,
            failures=use.failures,
            last_failure_at=use.last_failure,
            failure_reason=(use.reason or None) if use.failures else None,
            revoked_at=grant.revoked,
        )


class Grants(Page[Grant]):
    """One page of grants."""


class App(Answer):
    """An app that has registered or publishes a document. `expires_at`: while nobody has approved
    it; `name_flagged`: hidden characters were taken out of its name."""

    id: str
    name: str
    name_flagged: bool
    verified_by: str | None
    redirect_uris: list[str]
    created_at: Time
    expires_at: Time | None

    @classmethod
    def of(cls, client: Client) -> Self:
        return cls(
            id=client.id,
            name=client.name,
            name_flagged=client.flagged,
            verified_by=client.verified_by or None,
            redirect_uris=list(client.redirect_uris),
            created_at=client.created,
            expires_at=client.expires,
        )


class Apps(Page[App]):
    """One page of apps."""


class NewPermissions(Body):
    """All that the app may do from its next call on."""

    permissions: list[Permission] = Field(min_length=1, max_length=len(Permission))


@router.get("/grants", responses=documented(503))
def list_grants(auth: Letting, cursor: Cursor = "", limit: Limit = 50) -> Grants:
    """What the owner has allowed which app, with its last use and failures, oldest first."""
    found = grants.connected(auth, cursor=cursor, limit=limit)
    return Grants(data=[Grant.of(one) for one in found.items], next=found.next or None)


@router.get("/grants/{id}", responses=documented(404, 503))
def read_grant(auth: Letting, grant_id: GrantId) -> Grant:
    """One grant."""
    return Grant.of(grants.one(auth, grant_id))


@router.patch("/grants/{id}", responses=documented(404, 413, 503))
def change_grant(auth: Letting, owner: Signed, grant_id: GrantId, new: NewPermissions) -> Grant:
    """Change what the app may do, from its next call on."""
    allowed = frozenset(new.permissions)
    return Grant.of(grants.change(auth, grant_id, allowed, by=owner.name))


@router.delete("/grants/{id}", status_code=204, responses=documented(404, 503))
def revoke_grant(auth: Letting, owner: Signed, grant_id: GrantId) -> None:
    """Take it back: the app is refused from its next call on."""
    grants.revoke_grant(auth, grant_id, by=owner.name)


@router.get("/clients", responses=documented(503))
def list_clients(auth: Letting, cursor: Cursor = "", limit: Limit = 50) -> Apps:
    """Every app that has registered, approved or not."""
    found = grants.clients(auth, cursor=cursor, limit=limit)
    return Apps(data=[App.of(one) for one in found.items], next=found.next or None)


@router.get("/clients/{id:path}", responses=documented(404, 503))
def read_client(auth: Letting, client_id: ClientId) -> App:
    """One app."""
    return App.of(grants.client(auth, client_id))


@router.delete("/clients/{id:path}", status_code=204, responses=documented(404, 503))
def remove_client(auth: Letting, owner: Signed, client_id: ClientId) -> None:
    """Take back all that the app was allowed, and forget it."""
    grants.remove_client(auth, client_id, by=owner.name)
