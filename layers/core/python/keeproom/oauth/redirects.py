"""Where a code may be sent.

An address is kept and compared as the client's own text, never re-spelled: what was checked is what
is used. Only the port of a loopback address may differ from what was registered, since a program
learns its port when it starts (RFC 8252, 7.3).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from keeproom.oauth.errors import InvalidRedirectUri

LONGEST = 2000

# Addresses that run or show what they hold, or that go somewhere without a program that waits.
_NEVER = {
    "about", "blob", "chrome", "data", "file", "filesystem", "ftp", "jar", "javascript", "mailto",
    "resource", "vbscript", "view-source", "ws", "wss",
}  # fmt: skip
_PLAIN = re.compile(r"[A-Za-z0-9._~:/?\[\]@!$&'()*+,;=%-]+")  # RFC 3986, without a fragment
_PARTS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?://([^/?]*))?([^?]*)(?:\?(.*))?")
_HOST = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:]+\])(?::(\d{1,5}))?")
_LOOPBACK = re.compile(r"http://(localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?((?:[/?].*)?)")


@dataclass(frozen=True, slots=True)
class Destination:
    """`host`: what the owner is shown; `source`: the same for a content security policy;
    `here`: a program on the owner's own machine."""

    host: str
    source: str
    here: bool


def checked(uri: str) -> str:
    """The address itself. Raises `InvalidRedirectUri` for one that no code is ever sent to."""
    parts = _PARTS.fullmatch(uri) if _PLAIN.fullmatch(uri) and len(uri) <= LONGEST else None
    if parts is None:
        raise InvalidRedirectUri("A redirect URI is an absolute address in ASCII, no fragment.")
    scheme, place = parts[1].lower(), parts[2]
    if scheme in _NEVER:
        raise InvalidRedirectUri("A redirect URI must not have this scheme.")
    if scheme in ("http", "https"):
        _check_web(scheme, uri, place or "")
    elif "@" in (place or ""):
        raise InvalidRedirectUri("A redirect URI must not name a user.")
    elif not (place or parts[3]):
        raise InvalidRedirectUri("A redirect URI must lead somewhere.")
    return uri


def _check_web(scheme: str, uri: str, place: str) -> None:
    """`place`: host and port."""
    host = _HOST.fullmatch(place)
    if host is None or int(host[2] or 1) > 65535:
        raise InvalidRedirectUri("A redirect URI must name a host, and no user.")
    if scheme == "http" and not _LOOPBACK.fullmatch(uri):
        raise InvalidRedirectUri("A redirect URI off this machine must use https.")


def matches(uri: str, registered: Iterable[str]) -> bool:
    """Whether the address is one of those, text for text; the port of a loopback address is
    free."""
    wanted = _LOOPBACK.fullmatch(uri)
    for one in registered:
        if uri == one:
            return True
        found = _LOOPBACK.fullmatch(one)
        if wanted and found and wanted.groups() == found.groups():
            return _is_good(uri)
    return False


def _is_good(uri: str) -> bool:
    try:
        checked(uri)
    except InvalidRedirectUri:
        return False
    return True


def destination(uri: str) -> Destination:
    """Where a checked address leads."""
    scheme, _, rest = uri.partition(":")
    scheme = scheme.lower()
    if scheme not in ("http", "https"):
        return Destination(host=f"{scheme}:", source=f"{scheme}:", here=True)
    place = re.split(r"[/?]", rest.removeprefix("//"), maxsplit=1)[0].lower()
    # A policy cannot name an IPv6 address.
    source = f"{scheme}:" if place.startswith("[") else f"{scheme}://{place}"
    return Destination(host=place, source=source, here=bool(_LOOPBACK.fullmatch(uri)))


def with_query(uri: str, parameters: Mapping[str, str | None]) -> str:
    """The address with these parameters behind its own."""
    added = urlencode([(name, value) for name, value in parameters.items() if value is not None])
    return f"{uri}{'&' if '?' in uri else '?'}{added}"
