"""Which app a `client_id` stands for: one that registered, or one that publishes a document."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from keeproom.oauth.authorization import Authorization, decided
from keeproom.oauth.described import described
from keeproom.oauth.errors import InvalidClient, InvalidClientMetadata, InvalidRedirectUri
from keeproom.oauth.model import UNUSED, AuthMethod, Change, Client, has_expired
from keeproom.oauth.ports import Document, DocumentUnavailable
from keeproom.oauth.well_known import copy_of

STALE = timedelta(days=30)  # how long a document that cannot be read again is still believed
_RETRIED = timedelta(minutes=5)  # when a copy is used, so long until the original is tried again
_ADDRESS = re.compile(r"https://[a-z0-9.-]+(?::\d{1,5})?(/[A-Za-z0-9._~:/?@!$&'()*+,;=%-]+)")


def is_document(client_id: str) -> bool:
    """Whether the id is the address of a metadata document: https, in plain ASCII, with a path, and
    nothing in it that two readers could take for two addresses."""
    parts = _ADDRESS.fullmatch(client_id) if len(client_id) <= 500 else None
    if parts is None:
        return False
    path = parts[1].partition("?")[0]
    return not {".", "..", "%2e", "%2e%2e"} & set(path.lower().split("/"))


def known(auth: Authorization, client_id: str) -> Client:
    """The client as it is kept, without asking anybody: whoever is not the owner must not make us
    read addresses. Raises `InvalidClient`."""
    client = auth.grants.find(Client, client_id)
    if client is None or has_expired(client, auth.clock()):
        raise InvalidClient("There is no such client. Register again.")
    return client


def resolved(auth: Authorization, client_id: str) -> Client:
    """The client, its document read when that is due: for the owner's own requests. Raises
    `InvalidClient`."""
    if not is_document(client_id):
        return known(auth, client_id)
    kept, now = auth.grants.find(Client, client_id), auth.clock()
    if kept is not None and kept.fresh_until is not None and now < kept.fresh_until:
        return kept
    return _read(auth, client_id, kept)


def _read(auth: Authorization, address: str, kept: Client | None) -> Client:
    now = auth.clock()
    try:
        document = auth.documents.fetch(address)
    except DocumentUnavailable:
        copy = copy_of(address)
        if copy is None:
            return _still_believed(kept, now)
        document = Document(content=copy, fresh_until=now + _RETRIED)
    return _keep(auth, _client_of(address, document.content, now), document.fresh_until)


def _still_believed(kept: Client | None, now: datetime) -> Client:
    if kept is None or kept.fresh_until is None or now >= kept.fresh_until + STALE:
        raise InvalidClient("The client's metadata document cannot be read.")
    return kept


def _client_of(address: str, content: Mapping[str, object], now: datetime) -> Client:
    """What the document says, if it speaks of itself. Raises `InvalidClient`."""
    try:
        told = described(content)
    except (InvalidClientMetadata, InvalidRedirectUri) as error:
        raise InvalidClient(f"The client's metadata document is not valid: {error}") from error
    secret = "client_secret" in content or told.auth_method not in (None, AuthMethod.NONE)
    if content.get("client_id") != address or not told.name or secret:
        raise InvalidClient(
            "The client's metadata document must name its own address and the client, and must not "
            "rely on a secret."
        )
    return Client(
        id=address,
        name=told.name,
        flagged=told.flagged,
        redirect_uris=told.redirect_uris,
        auth_method=AuthMethod.NONE,
        created=now,
        expires=now + UNUSED,
        verified_by=urlsplit(address).hostname or "",
    )


def _keep(auth: Authorization, read: Client, fresh_until: datetime) -> Client:
    """As it is stored then, together with what is known of it already."""

    def keep() -> Client:
        kept = auth.grants.find(Client, read.id)
        client = replace(read, fresh_until=fresh_until)
        if kept is not None:
            client = replace(
                client,
                created=kept.created,
                expires=kept.expires and read.expires,
                revision=kept.revision,
            )
        auth.grants.commit(Change(put=(client,)))
        return replace(client, revision=client.revision + 1)

    return decided(auth, keep)
