"""Goes the way an app goes, from the address to the first call, and says where it ends."""

import base64
import hashlib
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import cast
from urllib.parse import urlencode, urlsplit

import httpx

from keeproom.engines.symptoms import WITHIN, Ill, expect_status, json_object, out_of_reach

NAME = "Keeproom doctor"
SPOKEN = "2025-06-18"  # a version that every server of today speaks
NEEDED = frozenset({"get_operating_guide", "recall"})
_METADATA = re.compile(r'resource_metadata="([^"]+)"')
_RENAMED = ("x-amzn-remapped-www-authenticate", "x-mcp-challenge")

type Visit = Callable[[str], Mapping[str, str] | None]


class Health(StrEnum):
    WELL = "ok"
    ODD = "odd"  # some clients fail here
    ILL = "fail"  # every client does


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One step. `cause` and `remedy` are empty when it is well."""

    step: str
    health: Health
    saw: str
    cause: str = ""
    remedy: str = ""


@dataclass(slots=True, kw_only=True)
class Patient:
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
        """Raises `Ill` when the server's document does not name it."""
        found = self.server.get(name)
        if isinstance(found, str) and found:
            return found
        raise Ill(
            saw=f"no {name} in the document of the authorization server",
            cause="The document is of another server, or the vault is too old.",
            remedy="Pass /.well-known/oauth-authorization-server on to the vault.",
        )


def mcp_address(address: str) -> str:
    """Where agents call, from whatever of it somebody has typed."""
    if "://" not in address:
        address = f"https://{address}"
    address = address.rstrip("/")
    return address if urlsplit(address).path else f"{address}/mcp"


def http_client(transport: httpx.BaseTransport | None = None) -> httpx.Client:
    """As careful as clients are: no redirects, and not much patience."""
    return httpx.Client(timeout=WITHIN, transport=transport, headers={"User-Agent": NAME})


def examine(patient: Patient) -> Iterator[Finding]:
    """One finding a step, up to the first at which nobody could go on."""
    for name, step in STEPS.items():
        try:
            yield from step(patient, name)
        except Ill as ill:
            yield _finding(name, Health.ILL, ill)
            return
        except httpx.TransportError as error:
            yield _finding(name, Health.ILL, out_of_reach(error, patient.mcp))
            return


def _finding(name: str, health: Health, ill: Ill) -> Finding:
    return Finding(step=name, health=health, saw=ill.saw, cause=ill.cause, remedy=ill.remedy)


def _well(name: str, saw: str) -> Finding:
    return Finding(step=name, health=Health.WELL, saw=saw)


def _asks(patient: Patient, name: str) -> Iterator[Finding]:
    """An unknown caller is turned away, and told where to go."""
    answer = patient.http.post(patient.mcp, json=_call("tools/list", 1), headers=_headers())
    if answer.is_success:
        raise Ill(
            saw=f"{answer.status_code} without a token",
            cause="This is not a vault, or something in front of it adds a token.",
            remedy="Take what adds the token away at once: anybody can use the vault.",
        )
    expect_status(answer, 401)
    challenge = answer.headers.get("www-authenticate", "")
    if found := _METADATA.search(challenge):
        patient.metadata = found[1]
        yield _well(name, f"401 at {patient.mcp}, see {patient.metadata}")
        return
    split = urlsplit(patient.mcp)
    patient.metadata = f"{split.scheme}://{split.netloc}/.well-known/oauth-protected-resource"
    patient.metadata += split.path
    yield _finding(name, Health.ODD, _without_challenge(answer, challenge))


def _without_challenge(answer: httpx.Response, challenge: str) -> Ill:
    if challenge:
        saw = f"WWW-Authenticate without resource_metadata: {challenge}"
        cause = "Something in front of the vault asks for a password or token of its own."
    elif renamed := [one for one in _RENAMED if one in answer.headers]:
        saw = f"401 without WWW-Authenticate, but with {renamed[0]}"
        cause = "The gateway renames the header."
    else:
        saw, cause = "401 without WWW-Authenticate", "A proxy takes the header away."
    remedy = "Let the header through. Clients that know only the header do not find the sign-in."
    return Ill(saw=saw, cause=cause, remedy=remedy)


def _resource(patient: Patient, name: str) -> Iterator[Finding]:
    """RFC 9728."""
    answer = patient.http.get(patient.metadata)
    expect_status(answer, 200)
    told = json_object(answer)
    if told.get("resource") != patient.mcp:
        raise _another_address("resource", told.get("resource"), patient.mcp)
    servers = told.get("authorization_servers")
    if not isinstance(servers, list) or not servers:
        raise Ill(
            saw="no authorization_servers",
            cause="The document is not the vault's.",
            remedy="Pass /.well-known/oauth-protected-resource on to the vault.",
        )
    patient.issuer = str(cast("list[object]", servers)[0])
    yield _well(name, f"sign-in at {patient.issuer}")


def _another_address(what: str, said: object, expected: str) -> Ill:
    return Ill(
        saw=f"{what} is {said}, but the address is {expected}",
        cause="The vault goes by another name than the one it is called by: PUBLIC_URL is not "
        "set, or differs in scheme, host, port or a slash at the end.",
        remedy="Set PUBLIC_URL to the address that clients use, and start the vault again.",
    )


def _server(patient: Patient, name: str) -> Iterator[Finding]:
    """RFC 8414."""
    split = urlsplit(patient.issuer)
    path = split.path.rstrip("/")
    at = f"{split.scheme}://{split.netloc}/.well-known/oauth-authorization-server{path}"
    answer = patient.http.get(at)
    expect_status(answer, 200)
    patient.server = json_object(answer)
    if patient.server.get("issuer") != patient.issuer:
        raise _another_address("issuer", patient.server.get("issuer"), patient.issuer)
    if "S256" not in str(patient.server.get("code_challenge_methods_supported")):
        raise Ill(
            saw="no S256 among code_challenge_methods_supported",
            cause="Another authorization server answers.",
            remedy="Pass /.well-known/oauth-authorization-server on to the vault.",
        )
    yield _well(name, "registration, approval and tokens at the same server")


def _registers(patient: Patient, name: str) -> Iterator[Finding]:
    """RFC 7591."""
    asked = {
        "client_name": NAME,
        "redirect_uris": [patient.redirect],
        "token_endpoint_auth_method": "none",
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
    }
    answer = patient.http.post(patient.endpoint("registration_endpoint"), json=asked)
    expect_status(answer, 200, 201)
    patient.client_id = str(json_object(answer).get("client_id") or "")
    if not patient.client_id:
        raise Ill(
            saw="a registration without client_id",
            cause="Another authorization server answers.",
            remedy="Pass /register on to the vault.",
        )
    yield _well(name, patient.client_id)


def _is_approved(patient: Patient, name: str) -> Iterator[Finding]:
    digest = hashlib.sha256(patient.verifier.encode()).digest()
    state = secrets.token_urlsafe(16)
    asked = {
        "response_type": "code",
        "client_id": patient.client_id,
        "redirect_uri": patient.redirect,
        "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
        "state": state,
        "scope": "memory:read",
        "resource": patient.mcp,
    }
    came = patient.visit(f"{patient.endpoint('authorization_endpoint')}?{urlencode(asked)}")
    patient.code = _code_in(came, state=state, issuer=patient.issuer)
    yield _well(name, "the owner said yes")


def _code_in(came: Mapping[str, str] | None, *, state: str, issuer: str) -> str:
    if came is None:
        raise Ill(
            saw="the browser did not come back",
            cause="Nobody approved; or the page could not be opened, asked for a sign-in that is "
            "not set up, or may not send the browser to this machine.",
            remedy="Open the address on this machine. What the page says is the reason.",
        )
    if "error" in came:
        denied = came["error"] == "access_denied"
        raise Ill(
            saw=f"{came['error']}: {came.get('error_description', '')}".rstrip(": "),
            cause="The owner denied it." if denied else "The vault refused the request.",
            remedy="Start again and approve." if denied else "Update the vault and this program.",
        )
    if came.get("iss", issuer) != issuer:
        raise _another_address("iss in the answer", came["iss"], issuer)
    if came.get("state") != state or not came.get("code"):
        raise Ill(
            saw="an answer that is not to our question",
            cause="Another page came back, or a proxy takes parameters away.",
            remedy="Close other approval pages and start again.",
        )
    return came["code"]


def _exchanges(patient: Patient, name: str) -> Iterator[Finding]:
    asked = {
        "grant_type": "authorization_code",
        "code": patient.code,
        "code_verifier": patient.verifier,
        "client_id": patient.client_id,
        "redirect_uri": patient.redirect,
        "resource": patient.mcp,
    }
    answer = patient.http.post(patient.endpoint("token_endpoint"), data=asked)
    expect_status(answer, 200)
    told = json_object(answer)
    patient.token = str(told.get("access_token") or "")
    patient.refresh = str(told.get("refresh_token") or "")
    if not patient.token or str(told.get("token_type")).lower() != "bearer":
        raise Ill(
            saw="an answer without a bearer token",
            cause="Another authorization server answers.",
            remedy="Pass /token on to the vault.",
        )
    yield _well(name, f"good for {told.get('expires_in')} s")


def _is_answered(patient: Patient, name: str) -> Iterator[Finding]:
    hello = {
        "protocolVersion": SPOKEN,
        "capabilities": {},
        "clientInfo": {"name": NAME, "version": "1"},
    }
    spoken = _ask(patient, "initialize", hello).get("protocolVersion")
    listed = cast("list[dict[str, object]]", _ask(patient, "tools/list", {}).get("tools") or [])
    tools = {str(tool.get("name")) for tool in listed}
    if not tools >= NEEDED:
        raise Ill(
            saw=f"tools: {', '.join(sorted(tools)) or 'none'}",
            cause="This is not a vault, or reading was not allowed on the approval page.",
            remedy="Start again and leave Read ticked.",
        )
    guide = _ask(patient, "tools/call", {"name": "get_operating_guide", "arguments": {}})
    if guide.get("isError"):
        raise Ill(
            saw="get_operating_guide failed",
            cause="The vault failed.",
            remedy="See the vault's log.",
        )
    yield _well(name, f"protocol {spoken}, {len(tools)} tools, the guide was read")


def _ask(patient: Patient, method: str, params: Mapping[str, object]) -> Mapping[str, object]:
    sent = _call(method, 1, params)
    answer = patient.http.post(patient.mcp, json=sent, headers=_headers(patient.token))
    if answer.status_code == 401:
        raise Ill(
            saw=f"401 at {patient.mcp} with a token that was given just now",
            cause="A proxy takes the Authorization header away, or sign-in and calls reach two "
            "vaults that do not share their data.",
            remedy="Pass Authorization on, and see that one vault answers at this address.",
        )
    expect_status(answer, 200)
    told = json_object(answer)
    result = told.get("result")
    if not isinstance(result, dict):
        raise Ill(
            saw=f"{method}: {told.get('error')}",
            cause="The vault refused the call.",
            remedy="Update the vault and this program.",
        )
    return cast("Mapping[str, object]", result)


def _leaves(patient: Patient, name: str) -> Iterator[Finding]:
    """RFC 7009: nothing stays behind."""
    sent = {"token": patient.refresh or patient.token, "client_id": patient.client_id}
    answer = patient.http.post(patient.endpoint("revocation_endpoint"), data=sent)
    expect_status(answer, 200)
    yield _well(name, "the token was given back")


def _call(method: str, number: int, params: Mapping[str, object] | None = None) -> object:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}


def _headers(token: str = "") -> dict[str, str]:
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": SPOKEN}
    return headers | ({"Authorization": f"Bearer {token}"} if token else {})


type Step = Callable[[Patient, str], Iterator[Finding]]

STEPS: Mapping[str, Step] = {
    "challenge": _asks,
    "resource metadata": _resource,
    "server metadata": _server,
    "registration": _registers,
    "approval": _is_approved,
    "token": _exchanges,
    "first call": _is_answered,
    "revocation": _leaves,
}
