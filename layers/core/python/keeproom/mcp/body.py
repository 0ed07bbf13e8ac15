"""What is sent to the door, read before MCP sees it: one message of a fair size, in JSON."""

import json
import re
from typing import Any, cast

from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Receive, Scope

from keeproom.mcp.asked import whole

LARGEST = 4_500_000  # bytes: what AWS Lambda takes of a body, which reaches it as base64
# A client that is still sending when the connection closes never reads the answer.
DISCARDED = 64_000_000
_JSON = "application/json"
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")  # may be half a character, spelled as JSON


class Unreadable(Exception):
    """`status`: of the answer. The message never repeats what was sent."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


async def read(scope: Scope, receive: Receive) -> tuple[Scope, bytes]:
    """The body, and the request with the headers that MCP is strict about in their plain form.
    Raises `Unreadable`."""
    headers = Headers(scope=scope)
    body = await _body(receive)
    _check_type(headers)
    _check_accept(headers)
    return _plain(scope), _checked(body)


async def discarded(receive: Receive, already: int = 0) -> None:
    """Take what is still being sent, and hold none of it."""
    gone = already
    while gone < DISCARDED:
        message = await receive()
        gone += len(message.get("body", b""))
        if not message.get("more_body"):
            return


async def _body(receive: Receive) -> bytes:
    parts, size = list[bytes](), 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Unreadable(400, "The request ended too early.")
        part = cast("bytes", message.get("body", b""))
        size += len(part)
        if size > LARGEST:
            if message.get("more_body"):
                await discarded(receive, size)
            raise Unreadable(413, f"At most {LARGEST:,} bytes are taken: send it in parts.")
        parts.append(part)
        if not message.get("more_body"):
            return b"".join(parts)


def _check_type(headers: Headers) -> None:
    kind, _, rest = headers.get("content-type", "").lower().partition(";")
    charset = rest.partition("charset=")[2].strip(' "')
    if kind.strip() != _JSON or charset not in ("", "utf-8", "utf8"):
        raise Unreadable(415, "Send Content-Type: application/json, in UTF-8.")


def _check_accept(headers: Headers) -> None:
    """No header takes anything (RFC 9110)."""
    accept = ",".join(headers.getlist("accept")).lower() or "*/*"
    for part in accept.split(","):
        kind, _, weight = part.replace(" ", "").partition(";")
        if kind in (_JSON, "application/*", "*/*") and not re.search(r"(^|;)q=0(\.0*)?$", weight):
            return
    raise Unreadable(406, "Answers are application/json: accept that.")


def _plain(scope: Scope) -> Scope:
    plain: Scope = {**scope, "headers": list(scope["headers"])}
    headers = MutableHeaders(scope=plain)
    headers["content-type"] = _JSON
    headers["accept"] = f"{_JSON}, text/event-stream"
    return plain


def _checked(body: bytes) -> bytes:
    """A message in the form of JSON-RPC, with U+FFFD for each half of a character."""
    try:
        found: object = json.loads(body)
    except (ValueError, RecursionError):
        raise Unreadable(400, "The body is not JSON in UTF-8.") from None
    if isinstance(found, list):
        raise Unreadable(400, "Batches are not taken: send one message at a time.")
    try:
        jsonrpc_message_adapter.validate_python(found, by_name=False)
    except ValidationError:
        raise Unreadable(400, "The body is not a JSON-RPC message.") from None
    return json.dumps(_whole(found)).encode() if _HALF.search(body) else body


def _whole(value: object) -> object:
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, list):
        return [_whole(one) for one in cast("list[object]", value)]
    if isinstance(value, dict):
        held = cast("dict[str, Any]", value)
        return {str(_whole(name)): _whole(one) for name, one in held.items()}
    return value
