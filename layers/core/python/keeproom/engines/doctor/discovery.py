"""The first steps of an app: turned away at the door, it looks for where to sign in."""

import re
from collections.abc import Iterator
from typing import cast
from urllib.parse import urlsplit

import httpx

from keeproom.engines.doctor.failures import Failure, expect_status, json_object
from keeproom.engines.doctor.target import (
    Finding,
    Health,
    Target,
    another_address,
    failed,
    headers_with,
    passed,
    rpc,
)

_METADATA = re.compile(r'resource_metadata="([^"]+)"')
_RENAMED = ("x-amzn-remapped-www-authenticate", "x-mcp-challenge")


def asks(target: Target, name: str) -> Iterator[Finding]:
    """An unknown caller is turned away, and told where to go."""
    answer = target.http.post(target.mcp, json=rpc("tools/list", 1), headers=headers_with())
    if answer.is_success:
        raise Failure(
            saw=f"{answer.status_code} without a token",
            cause="This is not a vault, or something in front of it adds a token.",
            remedy="Take what adds the token away at once: anybody can use the vault.",
        )
    expect_status(answer, 401)
    challenge = answer.headers.get("www-authenticate", "")
    if found := _METADATA.search(challenge):
        target.metadata = found[1]
        yield passed(name, f"401 at {target.mcp}, see {target.metadata}")
        return
    split = urlsplit(target.mcp)
    target.metadata = f"{split.scheme}://{split.netloc}/.well-known/oauth-protected-resource"
    target.metadata += split.path
    yield failed(name, _without_challenge(answer, challenge), health=Health.ODD)


def _without_challenge(answer: httpx.Response, challenge: str) -> Failure:
    if challenge:
        saw = f"WWW-Authenticate without resource_metadata: {challenge}"
        cause = "Something in front of the vault asks for a password or token of its own."
    elif renamed := [one for one in _RENAMED if one in answer.headers]:
        saw = f"401 without WWW-Authenticate, but with {renamed[0]}"
        cause = "The gateway renames the header."
    else:
        saw, cause = "401 without WWW-Authenticate", "A proxy takes the header away."
    remedy = "Let the header through. Clients that know only the header do not find the sign-in."
    return Failure(saw=saw, cause=cause, remedy=remedy)


def finds_resource(target: Target, name: str) -> Iterator[Finding]:
    """RFC 9728."""
    answer = target.http.get(target.metadata)
    expect_status(answer, 200)
    told = json_object(answer)
    if told.get("resource") != target.mcp:
        raise another_address("resource", told.get("resource"), target.mcp)
    servers = told.get("authorization_servers")
    if not isinstance(servers, list) or not servers:
        raise Failure(
            saw="no authorization_servers",
            cause="The document is not the vault's.",
            remedy="Pass /.well-known/oauth-protected-resource on to the vault.",
        )
    target.issuer = str(cast("list[object]", servers)[0])
    yield passed(name, f"sign-in at {target.issuer}")


def finds_server(target: Target, name: str) -> Iterator[Finding]:
    """RFC 8414."""
    split = urlsplit(target.issuer)
    path = split.path.rstrip("/")
    at = f"{split.scheme}://{split.netloc}/.well-known/oauth-authorization-server{path}"
    answer = target.http.get(at)
    expect_status(answer, 200)
    target.server = json_object(answer)
    if target.server.get("issuer") != target.issuer:
        raise another_address("issuer", target.server.get("issuer"), target.issuer)
    if "S256" not in str(target.server.get("code_challenge_methods_supported")):
        raise Failure(
            saw="no S256 among code_challenge_methods_supported",
            cause="Another authorization server answers.",
            remedy="Pass /.well-known/oauth-authorization-server on to the vault.",
        )
    yield passed(name, "registration, approval and tokens at the same server")
