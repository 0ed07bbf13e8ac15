"""What the authorization server needs from outside, in its own words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from keeproom.oauth.model import AuditEntry, Change, Credential, Noun, Page, Use


class GrantStore(Protocol):
    """Clients, grants and their tokens. Every read sees every finished change; every call may raise
    `Unavailable`."""

    def find[N: Noun](self, kind: type[N], id: str) -> N | None:
        """Also what has expired and is not removed yet."""
        ...

    def credential(self, hash: str) -> Credential | None:
        """The token of this hash with its grant; None when one of them is gone."""
        ...

    def uses(self, grant_ids: Sequence[str]) -> Mapping[str, Use]:
        """Those that are known, by the id of the grant."""
        ...

    def page[N: Noun](self, kind: type[N], *, cursor: str = "", limit: int = 50) -> Page[N]:
        """All of a kind in order of their ids. Raises `Invalid` for a cursor that is none."""
        ...

    def commit(self, change: Change) -> None:
        """All or nothing, its audit entry linked into the chain. A noun that is put is as it is
        stored from then on, with its revision one higher. Raises `Contended` when a noun is not at
        the revision it carries."""
        ...

    def audit(self, *, cursor: str = "", limit: int = 50) -> Page[AuditEntry]:
        """Newest first."""
        ...

    def audit_faults(self) -> Sequence[str]:
        """A sentence when an entry was removed or altered."""
        ...

    def cut_audit(self, before: datetime) -> int:
        """Remove the beginning of the audit, entries older than that, and count them. The chain
        leads on from its cut."""
        ...

    def close(self) -> None:
        """Give back what it holds."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What an address answered: a JSON object, and until when it need not be read again."""

    content: Mapping[str, Any]
    fresh_until: datetime


class DocumentUnavailable(Exception):
    """The address did not answer as it must, or must not be asked. Says nothing of the answer."""


class Documents(Protocol):
    def fetch(self, url: str) -> Document:
        """The metadata document a client publishes at its own address. Raises
        `DocumentUnavailable`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Who is in front of the browser, as the provider vouches for it. `verified`: that the address
    is theirs."""

    subject: str
    address: str
    verified: bool


class Provider(Protocol):
    """Who vouches for the owner. Every call may raise `Unavailable`."""

    @property
    def issuer(self) -> str:
        """Its one name."""
        ...

    def entrance(self, *, state: str, nonce: str, challenge: str, anew: bool = False) -> str:
        """Where the browser goes to sign in. `challenge`: the S256 one of PKCE. `anew`: to be asked
        who it is, even by a provider that has signed somebody in already."""
        ...

    def person(self, code: str, *, verifier: str, nonce: str) -> Person:
        """Who has signed in there. Raises `SignInFailed` for a code that is not good, and for a
        proof that is not sound, is somebody else's or has expired."""
        ...

    def exit(self) -> str:
        """Where the browser goes to end its session there; empty when there is no such place."""
        ...
