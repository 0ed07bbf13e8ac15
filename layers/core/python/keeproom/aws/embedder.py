"""Embedding models of Amazon Bedrock."""

import json
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import batched
from threading import Lock
from time import monotonic
from typing import Any, Protocol, cast

from botocore.exceptions import (  # pyright: ignore[reportMissingTypeStubs]
    BotoCoreError,
    ClientError,
    ConnectionError,
    HTTPClientError,
    IncompleteReadError,
)

from keeproom.aws.client import client
from keeproom.engines.bedrock_models import BedrockModel, Purpose, bedrock_model
from keeproom.engines.excerpts import encoded, excerpts
from keeproom.engines.pace import Late, Pace
from keeproom.engines.unit_rows import unit_rows
from keeproom.errors import Unavailable
from keeproom.vault.ports import Encoded, EncodedQuery

CALLS = 8  # at once: Bedrock counts requests a minute, and an account's allowance may be small
_LARGEST_ANSWER = 16_000_000  # bytes; 96 vectors of 512 numbers are 1,000,000
_KEPT = 512  # excerpts; a question asked again costs nothing, nor does what an overrun left undone
_DENIED = {"AccessDeniedException", "ResourceNotFoundException"}
_LATER = {
    "InternalServerException",
    "ModelErrorException",
    "ModelNotReadyException",
    "ModelTimeoutException",
    "ServiceQuotaExceededException",
    "ServiceUnavailableException",
    "ThrottlingException",
}
_log = logging.getLogger(__name__)

type _Key = tuple[Purpose, str]


class Client(Protocol):
    """What is used of a boto3 client. It must not try again by itself."""

    @property
    def invoke_model(self) -> Callable[..., Mapping[str, Any]]: ...
    @property
    def close(self) -> Callable[[], None]: ...


def open(model: str, *, endpoint: str | None = None) -> "BedrockEmbedder":
    """`model`: Bedrock's id of it. `endpoint`: another than the region's own. Raises `Invalid` for
    a model that is not known here."""
    known = bedrock_model(model)
    runtime = client("bedrock-runtime", endpoint=endpoint, connect=2, read=5, pool=CALLS)
    return BedrockEmbedder(runtime, known, region=runtime.meta.region_name)


class BedrockEmbedder:
    """An `Embedder` without token bits. Safe for threads; close it when done.

    `deadline`: seconds for one request with all its tries, `query_deadline` for a query, which
    somebody waits for. When Bedrock is overrun, calls come seldom and requests that would have to
    wait too long fail at once. What is told names the model, never a text."""

    def __init__(
        self,
        client: Client,
        model: BedrockModel,
        *,
        region: str = "",
        deadline: float = 10.0,
        query_deadline: float = 3.0,
    ) -> None:
        self._client, self._model, self._region = client, model, region
        self._deadline, self._query_deadline = deadline, query_deadline
        self._pace = Pace(CALLS)
        self._pool = ThreadPoolExecutor(CALLS, thread_name_prefix="bedrock")
        self._kept = _Kept()

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._client.close()

    @property
    def model(self) -> str:
        return self._model.name

    @property
    def dims(self) -> int:
        return self._model.dims

    def passages(self, texts: Sequence[str]) -> list[Encoded]:
        return encoded(
            texts, lambda parts: self._rows(parts, Purpose.MEMORY, seconds=self._deadline)
        )

    def query(self, text: str) -> EncodedQuery:
        """A long query is cut after the first excerpt."""
        purpose = Purpose.QUESTION if self._model.tells_apart else Purpose.MEMORY
        (row,) = self._rows(excerpts(text)[:1], purpose, seconds=self._query_deadline)
        return EncodedQuery(vector=row)

    def _rows(self, texts: Sequence[str], purpose: Purpose, *, seconds: float) -> list[bytes]:
        found = self._kept.get((purpose, text) for text in texts)
        lacking = [text for text in dict.fromkeys(texts) if (purpose, text) not in found]
        until = monotonic() + seconds
        works = [
            self._pool.submit(self._embedded, part, purpose, until)
            for part in batched(lacking, self._model.most, strict=False)
        ]
        for work in self._ended(works, seconds):
            found |= work.result()
        return [found[purpose, text] for text in texts]

    def _ended(self, works: Sequence[Future[Any]], seconds: float) -> Iterator[Future[Any]]:
        """The first to fail first. Nobody waits for a call that is late: its thread ends when the
        connection's patience does. Raises `Unavailable` when not all have ended in time."""
        done, late = wait(works, timeout=seconds, return_when=FIRST_EXCEPTION)
        for work in late:
            work.cancel()
        failed = [work for work in works if work in done and work.exception()]
        if late and not failed:
            raise Unavailable(f"{self._named()} did not answer in time.")
        yield from failed or works

    def _embedded(self, texts: Sequence[str], purpose: Purpose, until: float) -> dict[_Key, bytes]:
        answer = self._answer(json.dumps(self._model.body(texts, purpose)).encode(), until)
        made = {
            (purpose, text): row
            for text, row in zip(texts, self._vectors(answer, len(texts)), strict=True)
        }
        self._kept.put(made)
        return made

    def _answer(self, body: bytes, until: float) -> bytes:
        """Raises `Unavailable` when the deadline passes, or trying again would not help."""
        while True:
            try:
                with self._pace.turn(until):
                    began = monotonic()
                    answer = self._try(body)
            except Late:
                raise Unavailable(f"{self._named()} is overrun or out of reach.") from None
            if answer is None:
                self._pace.held_up(since=began)
                continue
            self._pace.answered()
            return answer

    def _try(self, body: bytes) -> bytes | None:
        """None: later. The texts of the errors are dropped: they may hold what was sent."""
        try:
            told = self._client.invoke_model(
                modelId=self._model.id,
                body=body,
                contentType="application/json",
                accept="application/json",
            )
            answer: bytes = told["body"].read(_LARGEST_ANSWER + 1)
        except ClientError as error:
            self._give_up_unless_later(error)
            return None
        except (ConnectionError, HTTPClientError, IncompleteReadError):
            return None
        except BotoCoreError as error:
            raise Unavailable(
                f"{self._named()} cannot be called: {type(error).__name__}."
            ) from None
        if len(answer) > _LARGEST_ANSWER:
            raise Unavailable(f"The answer of {self._named()} is too large.")
        return answer

    def _give_up_unless_later(self, error: ClientError) -> None:
        response = cast("Mapping[str, Any]", error.response)
        code = str(response["Error"]["Code"])
        if code in _LATER or response["ResponseMetadata"]["HTTPStatusCode"] >= 500:
            return
        _log.warning("the embedding model refuses: %s", code)
        if code in _DENIED:
            raise Unavailable(
                f"{self._named()} may not be used ({code}). In the Bedrock console of this region "
                "allow the model (Cohere's also needs its AWS Marketplace subscription), and let "
                "the function's role call bedrock:InvokeModel on it. Until then recall goes by "
                "words alone; what is written meanwhile is embedded afterwards."
            ) from None
        raise Unavailable(f"{self._named()} refused the request: {code}.") from None

    def _vectors(self, answer: bytes, expected: int) -> Iterable[bytes]:
        try:
            rows: Sequence[Any] = self._model.vectors(json.loads(answer))
            right = len(rows) == expected and all(len(row) == self._model.dims for row in rows)
        except (ValueError, TypeError, LookupError, RecursionError):
            rows, right = (), False
        if not right:
            raise Unavailable(f"{self._named()} did not answer with one vector for each text.")
        return [row.tobytes() for row in unit_rows(rows)]

    def _named(self) -> str:
        return f"Bedrock's model {self._model.id}" + (f" in {self._region}" if self._region else "")


@dataclass(slots=True)
class _Kept:
    """The vectors used last."""

    rows: OrderedDict[_Key, bytes] = field(default_factory=OrderedDict[_Key, bytes])
    lock: Lock = field(default_factory=Lock)

    def get(self, keys: Iterable[_Key]) -> dict[_Key, bytes]:
        with self.lock:
            found = {key: self.rows[key] for key in keys if key in self.rows}
            for key in found:
                self.rows.move_to_end(key)
        return found

    def put(self, made: Mapping[_Key, bytes]) -> None:
        with self.lock:
            self.rows.update(made)
            while len(self.rows) > _KEPT:
                self.rows.popitem(last=False)
