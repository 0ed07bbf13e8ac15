"""What a failing answer means to somebody who runs a vault: the likely cause and what to do."""

import json
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit

import httpx

WITHIN = 10.0  # seconds; Claude gives up on discovery and tokens after as many


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure(Exception):
    """A step that fails: what was seen, why that is likely, what to do about it."""

    saw: str
    cause: str
    remedy: str


_PROXY = "Something in front of the vault answers in its place."
_AT_STATUS: Mapping[int, tuple[str, str]] = {
    400: (
        "The vault refused the request as malformed.",
        "See the error it names, and update the vault: client and vault may be too far apart.",
    ),
    403: (
        "A firewall, bot rule or gateway authorizer refuses it, or the vault refuses the Origin.",
        "Let /mcp, /.well-known/*, /authorize, /token, /register and /revoke through as they are; "
        "the vault checks tokens itself.",
    ),
    404: (
        "The address leads elsewhere, or only some paths are passed on to the vault.",
        "Use the address that the vault prints when it starts, and pass every path on, from the "
        "root of the domain.",
    ),
    405: (
        "The path is served by something that does not take POST.",
        "Pass every method on to the vault.",
    ),
    406: ("A proxy takes the Accept header away.", "Pass the headers on as they are."),
    413: (_PROXY, "Allow bodies of 5 MB."),
    415: ("A proxy changes the Content-Type header.", "Pass the headers on as they are."),
    421: (
        "The vault is asked by a host name it does not go by.",
        "Set PUBLIC_URL to the address clients use, and let the proxy keep the Host header.",
    ),
    429: ("Too many tries in a short time.", "Wait a minute and try again."),
    502: (
        "The proxy does not reach the vault.",
        "Start the vault, and see where the proxy sends to.",
    ),
    503: ("The vault is starting or busy.", "Try again in a moment, then see the vault's log."),
    504: ("The vault did not answer the proxy in time.", "See the vault's log."),
}
_SERVER_FAULT = ("The vault failed.", "See the vault's log; it names the request.")
_UNEXPECTED = (_PROXY, "Ask the vault directly, then put the proxy in front again.")


def out_of_reach(error: httpx.TransportError, address: str) -> Failure:
    """Why nothing came back at all."""
    host = urlsplit(address).hostname or ""
    saw = f"{type(error).__name__} at {address}"
    root = _root(error)
    match root:
        case ssl.SSLCertVerificationError():
            return Failure(
                saw=f"the certificate of {host} is not trusted: {root.verify_message}",
                cause="It has expired, is for another name, or is signed by nobody known.",
                remedy="Get a certificate that browsers trust. Clients elsewhere trust no other.",
            )
        case ssl.SSLError():
            return Failure(
                saw=f"no TLS at {host}",
                cause="The port speaks plain HTTP, or a protocol version that is too old.",
                remedy="Write http:// for a vault on this machine; else put TLS in front of it.",
            )
        case socket.gaierror():
            return Failure(
                saw=f"the name {host} leads nowhere",
                cause="It is misspelt, or its DNS record is missing or too new.",
                remedy="See that the name resolves from outside your network.",
            )
        case _ if isinstance(error, httpx.TimeoutException):
            return Failure(
                saw=f"no answer from {address} within {WITHIN:.0f} s",
                cause="A firewall drops the connection, or the vault is stuck.",
                remedy="See that the port is open to the internet, then the vault's log.",
            )
        case _ if isinstance(error, httpx.ConnectError):
            return Failure(
                saw=f"nobody listens at {host}",
                cause="The vault does not run, or listens on another port.",
                remedy="Start it (`keeproom serve`) and use the address that it prints.",
            )
        case _:
            return Failure(
                saw=saw,
                cause="The connection ended in the middle of an answer.",
                remedy="See the logs of the vault and of what is in front of it.",
            )


def _root(error: BaseException) -> BaseException:
    """What was at the bottom of it. Sockets hide their errors twice over."""
    while inner := error.__cause__ or error.__context__:
        error = inner
    return error


def expect_status(answer: httpx.Response, *wanted: int) -> None:
    """Raises `Failure` for any other status."""
    if answer.status_code in wanted:
        return
    status = answer.status_code
    saw = f"{status} from {answer.request.method} {answer.url}{_error_in(answer)}"
    if answer.has_redirect_location:
        raise Failure(
            saw=f"{saw}, to {answer.headers['location']}",
            cause="The address is not the vault's own: clients that are sent on lose their token.",
            remedy="Give clients the address that answers itself, without redirects.",
        )
    fault = _SERVER_FAULT if status >= httpx.codes.INTERNAL_SERVER_ERROR else _UNEXPECTED
    cause, remedy = _AT_STATUS.get(status, fault)
    raise Failure(saw=saw, cause=cause, remedy=remedy)


def _error_in(answer: httpx.Response) -> str:
    """The code of an OAuth error, whose name says more than the status."""
    try:
        told = answer.json()
    except ValueError:
        return ""
    error = cast("dict[str, object]", told).get("error") if isinstance(told, dict) else None
    return f" ({error})" if isinstance(error, str) else ""


def json_object(answer: httpx.Response) -> Mapping[str, object]:
    """What the answer says. Raises `Failure` when it is not a JSON object."""
    kind = answer.headers.get("content-type", "no content type").partition(";")[0]
    try:
        told = json.loads(answer.content)
    except ValueError:
        told = None
    if isinstance(told, dict):
        return cast("Mapping[str, object]", told)
    raise Failure(
        saw=f"{kind} instead of JSON from {answer.url}",
        cause="A sign-in wall, a start page for unknown paths or a buffering proxy answers.",
        remedy="Pass this path on to the vault, without a sign-in of the proxy's own.",
    )
