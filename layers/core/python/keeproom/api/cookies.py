"""What the owner's browser holds. Over https the names begin with `__Host-`: no other host can set
them, and no other reads them."""

import base64
import binascii
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import cast

from starlette.requests import HTTPConnection
from starlette.responses import Response

from keeproom.oauth.authorization import Authorization
from keeproom.oauth.model import SIGN_IN, hashed
from keeproom.oauth.sessions import LONGEST
from keeproom.oauth.sign_in import Attempt

LONGEST_BACK = 2_000  # characters: what all cookies have is 10 kB, on AWS with all other headers
_MOST_ATTEMPTS = 3  # tabs that may be signing in at once
_SECRET = re.compile(r"[A-Za-z0-9_-]{43}")
_ATTEMPT = re.compile(
    r"([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{64})\.(\d{1,12})\.([A-Za-z0-9_=-]*)"
)


def is_secure(request: HTTPConnection) -> bool:
    """Whether the vault is reached by https, whatever a proxy has made of that."""
    return cast("Authorization", request.app.state.authorization).issuer.startswith("https:")


def _name(request: HTTPConnection, what: str) -> str:
    return f"__Host-keeproom{what}" if is_secure(request) else f"keeproom{what}"


def _secret(request: HTTPConnection, what: str) -> str:
    held = request.cookies.get(_name(request, what), "")
    return held if _SECRET.fullmatch(held) else ""


def _set(request: HTTPConnection, answer: Response, what: str, value: str, *, lasts: int) -> None:
    answer.set_cookie(
        _name(request, what),
        value,
        max_age=lasts or None,
        httponly=True,
        samesite="lax",
        secure=is_secure(request),
        path="/",
    )


def _drop(request: HTTPConnection, answer: Response, name: str) -> None:
    answer.delete_cookie(name, httponly=True, samesite="lax", secure=is_secure(request), path="/")


def session(request: HTTPConnection) -> str:
    """The secret of the session, empty when there is none."""
    return _secret(request, "")


def set_session(request: HTTPConnection, answer: Response, secret: str) -> None:
    _set(request, answer, "", secret, lasts=int(LONGEST.total_seconds()))


def drop_session(request: HTTPConnection, answer: Response) -> None:
    _drop(request, answer, _name(request, ""))


def browser(request: HTTPConnection) -> str:
    """What only this browser holds; empty when it holds nothing of ours."""
    return _secret(request, "-browser")


def set_browser(request: HTTPConnection, answer: Response, secret: str) -> None:
    _set(request, answer, "-browser", secret, lasts=0)


def attempt(request: HTTPConnection, state: str) -> Attempt | None:
    """The sign-in that this browser has begun under this state, and only this browser."""
    held = request.cookies.get(_name(request, _of(state)), "")
    parts = _ATTEMPT.fullmatch(held)
    if parts is None or parts[1] != state:
        return None
    try:
        back = base64.urlsafe_b64decode(parts[5]).decode()
        begun = datetime.fromtimestamp(int(parts[4]), UTC)
    except (binascii.Error, ValueError, OverflowError, OSError):
        return None
    return Attempt(state=parts[1], nonce=parts[2], verifier=parts[3], begun=begun, back=back)


def set_attempt(request: HTTPConnection, answer: Response, begun: Attempt) -> None:
    """Beside those of other tabs; the oldest give way."""
    for name in list(_attempts(request))[: 1 - _MOST_ATTEMPTS]:
        _drop(request, answer, name)
    back = base64.urlsafe_b64encode(begun.back.encode()).decode()
    at = int(begun.begun.timestamp())
    value = f"{begun.state}.{begun.nonce}.{begun.verifier}.{at}.{back}"
    lasts = int(SIGN_IN.total_seconds())
    _set(request, answer, _of(begun.state), value, lasts=lasts)


def drop_attempt(request: HTTPConnection, answer: Response, state: str) -> None:
    _drop(request, answer, _name(request, _of(state)))


def _of(state: str) -> str:
    return f"-signin-{hashed(state)[:16]}"


def _attempts(request: HTTPConnection) -> Iterator[str]:
    prefix = _name(request, "-signin-")
    return (name for name in request.cookies if name.startswith(prefix))
