"""The first steps of an app: turned away at the door, it looks for where to sign in."""

import re
from collections.abc import Iterator
from typing import cast
from urllib.parse import urlsplit

import httpx

from keeproom.engines.patient import (
    Finding,
    Health,
    Patient,
    another_address,
    finding,
    headers_with,
    rpc,
    well,
)
from keeproom.engines.symptoms import Ill, expect_status, json_object

_METADATA = re.compile(r'resource_metadata="([^"]+)"')
_RENAMED = ("x-amzn-remapped-www-authenticate", "x-mcp-challenge")


def asks(patient: Patient, name: str) -> Iterator[Finding]:
    """An unknown caller is turned away, and told where to go."""
    answer = patient.http.post(patient.mcp, json=rpc("tools/list", 1), headers=headers_with())
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
        yield well(name, f"401 at {patient.mcp}, see {patient.metadata}")
        return
    split = urlsplit(patient.mcp)
    patient.metadata = f"{split.scheme}://{split.netloc}/.well-known/oauth-protected-resource"
    patient.metadata += split.path
    yield finding(name, Health.ODD, _without_challenge(answer, challenge))


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


def finds_resource(patient: Patient, name: str) -> Iterator[Finding]:
    """RFC 9728."""
    answer = patient.http.get(patient.metadata)
    expect_status(answer, 200)
    told = json_object(answer)
    if told.get("resource") != patient.mcp:
        raise another_address("resource", told.get("resource"), patient.mcp)
    servers = told.get("authorization_servers")
    if not isinstance(servers, list) or not servers:
        raise Ill(
            saw="no authorization_servers",
            cause="The document is not the vault's.",
            remedy="Pass /.well-known/oauth-protected-resource on to the vault.",
        )
    patient.issuer = str(cast("list[object]", servers)[0])
    yield well(name, f"sign-in at {patient.issuer}")


def finds_server(patient: Patient, name: str) -> Iterator[Finding]:
    """RFC 8414."""
    split = urlsplit(patient.issuer)
    path = split.path.rstrip("/")
    at = f"{split.scheme}://{split.netloc}/.well-known/oauth-authorization-server{path}"
    answer = patient.http.get(at)
    expect_status(answer, 200)
    patient.server = json_object(answer)
    if patient.server.get("issuer") != patient.issuer:
        raise another_address("issuer", patient.server.get("issuer"), patient.issuer)
    if "S256" not in str(patient.server.get("code_challenge_methods_supported")):
        raise Ill(
            saw="no S256 among code_challenge_methods_supported",
            cause="Another authorization server answers.",
            remedy="Pass /.well-known/oauth-authorization-server on to the vault.",
        )
    yield well(name, "registration, approval and tokens at the same server")
