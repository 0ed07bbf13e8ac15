"""Goes the way an app goes, from the address to the first call, and says where it ends."""

import secrets
from collections.abc import Iterator, Mapping
from typing import cast
from urllib.parse import urlencode, urlsplit

import httpx

from keeproom.engines.discovery import asks, finds_resource, finds_server
from keeproom.engines.patient import (
    NAME,
    SPOKEN,
    Finding,
    Health,
    Patient,
    Step,
    another_address,
    finding,
    headers_with,
    rpc,
    well,
)
from keeproom.engines.symptoms import WITHIN, Ill, expect_status, json_object, out_of_reach
from keeproom.oauth.pkce import challenge_of

NEEDED = frozenset({"get_operating_guide", "recall"})


def mcp_address(address: str) -> str:
    """Where agents call, from whatever of it somebody has typed."""
    if "://" not in address:
        scheme = "http" if address.startswith(("localhost", "127.0.0.1", "[::1]")) else "https"
        address = f"{scheme}://{address}"
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
            yield finding(name, Health.ILL, ill)
            return
        except httpx.TransportError as error:
            yield finding(name, Health.ILL, out_of_reach(error, str(error.request.url)))
            return


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
    yield well(name, patient.client_id)


def _is_approved(patient: Patient, name: str) -> Iterator[Finding]:
    state = secrets.token_urlsafe(16)
    asked = {
        "response_type": "code",
        "client_id": patient.client_id,
        "redirect_uri": patient.redirect,
        "code_challenge": challenge_of(patient.verifier),
        "code_challenge_method": "S256",
        "state": state,
        "scope": "memory:read",
        "resource": patient.mcp,
    }
    came = patient.visit(f"{patient.endpoint('authorization_endpoint')}?{urlencode(asked)}")
    patient.code = _code_in(came, state=state, issuer=patient.issuer)
    yield well(name, "the owner said yes")


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
        raise another_address("iss in the answer", came["iss"], issuer)
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
    yield well(name, f"good for {told.get('expires_in')} s")


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
    yield well(name, f"protocol {spoken}, {len(tools)} tools, the guide was read")


def _ask(patient: Patient, method: str, params: Mapping[str, object]) -> Mapping[str, object]:
    sent = rpc(method, 1, params)
    answer = patient.http.post(patient.mcp, json=sent, headers=headers_with(patient.token))
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
    yield well(name, "the token was given back")


STEPS: Mapping[str, Step] = {
    "challenge": asks,
    "resource metadata": finds_resource,
    "server metadata": finds_server,
    "registration": _registers,
    "approval": _is_approved,
    "token": _exchanges,
    "first call": _is_answered,
    "revocation": _leaves,
}
