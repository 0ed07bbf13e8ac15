"""What routes take besides the body: the vault's name, revisions, keys; and nothing unknown."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Header, Path, Query, Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from keeproom.api.schemas import Id, Text
from keeproom.errors import Invalid, NotFound
from keeproom.oauth.authorization import Authorization
from keeproom.vault.vault import Vault
from keeproom.vault.work import Wake

PERSONAL = "personal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What stands behind the door. `wake`: tell the background worker that there is work.
    `import_seconds`: how long an import may take within its call."""

    vault: Vault
    wake: Wake
    import_seconds: float


async def served(request: Request) -> Served:
    return cast("Served", request.app.state.served)


Behind = Annotated[Served, Depends(served)]


async def opened(
    behind: Behind,
    named: Annotated[
        str | None, Header(alias="Keeproom-Vault", description="Which vault; `personal` if absent.")
    ] = None,
    vault: Annotated[str | None, Query(description="The same as the header.")] = None,
) -> Vault:
    """The vault the request names. Raises `NotFound`."""
    names = {name for name in (named, vault) if name is not None}
    if len(names) > 1:
        raise Invalid("The header and the address name different vaults.", param="vault")
    if names - {PERSONAL}:
        raise NotFound("There is no vault of this name.", param="vault")
    return behind.vault


async def _letting_in(request: Request) -> Authorization | None:
    return cast("Authorization | None", request.app.state.authorization)


LettingIn = Annotated[Authorization | None, Depends(_letting_in)]  # None: no app is let in


async def only_known_parameters(request: Request) -> None:
    """An argument that would be ignored is an error. Raises `Invalid`."""
    route = request.scope.get("route")
    if not isinstance(route, APIRoute):
        return
    known = set(_names(route.dependant))
    if not known.issuperset(request.query_params):
        takes = ", ".join(sorted(known)) or "none"
        raise Invalid(f"There is no such query parameter here. It takes: {takes}.", param="query")


def _names(dependant: Dependant) -> Iterator[str]:
    yield from (field.alias for field in dependant.query_params)
    for inner in dependant.dependencies:
        yield from _names(inner)


def expected(if_match: str | None, revision: int | None) -> int | None:
    """The revision the caller has seen, by header (`"3"`) or body; None for whichever it is.
    Raises `Invalid`."""
    if if_match is None or if_match.strip() == "*":
        return revision
    tag = if_match.strip().removeprefix('"').removesuffix('"')
    if not (tag.isascii() and tag.isdigit() and len(tag) <= 9):
        raise Invalid('Send one ETag of this thing, such as `"3"`.', param="If-Match")
    if revision not in (None, int(tag)):
        raise Invalid("The header and the body name different revisions.", param="If-Match")
    return int(tag)


def seen(if_match: str | None, revision: int | None) -> int | None:
    """As `expected`, for what would overwrite somebody's words: the caller must say which revision
    that is. Raises `Invalid`."""
    if if_match is None and revision is None:
        raise Invalid(
            "Say which revision you have changed: send its ETag as `If-Match`, or `*` for "
            "whichever is there.",
            param="If-Match",
        )
    return expected(if_match, revision)


def etag(revision: int) -> str:
    return f'"{revision}"'


Opened = Annotated[Vault, Depends(opened)]
MemoryId = Annotated[Id, Path(alias="id", description="Such as `mem_...`.")]
BatchId = Annotated[Id, Path(alias="id", description="Such as `bat_...`.")]
IfMatch = Annotated[
    str | None, Header(alias="If-Match", description="The ETag of what was changed.")
]
Key = Annotated[
    Text,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        description="The same key with the same arguments gives the first answer again.",
    ),
]
Cursor = Annotated[str, Query(max_length=4000, description="`next` of the page before.")]
Limit = Annotated[int, Query(ge=1, le=200, description="How many at once.")]
