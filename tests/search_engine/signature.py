"""Whether a call is signed as the service wants it: AWS Signature Version 4 over the body too."""

import hashlib
import hmac
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import quote, unquote

from starlette.requests import Request

SECRET = "test"
_SHAPE = re.compile(
    r"AWS4-HMAC-SHA256 Credential=[\w.-]+/(?P<day>\d{8})/(?P<region>[a-z0-9-]+)/aoss/aws4_request,"
    r" ?SignedHeaders=(?P<signed>[a-z0-9;-]+), ?Signature=(?P<signature>[0-9a-f]{64})"
)
_MUST = {"host", "x-amz-date", "x-amz-content-sha256"}
_SKEW = timedelta(minutes=5)


def is_genuine(request: Request, body: bytes, *, secret: str = SECRET) -> bool:
    """Whether it is signed with that secret; with any, if that is empty. A compressed body never
    is: what was hashed is not what arrives."""
    found = _SHAPE.fullmatch(request.headers.get("authorization", ""))
    hashed = hashlib.sha256(body).hexdigest()
    if found is None or request.headers.get("x-amz-content-sha256") != hashed:
        return False
    if not set(found["signed"].split(";")) >= _MUST or "content-encoding" in request.headers:
        return False
    if not _is_recent(request.headers.get("x-amz-date", ""), day=found["day"]):
        return False
    return not secret or hmac.compare_digest(found["signature"], _expected(request, found, secret))


def _is_recent(when: str, *, day: str) -> bool:
    try:
        moment = datetime.strptime(when, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        return False
    return when.startswith(day) and abs(datetime.now(UTC) - moment) < _SKEW


def _expected(request: Request, found: "re.Match[str]", secret: str) -> str:
    path: bytes = request.scope["raw_path"]
    names = found["signed"].split(";")
    canonical = (
        request.method,
        quote(path.decode(), safe="/~"),
        "&".join(sorted(_parameters(request.url.query))),
        "".join(f"{one}:{' '.join(request.headers.get(one, '').split())}\n" for one in names),
        found["signed"],
        request.headers["x-amz-content-sha256"],
    )
    scope = (found["day"], found["region"], "aoss", "aws4_request")
    text = "\n".join(
        (
            "AWS4-HMAC-SHA256",
            request.headers["x-amz-date"],
            "/".join(scope),
            hashlib.sha256("\n".join(canonical).encode()).hexdigest(),
        )
    )
    key = f"AWS4{secret}".encode()
    for part in (*scope, text):
        key = hmac.digest(key, part.encode(), "sha256")
    return key.hex()


def _parameters(query: str) -> Iterator[str]:
    for pair in filter(None, query.split("&")):
        name, _, value = pair.partition("=")
        yield f"{quote(unquote(name), safe='~')}={quote(unquote(value), safe='~')}"
