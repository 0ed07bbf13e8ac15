"""The search index in an OpenSearch Serverless collection."""

import hashlib
from typing import Any, cast
from urllib.parse import urlsplit

import boto3  # pyright: ignore[reportMissingTypeStubs]
from botocore.auth import SigV4Auth  # pyright: ignore[reportMissingTypeStubs]
from botocore.awsrequest import AWSRequest  # pyright: ignore[reportMissingTypeStubs]
from botocore.exceptions import (  # pyright: ignore[reportMissingTypeStubs]
    ConnectionClosedError,
    ConnectionError,
    HTTPClientError,
)
from botocore.httpsession import URLLib3Session  # pyright: ignore[reportMissingTypeStubs]

from keeproom.engines.loopback import is_loopback
from keeproom.engines.memory_index import InProcessIndex
from keeproom.engines.opensearch.calls import Answer, Send
from keeproom.engines.opensearch.collection import Collection
from keeproom.engines.opensearch.index import CollectionIndex
from keeproom.engines.snapshot import BlobSnapshots
from keeproom.errors import Invalid, Unavailable
from keeproom.vault.blobs import Blobs

CONNECT, READ = 1.0, 1.5  # seconds; together the deadline of a search
PATIENT = 20.0  # seconds for an answer, where nobody waits for ours: a collection wakes in 10 to 30
_LATE = "The search service did not answer in time."


def open(
    endpoint: str,
    blobs: Blobs,
    name: str,
    *,
    vault: str,
    model: str,
    dims: int,
    instead: str = "",
    read: float = READ,
) -> CollectionIndex:
    """The index of that vault and model in the collection at `endpoint`, and what was last saved
    under that name as the copy in the process. Nothing is sent yet. `instead`: an address of this
    machine that stands in for the collection. `read`: seconds to wait for an answer, more where
    nobody waits for ours. Raises `Invalid` for a plain or a foreign address."""
    if instead and not is_loopback(instead):
        raise Invalid("Only this machine may stand in for the collection.", param="instead")
    send = signed(instead or endpoint, region=region_of(endpoint), read=read)
    shared = Collection(send, vault=vault, model=model, dims=dims)
    here = InProcessIndex.open(model, dims, snapshots=BlobSnapshots(blobs, name))
    return CollectionIndex(here, shared)


def signed(
    endpoint: str,
    *,
    region: str = "",
    session: Any = None,  # noqa: ANN401  boto3 has no types
    connect: float = CONNECT,
    read: float = READ,
) -> Send:
    """Calls of the collection there, signed for its service with the session's credentials.
    Nothing is compressed: what is hashed must be what arrives. Raises `Invalid` for an address
    without TLS off this machine, or without a region."""
    parts = urlsplit(endpoint)
    if parts.scheme != "https" and not is_loopback(endpoint):
        raise Invalid("The collection's address must begin with https.", param="endpoint")
    session = session or boto3.Session()
    place = region or region_of(endpoint) or cast("str | None", session.region_name)
    if not place:
        raise Invalid("Set AWS_REGION: the collection's address names none.", param="endpoint")
    http = URLLib3Session(timeout=(connect, read), max_pool_connections=16)
    base = f"{parts.scheme}://{parts.netloc}"

    def send(method: str, path: str, body: bytes = b"", *, repeatable: bool) -> Answer:
        request = AWSRequest(method, f"{base}{path}", _headers(path, body), body)
        credentials = session.get_credentials()
        if credentials is None:
            raise Unavailable("There are no credentials for the search service.")
        signer = cast("Any", SigV4Auth(credentials.get_frozen_credentials(), "aoss", place))
        signer.add_auth(request)
        return _answered(http, request, again=repeatable)

    return send


def _headers(path: str, body: bytes) -> dict[str, str]:
    lines = path.partition("?")[0].endswith(("/_bulk", "/_msearch"))
    return {
        "Content-Type": "application/x-ndjson" if lines else "application/json",
        "X-Amz-Content-SHA256": hashlib.sha256(body).hexdigest(),
    }


def _answered(http: URLLib3Session, request: AWSRequest, *, again: bool) -> Answer:
    """A connection that was kept too long is found closed: then the call is made once more, if it
    may be."""
    try:
        told = cast("Any", http).send(request.prepare())
        return Answer(int(told.status_code), bytes(told.content))
    except ConnectionClosedError as error:
        if not again:
            raise Unavailable(_LATE) from error
        return _answered(http, request, again=False)
    except (ConnectionError, HTTPClientError) as error:
        raise Unavailable(_LATE) from error


def region_of(endpoint: str) -> str:
    """`<id>.aoss.<region>.on.aws` or `<id>.<region>.aoss.amazonaws.com`; else empty."""
    match (urlsplit(endpoint).hostname or "").split("."):
        case [_, "aoss", region, "on", "aws"] | [_, region, "aoss", "amazonaws", "com"]:
            return region
        case _:
            return ""
