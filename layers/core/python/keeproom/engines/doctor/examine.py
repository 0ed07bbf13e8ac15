"""The way an app goes, from the address to the first call, and where it ends."""

import secrets
from collections.abc import Iterator, Mapping
from typing import cast
from urllib.parse import urlencode, urlsplit

import httpx

from keeproom.engines.doctor.discovery import asks, finds_resource, finds_server
from keeproom.engines.doctor.failures import (
    WITHIN,
    Failure,
    expect_status,
    json_object,
    out_of_reach,
)
from keeproom.engines.doctor.target import (
    NAME,
    SPOKEN,
    Finding,
    Step,
    Target,
    another_address,
    failed,
    headers_with,
    passed,
    rpc,
)
from keeproom.engines.loopback import is_loopback
from keeproom.oauth.pkce import challenge_of

NEEDED = frozenset({"get_operating_guide", "recall"})


def mcp_address(address: str) -> str:
    """Where agents call, from whatever of it somebody has typed."""
    if "://" not in address:
        here = is_loopback(f"//{address}")
        address = f"{'http' if here else 'https'}://{address}"
    address = address.rstrip("/")
    return address if urlsplit(address).path else f"{address}/mcp"


def http_client(transport: httpx.BaseTransport | None = None) -> httpx.Client:
    """As careful as clients are: no redirects, and not much patience."""
    return httpx.Client(timeout=WITHIN, transport=transport, headers={"User-Agent": NAME})


def examine(target: Target) -> Iterator[Finding]:
    """One finding a step, up to the first at which nobody could go on."""
    for name, step in STEPS.items():
        try:
            yield from step(target, name)
        except Failure as failure:
            yield failed(name, failure)
            return
        except httpx.TransportError as error:
            yield failed(name, out_of_reach(error, str(error.request.url)))
            return


def _registers(target: Target, name: str) -> Iterator[Finding]:
    """RFC 7591."""
    asked = {
        "client_name": NAME,
        "redirect_uris": [target.redirect],
        "token_endpoint_auth_method": "none",
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
    }
    answer = target.http.post(target.endpoint("registration_endpoint"), json=asked)
    expect_status(answer, 200, 201)
    target.client_id = str(json_object(answer).get("client_id") or "")
    if not target.client_id:
        raise Failure(
            saw="a registration without client_id",
            cause="Another authorization server answers.",
            remedy="Pass /register on to the vault.",
        )
    yield passed(name, target.client_id)


def _is_approved(target: Target, name: str) -> Iterator[Finding]:
    state = secrets.token_urlsafe(16)
    asked = {
        "response_type": "code",
        "client_id": target.client_id,
        "redirect_uri": target.redirect,
        "code_challenge": challenge_of(target.verifier),
        "code_challenge_method": "S256",
        "state": state,
        "scope": "memory:read",
        "resource": target.mcp,
    }
    came = target.visit(f"{target.endpoint('authorization_endpoint')}?{urlencode(asked)}")
    target.code = _code_in(came, state=state, issuer=target.issuer)
    yield passed(name, "the owner said yes")


def _code_in(came: Mapping[str, str] | None, *, state: str, issuer: str) -> str:
    if came is None:
        raise Failure(
            saw="the browser did not come back",
            cause="Nobody approved; or the page could not be opened, asked for a sign-in that is "
            "not set up, or may not send the browser to this machine.",
            remedy="Open the address on this machine. What the page says is the reason.",
        )
    if "error" in came:
        denied = came["error"] == "access_denied"
        raise Failure(
            saw=f"{came['error']}: {came.get('error_description', '')}".rstrip(": "),
            cause="The owner denied it." if denied else "The vault refused the request.",
            remedy="Start again and approve." if denied else "Update the vault and this program.",
        )
    if came.get("iss", issuer) != issuer:
        raise another_address("iss in the answer", came["iss"], issuer)
    if came.get("state") != state or not came.get("code"):
        raise Failure(
            saw="an answer that is not to our question",
            cause="Another page came back, or a proxy takes parameters away.",
            remedy="Close other approval pages and start again.",
        )
    return came["code"]


def _exchanges(target: Target, name: str) -> Iterator[Finding]:
    asked = {
        "grant_type": "authorization_code",
        "code": target.code,
        "code_verifier": target.verifier,
        "client_id": target.client_id,
        "redirect_uri": target.redirect,
        "resource": target.mcp,
    }
    answer = target.http.post(target.endpoint("token_endpoint"), data=asked)
    expect_status(answer, 200)
    told = json_object(answer)
    target.token = str(told.get("access_token") or "")
    target.refresh = str(told.get("refresh_token") or "")
    if not target.token or str(told.get("token_type")).lower() != "bearer":
        raise Failure(
            saw="an answer without a bearer token",
            cause="Another authorization server answers.",
            remedy="Pass /token on to the vault.",
        )
    yield passed(name, f"good for {told.get('expires_in')} s")


def _is_answered(target: Target, name: str) -> Iterator[Finding]:
    hello = {
        "protocolVersion": SPOKEN,
        "capabilities": {},
        "clientInfo": {"name": NAME, "version": "1"},
    }
    spoken = _ask(target, "initialize", hello).get("protocolVersion")
    listed = cast("list[dict[str, object]]", _ask(target, "tools/list", {}).get("tools") or [])
    tools = {str(tool.get("name")) for tool in listed}
    if not tools >= NEEDED:
        raise Failure(
            saw=f"tools: {', '.join(sorted(tools)) or 'none'}",
            cause="This is not a vault, or reading was not allowed on the approval page.",
            remedy="Start again and leave Read ticked.",
        )
    guide = _ask(target, "tools/call", {"name": "get_operating_guide", "arguments": {}})
    if guide.get("isError"):
        raise Failure(
            saw="get_operating_guide failed",
            cause="The vault failed.",
            remedy="See the vault's log.",
        )
    yield passed(name, f"protocol {spoken}, {len(tools)} tools, the guide was read")


def _ask(target: Target, method: str, params: Mapping[str, object]) -> Mapping[str, object]:
    sent = rpc(method, 1, params)
    answer = target.http.post(target.mcp, json=sent, headers=headers_with(target.token))
    if answer.status_code == 401:
        raise Failure(
            saw=f"401 at {target.mcp} with a token that was given just now",
            cause="A proxy takes the Authorization header away, or sign-in and calls reach two "
            "vaults that do not share their data.",
            remedy="Pass Authorization on, and see that one vault answers at this address.",
        )
    expect_status(answer, 200)
    told = json_object(answer)
    result = told.get("result")
    if not isinstance(result, dict):
        raise Failure(
            saw=f"{method}: {told.get('error')}",
            cause="The vault refused the call.",
            remedy="Update the vault and this program.",
        )
    return cast("Mapping[str, object]", result)


def _leaves(target: Target, name: str) -> Iterator[Finding]:
    """RFC 7009: nothing stays behind."""
    sent = {"token": target.refresh or target.token, "client_id": target.client_id}
    answer = target.http.post(target.endpoint("revocation_endpoint"), data=sent)
    expect_status(answer, 200)
    yield passed(name, "the token was given back")


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
