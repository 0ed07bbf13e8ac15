"""Reading the metadata documents that clients publish, without being led anywhere else.

The address comes from whoever asks to be let in, so it may be meant to make this server call into
its own network. Only https on its own port is spoken, the name is resolved once and the connection
made to that very address, which must be public; redirects are not followed, and little is read.
"""

import json
import re
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from time import monotonic
from typing import Any, cast
from urllib.parse import urlsplit

import httpx

from keeproom.clock import Clock, utc_now
from keeproom.engines.deadline import answered_within
from keeproom.errors import Invalid
from keeproom.oauth.ports import Document, Documents, DocumentUnavailable

LARGEST = 5_000  # bytes
PATIENCE = 5.0  # seconds in all: clients give up on a sign-in after ten
LONGEST_CACHED = timedelta(days=1)

_EMBEDDING = [ip_network(one) for one in ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "::/96")]
_METADATA = {IPv4Address("168.63.129.16")}  # a cloud's own service, at an address that is public
_JSON = re.compile(r"application/(?:[a-z0-9.+-]+\+)?json", re.IGNORECASE)
_MAX_AGE = re.compile(r"(?:^|[\s,])max-age=(\d{1,9})\b")

type Resolve = Callable[[str], Sequence[str]]


def is_public(address: str) -> bool:
    """Whether anybody may reach it: not this machine, not a network of ours, no cloud's metadata,
    and nothing that would be translated to one of those."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is not None or any(found in one for one in _EMBEDDING):
            return False
    elif found in _METADATA:
        return False
    return found.is_global and not found.is_multicast


def resolve(host: str) -> Sequence[str]:
    """All addresses of a name. Raises `OSError`."""
    found = socket.getaddrinfo(host, 443, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebDocuments:
    """`Documents` on the web. `patience`: seconds for one document, from looking up its server's
    name to its last byte. `transport`: what speaks HTTP, for tests."""

    clock: Clock = utc_now
    resolve: Resolve = resolve
    transport: httpx.BaseTransport | None = None
    patience: float = PATIENCE

    def fetch(self, url: str) -> Document:
        until = monotonic() + self.patience
        host, address = self._place(url)
        try:
            return self._read(url, host, address, until)
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise DocumentUnavailable("The document could not be read.") from error

    def _place(self, url: str) -> tuple[str, str]:
        """Name and address of the server. All its addresses must be public: one that is not is
        either a mistake or meant."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
            if parts.scheme != "https" or not host or port not in (None, 443) or parts.username:
                raise DocumentUnavailable("Only https on its own port is read.")
            found = answered_within(
                self.patience, lambda: self.resolve(host), raising=(OSError, ValueError)
            )
        except (OSError, ValueError) as error:
            raise DocumentUnavailable("The server's name leads nowhere.") from error
        if not found or not all(map(is_public, found)):
            raise DocumentUnavailable("The server is not on the public internet.")
        return host, found[0]

    def _read(self, url: str, host: str, address: str, until: float) -> Document:
        left = max(0.1, until - monotonic())
        pinned = httpx.URL(url).copy_with(host=address)
        with (
            httpx.Client(
                transport=self.transport, timeout=left, trust_env=False, follow_redirects=False
            ) as web,
            web.stream(
                "GET",
                pinned,
                headers={"Host": host, "Accept": "application/json", "Accept-Encoding": "identity"},
                extensions={"sni_hostname": host},
            ) as answer,
        ):
            kind = answer.headers.get("content-type", "").partition(";")[0].strip()
            if answer.status_code != 200 or not _JSON.fullmatch(kind):
                raise DocumentUnavailable("The server did not answer with a document.")
            body = b""
            for part in answer.iter_raw():
                body += part
                if len(body) > LARGEST or monotonic() > until:
                    raise DocumentUnavailable("The document is too large or too slow.")
            control = answer.headers.get("cache-control", "")
        return Document(content=_object(body), fresh_until=self.clock() + _fresh_for(control))


def _object(body: bytes) -> Mapping[str, Any]:
    """Raises `ValueError`."""
    try:
        content = json.loads(body)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(content, dict):
        raise DocumentUnavailable("The document is not an object.")
    return cast("dict[str, Any]", content)


def _fresh_for(control: str) -> timedelta:
    """As the server says, up to a day; an hour when it says nothing."""
    control = control.lower()
    if "no-store" in control or "no-cache" in control:
        return timedelta()
    age = _MAX_AGE.search(control)
    if age is None:
        return timedelta(hours=1)
    return min(timedelta(seconds=int(age[1])), LONGEST_CACHED)


@dataclass(frozen=True, slots=True)
class FiledDocuments:
    """Documents from a file of them by address, and the others from elsewhere: for trying clients
    on a machine without a way out."""

    otherwise: Documents
    clock: Clock = utc_now
    by_address: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Any])

    @classmethod
    def read(cls, path: Path, *, otherwise: Documents) -> "FiledDocuments":
        """Raises `Invalid`."""
        try:
            content = _object(path.read_bytes())
        except (OSError, ValueError, DocumentUnavailable) as error:
            raise Invalid("CIMD_TEST_DOCS must name a JSON file of documents.") from error
        return cls(otherwise=otherwise, by_address=content)

    def fetch(self, url: str) -> Document:
        if url in self.by_address:
            return Document(content=self.by_address[url], fresh_until=self.clock())
        return self.otherwise.fetch(url)
