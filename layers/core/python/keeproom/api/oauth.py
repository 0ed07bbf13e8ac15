"""`/token`, `/register`, `/revoke` and the documents that lead to them, in the RFCs' own shapes."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import cast
from urllib.parse import parse_qsl

from fastapi import Request
from fastapi.responses import JSONResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.routing import Route

from keeproom.errors import VaultError
from keeproom.oauth import metadata
from keeproom.oauth.authenticate import authenticate
from keeproom.oauth.authorization import Authorization
from keeproom.oauth.errors import (
    InvalidClient,
    InvalidClientMetadata,
    InvalidRequest,
    OAuthError,
    TooMany,
)
from keeproom.oauth.grant_tokens import grant_tokens
from keeproom.oauth.model import SCOPES
from keeproom.oauth.parameters import Parameters, read_parameters
from keeproom.oauth.register import Registered, register
from keeproom.oauth.revoke import revoke

LARGEST = 64_000  # bytes of a form or a registration
_FORM = "application/x-www-form-urlencoded"

RESOURCE = "/.well-known/oauth-protected-resource"
SERVER = "/.well-known/oauth-authorization-server"
_DOCUMENTS = {
    RESOURCE: metadata.protected_resource,
    f"{RESOURCE}/mcp": metadata.protected_resource,
    SERVER: metadata.authorization_server,
    f"{SERVER}/mcp": metadata.authorization_server,
    "/.well-known/openid-configuration": metadata.authorization_server,
}
FOR_PAGES = frozenset({*_DOCUMENTS, "/token", "/register", "/revoke"})  # of any site

type _Endpoint = Callable[[Request], Awaitable[Response]]


def authorization(request: Request) -> Authorization:
    return cast("Authorization", request.app.state.authorization)


def _answering(endpoint: _Endpoint) -> _Endpoint:
    """With every error as RFC 6749 (5.2) says it."""

    async def answered(request: Request) -> Response:
        try:
            return await endpoint(request)
        except OAuthError as error:
            return _refused(error, basic="authorization" in request.headers)
        except VaultError:
            return _json(
                {"error": "temporarily_unavailable", "error_description": "Try again shortly."},
                503,
                {"Retry-After": "2"},
            )

    return answered


def _refused(error: OAuthError, *, basic: bool) -> Response:
    status, headers = 400, dict[str, str]()
    match error:
        case InvalidClient():
            status = 401
            headers = {"WWW-Authenticate": 'Basic realm="keeproom"'} if basic else {}
        case TooMany():
            status, headers = 429, {"Retry-After": str(error.retry_after)}
        case _:
            pass
    return _json({"error": error.code, "error_description": str(error)}, status, headers)


def _json(
    content: Mapping[str, object], status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    return JSONResponse(content, status, {**(headers or {}), "Pragma": "no-cache"})


async def _body(request: Request) -> str:
    body = await request.body()
    if len(body) > LARGEST:
        raise InvalidRequest("The body is too large.")
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise InvalidRequest("The body must be UTF-8.") from None


async def read_form(request: Request) -> Parameters:
    """Raises `InvalidRequest` for anything but a form."""
    kind = request.headers.get("content-type", _FORM).partition(";")[0].strip().lower()
    if kind != _FORM:
        raise InvalidRequest(f"Send the parameters as {_FORM}.")
    body = await _body(request)
    try:
        return read_parameters(parse_qsl(body, keep_blank_values=True, max_num_fields=50))
    except ValueError:
        raise InvalidRequest("The form cannot be read.") from None


async def _token(request: Request) -> Response:
    asked, header = await read_form(request), request.headers.get("authorization", "")
    address = request.client.host if request.client else ""
    issued = await run_in_threadpool(
        lambda: grant_tokens(authorization(request), header, asked, address=address)
    )
    return _json(
        {
            "access_token": issued.access,
            "token_type": "Bearer",
            "expires_in": issued.expires_in,
            "refresh_token": issued.refresh,
            "scope": issued.scope,
        }
    )


async def _register(request: Request) -> Response:
    body = await _body(request)
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise InvalidClientMetadata("The body must be a JSON object.")
    address = request.client.host if request.client else ""
    told = cast("dict[str, object]", content)
    made = await run_in_threadpool(lambda: register(authorization(request), told, address=address))
    return _json(_registration(made), 201)


def _registration(made: Registered) -> Mapping[str, object]:
    client = made.client
    told: dict[str, object] = {
        "client_id": client.id,
        "client_id_issued_at": int(client.created.timestamp()),
        "client_name": client.name,
        "redirect_uris": list(client.redirect_uris),
        "token_endpoint_auth_method": client.auth_method,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "scope": " ".join(SCOPES),
    }
    if made.secret:
        told |= {"client_secret": made.secret, "client_secret_expires_at": 0}
    return told


async def _revoke(request: Request) -> Response:
    asked, header = await read_form(request), request.headers.get("authorization", "")

    def give_back() -> None:
        auth = authorization(request)
        revoke(auth, authenticate(auth, header, asked), asked.needed("token"))

    await run_in_threadpool(give_back)
    return Response(status_code=200)


async def _document(request: Request) -> Response:
    told = _DOCUMENTS[request.url.path](authorization(request))
    return JSONResponse(dict(told), headers={"Cache-Control": "no-store"})


ROUTES = [
    *(Route(path, _document, methods=["GET"]) for path in _DOCUMENTS),
    Route("/token", _answering(_token), methods=["POST"]),
    Route("/register", _answering(_register), methods=["POST"]),
    Route("/revoke", _answering(_revoke), methods=["POST"]),
]
