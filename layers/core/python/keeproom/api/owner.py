"""Who is in front of the door: the owner, or somebody who is turned away."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Protocol, cast
from urllib.parse import urlsplit

from fastapi import Depends
from starlette.requests import HTTPConnection

from keeproom.vault.model import OWNER, Actor

LOOPBACK_HOST = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """The owner, or a script of theirs. `address`: whom the owner is signed in as."""

    address: str = ""
    actor: Actor = OWNER


class Why(StrEnum):
    """The code of a refusal."""

    FORBIDDEN = "forbidden"
    NOT_SIGNED_IN = "not_signed_in"
    BAD_TOKEN = "bad_token"
    INSUFFICIENT_SCOPE = "insufficient_scope"


@dataclass(frozen=True, slots=True)
class TurnedAway:
    sentence: str
    why: Why = Why.FORBIDDEN


type Verdict = Owner | TurnedAway


class OwnerDoor(Protocol):
    """How the owner is recognised by a request. Every call may raise `Unavailable`."""

    def calls(self, request: HTTPConnection) -> Verdict:
        """Who reads or changes something."""
        ...

    def visits(self, request: HTTPConnection) -> Verdict:
        """The same for a page that a link anywhere may lead to, and that changes nothing by being
        shown."""
        ...

    def scripts(self, request: HTTPConnection) -> TurnedAway | None:
        """Why a request with a service token is turned away whatever the token is."""
        ...


def is_loopback_url(url: str) -> bool:
    """Whether only this machine can reach the address."""
    try:
        return bool(LOOPBACK_HOST.fullmatch(urlsplit(url).netloc))
    except ValueError:
        return False


async def signed_in(connection: HTTPConnection) -> Actor:
    """Who the gate has let in."""
    return cast("Actor", connection.state.actor)


Signed = Annotated[Actor, Depends(signed_in)]
