"""`keeproom token`: what scripts come with, made without a browser."""

from datetime import timedelta
from typing import Annotated

import typer

from keeproom import compose
from keeproom.cli.terminal import Json, app, say, say_json
from keeproom.clock import iso
from keeproom.errors import Invalid
from keeproom.oauth import service_tokens
from keeproom.oauth.model import Scope, ServiceToken
from keeproom.pages import every
from keeproom.settings import read_settings
from keeproom.vault.model import OWNER

token = typer.Typer(no_args_is_help=True, help="Make, list and revoke tokens for scripts.")
app.add_typer(token, name="token")

Scopes = Annotated[
    list[Scope] | None, typer.Option("--scope", help="What it may do. Can be given several times.")
]
Days = Annotated[int | None, typer.Option(help="Days until it expires. Default: never.", min=1)]


@token.command()
def create(name: str, scope: Scopes = None, days: Days = None, as_json: Json = False) -> None:
    """Make a token and show it, this once."""
    if not scope:
        raise Invalid(f"Say what it may do: --scope {', '.join(Scope)}.", param="scope")
    lasts = None if days is None else timedelta(days=days)
    settings = read_settings()
    with compose.local_authorization(settings, settings.public_url) as auth:
        made = service_tokens.create(auth, name, frozenset(scope), by=OWNER.name, lasts=lasts)
    if as_json:
        say_json({"token": made.text, **_told(made.token)})
    else:
        say(made.text)


@token.command("list")
def list_(as_json: Json = False) -> None:
    """Show every token that is good, and when it was used last."""
    settings = read_settings()
    with compose.local_authorization(settings, settings.public_url) as auth:
        found = list(every(lambda cursor: service_tokens.tokens(auth, cursor=cursor)))
    if as_json:
        say_json([_told(one) for one in found])
        return
    for one in found:
        used = iso(one.last_used) if one.last_used else "never used"
        say(f"{one.id}  {one.name}  {', '.join(sorted(one.scopes))}  {used}")


@token.command()
def revoke(token_id: str) -> None:
    """Make a token worthless, from its next call on."""
    settings = read_settings()
    with compose.local_authorization(settings, settings.public_url) as auth:
        service_tokens.revoke_token(auth, token_id, by=OWNER.name)


def _told(one: ServiceToken) -> dict[str, object]:
    return {
        "id": one.id,
        "name": one.name,
        "scopes": sorted(one.scopes),
        "created_at": iso(one.created),
        "expires_at": iso(one.expires) if one.expires else None,
        "last_used_at": iso(one.last_used) if one.last_used else None,
    }
