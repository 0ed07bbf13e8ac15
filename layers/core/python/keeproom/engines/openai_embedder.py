"""An embedding model behind any endpoint that speaks OpenAI's `POST /embeddings`."""

import json
import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import batched, count
from typing import Any, Self

import httpx
import numpy as np
import numpy.typing as npt

from keeproom.engines.excerpts import encoded, excerpts
from keeproom.engines.unit_rows import unit_rows
from keeproom.errors import Invalid, Unavailable
from keeproom.vault.ports import Encoded, EncodedQuery

type Floats = npt.NDArray[np.float32]

_KEY = re.compile(r"[\x21-\x7e]*")
_LARGEST_ANSWER = 32_000_000  # bytes; 64 vectors of 3,072 numbers are 5,000,000
_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 4.0  # seconds
_BUSY = frozenset({408, 425, 429})


@dataclass(frozen=True, slots=True)
class _Later:
    """No answer yet. `pause`: the seconds the endpoint asked for, if it did."""

    why: str
    pause: float | None = None


class EndpointEmbedder:
    """An `Embedder` without token bits. Safe for threads; close it when done.

    `dims`: the length of the model's vectors; others are refused. `deadline`: seconds for one
    request with all its tries, `query_deadline` for a query, which somebody waits for; an answer
    that stalls half-way may take as long again. Proxies and credentials are not looked for in the
    environment."""

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        key: str,
        dims: int,
        batch: int = 64,
        deadline: float = 10.0,
        query_deadline: float = 3.0,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Raises `Invalid` for an address or a key that cannot be one."""
        if not _KEY.fullmatch(key):
            raise Invalid("An API key is printable ASCII without spaces.", param="key")
        self._url = _endpoint(base_url)
        self._name = model
        self._dims = dims
        self._batch = batch
        self._deadline, self._query_deadline = deadline, query_deadline
        self._clock, self._wait, self._jitter = clock, wait, jitter
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.Client(headers=headers, trust_env=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._client.close()

    @property
    def model(self) -> str:
        return f"{self._name}@{self._dims}"

    @property
    def dims(self) -> int:
        return self._dims

    def passages(self, texts: Sequence[str]) -> list[Encoded]:
        """The deadline is that of each batch."""
        return encoded(texts, self._vectors)

    def query(self, text: str) -> EncodedQuery:
        """A long query is cut after the first excerpt."""
        (row,) = self._embedded(excerpts(text)[:1], seconds=self._query_deadline)
        return EncodedQuery(vector=row.tobytes())

    def _vectors(self, parts: Sequence[str]) -> Iterator[bytes]:
        for some in batched(parts, self._batch):
            yield from (row.tobytes() for row in self._embedded(some, seconds=self._deadline))

    def _embedded(self, texts: Sequence[str], *, seconds: float) -> Floats:
        asked: dict[str, Any] = {"model": self._name, "input": list(texts)}
        rows = _rows(self._answer(json.dumps(asked).encode(), seconds=seconds), len(texts))
        if rows.shape[1] != self._dims:
            raise Unavailable(
                f"The embedding endpoint answered with {rows.shape[1]} dimensions instead of "
                f"{self._dims}."
            )
        return rows

    def _answer(self, body: bytes, *, seconds: float) -> bytes:
        until = self._clock() + seconds
        for tries in count():
            answer = self._try(body, until=until)
            if isinstance(answer, bytes):
                return answer
            longest = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(tries, 10))
            pause = longest * (0.5 + self._jitter() / 2) if answer.pause is None else answer.pause
            if self._clock() + pause >= until:
                raise Unavailable(f"The embedding endpoint did not answer in time: {answer.why}.")
            self._wait(pause)
        raise AssertionError

    def _try(self, body: bytes, *, until: float) -> bytes | _Later:
        left = max(0.01, until - self._clock())
        sent = {"Content-Type": "application/json"}
        try:
            with self._client.stream(
                "POST", self._url, content=body, headers=sent, timeout=left
            ) as response:
                if response.is_success:
                    return self._read(response, until=until)
                return _later(response)
        except httpx.RequestError as error:  # its text may hold what was sent
            return _Later(type(error).__name__)

    def _read(self, response: httpx.Response, *, until: float) -> bytes | _Later:
        body = bytearray()
        for piece in response.iter_bytes():
            body += piece
            if len(body) > _LARGEST_ANSWER:
                raise Unavailable("The embedding endpoint's answer is too large.")
            if self._clock() >= until:
                return _Later("slow answer")
        return bytes(body)


def _endpoint(base_url: str) -> httpx.URL:
    try:
        url = httpx.URL(base_url.rstrip("/") + "/embeddings")
    except httpx.InvalidURL:
        url = httpx.URL()
    if url.scheme not in ("http", "https") or not url.host or url.userinfo:
        raise Invalid(
            "The address of the embedding endpoint must be http(s)://host/path without a password.",
            param="base_url",
        )
    return url


def _later(response: httpx.Response) -> _Later:
    """Raises `Unavailable` when trying again would not help."""
    status = response.status_code
    if status in _BUSY or status >= 500:
        return _Later(f"status {status}", _retry_after(response.headers.get("Retry-After", "")))
    raise Unavailable(f"The embedding endpoint refused the request with status {status}.")


def _retry_after(value: str) -> float | None:
    """Seconds; the header holds seconds or a date (RFC 9110, section 10.2.3)."""
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        when = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (when.astimezone(UTC) - datetime.now(UTC)).total_seconds())


def _rows(body: bytes, expected: int) -> Floats:
    """Unit rows in the order of the texts, whatever the order of the answer."""
    try:
        data = json.loads(body)["data"]
        by_index = {item["index"]: item["embedding"] for item in data}
        rows = [by_index[k] for k in range(expected)]
        complete = len(data) == expected
    except (ValueError, TypeError, LookupError, RecursionError):
        rows, complete = [], False
    if not complete:
        raise Unavailable("The embedding endpoint did not answer with one vector for each text.")
    return unit_rows(rows)
