"""Blobs as objects in one S3 bucket."""

from collections.abc import Callable, Iterable
from typing import Any, Protocol, cast

from botocore.exceptions import (  # pyright: ignore[reportMissingTypeStubs]
    ClientError,
    ConnectionError,
    HTTPClientError,
    IncompleteReadError,
)

from keeproom.aws.client import client
from keeproom.errors import Contended, Unavailable
from keeproom.vault.blobs import Blob

_ABSENT = {"NoSuchKey", "404"}
_OTHER_THERE = {"PreconditionFailed", "ConditionalRequestConflict", "412", "409", *_ABSENT}
_DOWN = (ConnectionError, HTTPClientError, IncompleteReadError)


class Client(Protocol):
    """The calls of a boto3 client that are used."""

    @property
    def get_object(self) -> Callable[..., Any]: ...
    @property
    def put_object(self) -> Callable[..., Any]: ...


def open(bucket: str, *, endpoint: str | None = None) -> "S3Blobs":
    """The blobs in that bucket, which must exist. `endpoint`: another than the region's own."""
    return S3Blobs(client("s3", endpoint=endpoint, read=30, attempts=3), bucket)


class S3Blobs:
    """S3 writes an object as a whole or not at all. Safe for threads."""

    def __init__(self, client: Client, bucket: str) -> None:
        self._client, self._bucket = client, bucket

    def read(self, name: str) -> Blob | None:
        try:
            found = self._client.get_object(Bucket=self._bucket, Key=name)
            return Blob(data=found["Body"].read(), tag=str(found["ETag"]))
        except ClientError as error:
            if _code(error) in _ABSENT:
                return None
            raise Unavailable("The bucket did not give the object.") from error
        except _DOWN as error:
            raise Unavailable("The bucket did not answer.") from error

    def write(self, name: str, parts: Iterable[bytes], *, over: str) -> str:
        condition = {"IfMatch": over} if over else {"IfNoneMatch": "*"}
        try:
            told = self._client.put_object(
                Bucket=self._bucket, Key=name, Body=b"".join(parts), **condition
            )
        except ClientError as error:
            if _code(error) in _OTHER_THERE:
                raise Contended from error
            raise Unavailable("The bucket did not take the object.") from error
        except _DOWN as error:
            raise Unavailable("The bucket did not answer.") from error
        return str(told["ETag"])


def _code(error: ClientError) -> str:
    return str(cast("dict[str, Any]", error.response)["Error"]["Code"])
