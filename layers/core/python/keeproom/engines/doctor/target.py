"""The vault that is examined, and what was found out about it."""

import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import httpx

from keeproom.engines.doctor.failures import Failure

NAME = "Keeproom doctor"
SPOKEN = "2025-06-18"  # a version that every server of today speaks

type Step = Callable[["Target", str], Iterator["Finding"]]
type Visit = Callable[[str], Mapping[str, str] | None]


class Health(StrEnum):
    OK = "ok"
    ODD = "odd"  # some clients fail here
    FAIL = "fail"  # every client does


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One step. `cause` and `remedy` are empty when it passed."""

    step: str
    health: Health
    saw: str
    cause: str = ""
    remedy: str = ""


@dataclass(slots=True, kw_only=True)
class Target:
    """What is known of the vault so far. `redirect`: where the browser comes back to; `visit`:
    shows the approval page and tells the parameters the browser came back with, None when it did
    not come."""

    mcp: str
    http: httpx.Client
    redirect: str
    visit: Visit
    metadata: str = ""
    issuer: str = ""
    server: Mapping[str, object] = field(default_factory=dict[str, object])
    client_id: str = ""
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))
    code: str = ""
    token: str = ""
    refresh: str = ""

    def endpoint(self, name: str) -> str:
        """Raises `Failure` when the server's document does not name it."""
        found = self.server.get(name)
        if isinstance(found, str) and found:
            return found
        raise Failure(
            saw=f"no {name} in the document of the authorization server",
            cause="The document is of another server, or the vault is too old.",
            remedy="Pass /.well-known/oauth-authorization-server on to the vault.",
        )


def failed(name: str, why: Failure, *, health: Health = Health.FAIL) -> Finding:
    return Finding(step=name, health=health, saw=why.saw, cause=why.cause, remedy=why.remedy)


def passed(name: str, saw: str) -> Finding:
    return Finding(step=name, health=Health.OK, saw=saw)


def rpc(method: str, number: int, params: Mapping[str, object] | None = None) -> object:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}


def headers_with(token: str = "") -> dict[str, str]:
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": SPOKEN}
    return headers | ({"Authorization": f"Bearer {token}"} if token else {})


def another_address(what: str, said: object, expected: str) -> Failure:
    return Failure(
        saw=f"{what} is {said}, but the address is {expected}",
        cause="The vault goes by another name than the one it is called by: PUBLIC_URL is not "
        "set, or differs in scheme, host, port or a slash at the end.",
        remedy="Set PUBLIC_URL to the address that clients use, and start the vault again.",
    )
