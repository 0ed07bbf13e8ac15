"""An error of a door's own, in the form that all errors have."""

import re
from collections.abc import Mapping

from starlette.responses import JSONResponse

_SURROGATE = re.compile("[\ud800-\udfff]")


def problem(
    status: int,
    *,
    code: str,
    message: str,
    param: str = "",
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    error = {"code": code, "message": sayable(message)}
    if param:
        error["param"] = sayable(param)
    return JSONResponse({"error": error}, status_code=status, headers=headers)


def sayable(text: str) -> str:
    """Lone surrogates cannot be sent."""
    return _SURROGATE.sub("\ufffd", text)
