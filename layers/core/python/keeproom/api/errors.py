"""What every error looks like from outside: one table of statuses, one form, no text repeated."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Route
from starlette.types import Scope

from keeproom.api import schemas
from keeproom.errors import (
    Conflict,
    Duplicate,
    Invalid,
    NotFound,
    Refused,
    TooLarge,
    Unavailable,
    Unusable,
    VaultError,
)
from keeproom.vault import model

# The status of a kind of error is its own or the nearest one above it.
STATUS: dict[type[VaultError], int] = {
    VaultError: 500,
    Invalid: 400,
    TooLarge: 413,
    NotFound: 404,
    Conflict: 409,
    Refused: 422,
    Duplicate: 409,
    Unavailable: 503,
    Unusable: 500,
}
RETRY_AFTER = "2"  # seconds

_ROUTING = {
    404: ("not_found", "There is nothing at this address."),
    405: ("method_not_allowed", "Not with this method: see the header `Allow`."),
    413: ("too_large", "The body is too large. Send it in parts."),
}  # fmt: skip
_NO_OBJECT = ("missing", "model_attributes_type", "model_type", "dict_type")
_OWN_NAME = re.compile(r"[a-z][a-z_]{0,30}")  # anything else might be a secret in the wrong place
_SURROGATE = re.compile("[\ud800-\udfff]")


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route: these errors by name, any other under `default`."""
    meaning = {
        404: "There is no such thing.",
        409: "It has changed meanwhile (`current` is what is there now), or another memory says "
        "this already (`memory_id`).",
        413: "Too much at once.",
        422: "Understood, and not done: the message says why.",
        503: "A part is busy or down. Nothing was stored; try again after `Retry-After`.",
    }
    told: dict[int | str, dict[str, Any]] = {
        status: {"model": schemas.Problem, "description": meaning[status]} for status in statuses
    }
    told[400] = {"model": schemas.Problem, "description": "The request makes no sense."}
    told[401] = {"model": schemas.Problem, "description": "Sign in, or send a good token."}
    told[403] = {"model": schemas.Problem, "description": "Not for this caller, or this token."}
    told["default"] = {"model": schemas.Problem, "description": "Any other error."}
    return told


def problem(
    status: int,
    *,
    code: str,
    message: str,
    param: str = "",
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """An error of the door's own, as it is sent."""
    fault = schemas.Fault(code=code, message=_sayable(message), param=_sayable(param) or None)
    return _sent(status, fault, headers)


def _sent(status: int, fault: schemas.Fault, headers: Mapping[str, str] | None) -> JSONResponse:
    """Without what this kind of error does not have."""
    body = {"error": {name: part for name, part in _parts(fault) if part is not None}}
    return JSONResponse(body, status_code=status, headers=headers)


def _parts(fault: schemas.Fault) -> Iterable[tuple[str, object]]:
    return fault.model_dump(mode="json").items()


def _sayable(text: str) -> str:
    """Lone surrogates cannot be sent."""
    return _SURROGATE.sub("\ufffd", text)


def status_of(error: VaultError) -> int:
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def answer_of(error: VaultError) -> JSONResponse:
    status = status_of(error)
    headers = {"Retry-After": RETRY_AFTER} if status == 503 else None
    return _sent(status, fault_of(error), headers)


def fault_of(error: VaultError) -> schemas.Fault:
    """What the product raised, as it is told."""
    return schemas.Fault(
        code=error.code,
        message=_sayable(str(error)),
        param=_sayable(error.param) or None,
        memory_id=error.memory_id if isinstance(error, Duplicate) else None,
        current=_current(error) if isinstance(error, Conflict) else None,
    )


def _current(error: Conflict) -> BaseModel | None:
    match error.current:
        case model.Memory() as memory:
            return schemas.Memory.of(memory)
        case model.Settings() as settings:
            return schemas.Settings.of(settings)
        case model.GuideVersion() as version:
            return schemas.GuideVersion.of(version)
        case _:
            return None


def misshapen(faults: Sequence[Mapping[str, Any]]) -> JSONResponse:
    """The first fault of a request that does not have the form asked for."""
    fault = faults[0]
    kind, place = cast("str", fault["type"]), cast("tuple[str | int, ...]", fault["loc"])
    param = _param(place, unknown=kind == "extra_forbidden")
    return problem(400, code=Invalid.code, message=_sentence(kind, fault, param), param=param)


def _sentence(kind: str, fault: Mapping[str, Any], param: str) -> str:
    """Pydantic's own sentences name what is expected, never what came."""
    if kind == "json_invalid" or (kind in _NO_OBJECT and not param):
        return "The body must be a JSON object, sent as `Content-Type: application/json`."
    if kind in ("extra_forbidden", "invalid_key"):
        return "There is no such field here. Leave it out, or check its spelling."
    if kind == "missing":
        return f"`{param}` is missing."
    told = str(fault["msg"]).removeprefix("Value error, ").removesuffix(".")
    return f"{told}."


def _param(place: tuple[str | int, ...], *, unknown: bool) -> str:
    """`items[2].content` for ("body", "items", 2, "content")."""
    inside = [str(part) if isinstance(part, str) else f"[{part}]" for part in place[1:]]
    if unknown and inside and not _OWN_NAME.fullmatch(inside[-1]):
        inside[-1] = "(unknown)"
    return ".".join(inside).replace(".[", "[")


def answer_errors(app: FastAPI, routes: Sequence[BaseRoute]) -> None:
    """Give every error the one form. `routes`: all there are, for what an address allows."""

    @app.exception_handler(VaultError)
    def vault_error(_: Request, error: VaultError) -> JSONResponse:
        return answer_of(error)

    @app.exception_handler(RequestValidationError)
    def invalid_request(_: Request, error: RequestValidationError) -> JSONResponse:
        return misshapen(error.errors())

    @app.exception_handler(ValidationError)
    def invalid_part(_: Request, error: ValidationError) -> JSONResponse:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        return misshapen([{**fault, "loc": ("body", *fault["loc"])} for fault in faults])

    @app.exception_handler(HTTPException)
    def no_route(request: Request, error: HTTPException) -> JSONResponse:
        code, message = _ROUTING.get(
            error.status_code, (Invalid.code, "The body cannot be read: send JSON in UTF-8.")
        )
        allow = {"Allow": _allowed(routes, request.scope)} if error.status_code == 405 else None
        return problem(error.status_code, code=code, message=message, headers=allow)

    _ = (vault_error, invalid_request, invalid_part, no_route)


def _allowed(routes: Sequence[BaseRoute], scope: Scope) -> str:
    """All methods of an address; each route knows only its own."""
    found: set[str] = set()
    for route in routes:
        if isinstance(route, Route) and route.path_regex.match(scope["path"]):
            found |= route.methods or set()
    return ", ".join(sorted(found | ({"HEAD"} if "GET" in found else set())))
