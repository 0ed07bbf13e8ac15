"""From where the door is used, and how it says that a token is needed."""

from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response

from keeproom.engines.loopback import is_loopback
from keeproom.oauth.model import ALL, scope_of

_HERE = ("localhost", "127.0.0.1", "[::1]")
# Their pages call vaults themselves.
BROWSERS = ("https://claude.ai", "https://chatgpt.com")
_SENT = (
    "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version, "
    "Mcp-Method, Mcp-Name"
)
_SHOWN = "WWW-Authenticate, x-mcp-challenge, Mcp-Session-Id, Mcp-Protocol-Version, Retry-After"
_DEFAULT_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """Which `Host` and `Origin` are answered; `name:*` is any port of it. `metadata`: where it is
    told which authorization server gives tokens."""

    hosts: list[str]
    origins: list[str]
    metadata: str

    @classmethod
    def at(cls, url: str) -> Self:
        """The door of the vault that is reached at this address, without a trailing slash."""
        parts = urlsplit(url.lower())
        own = parts.netloc
        usual = f"{own}:{_DEFAULT_PORTS.get(parts.scheme, 443)}" if parts.port is None else own
        here = [form for name in _HERE for form in (name, f"{name}:*")]
        return cls(
            hosts=here if is_loopback(url) else [own, usual],
            origins=[
                f"{parts.scheme}://{own}",
                *(f"http://{name}" for name in here),
                *BROWSERS,
            ],
            metadata=f"{url}/.well-known/oauth-protected-resource/mcp",
        )

    def allows_origin(self, origin: str) -> bool:
        return any(
            origin.startswith(known[:-1]) if known.endswith(":*") else origin == known
            for known in self.origins
        )


def challenge(code: str, description: str, guarded: Guarded) -> Response:
    """A 401 that says where a token is to be had (RFC 6750, RFC 9728). `code`: what is wrong with
    the one that was sent, empty for none. Said twice: some gateways rename the standard header."""
    parts = [f'resource_metadata="{guarded.metadata}"', f'scope="{scope_of(ALL)}"']
    if code:
        parts = [f'error="{code}"', f'error_description="{description}"', *parts]
    said = f"Bearer {', '.join(parts)}"
    body = {"error": code or "unauthorized", "error_description": description}
    headers = {"WWW-Authenticate": said, "x-mcp-challenge": said, "Cache-Control": "no-store"}
    return JSONResponse(body, 401, headers=headers)


def browser_headers(headers: Headers, guarded: Guarded) -> list[tuple[bytes, bytes]]:
    """What lets a page read the answer: nothing for an origin that may not."""
    told = {"Vary": "Origin"}
    origin = headers.get("origin", "")
    if origin and guarded.allows_origin(origin):
        told |= {
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Expose-Headers": _SHOWN,
        }
        if "access-control-request-method" in headers:
            told |= {
                "Access-Control-Allow-Methods": "POST, GET, DELETE, OPTIONS",
                "Access-Control-Allow-Headers": _SENT,
                "Access-Control-Max-Age": "600",
            }
    return [(name.lower().encode(), value.encode("latin-1")) for name, value in told.items()]
