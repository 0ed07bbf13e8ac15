"""Embeddings from an endpoint, over real HTTP on this machine."""

import json
import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from importlib.util import find_spec
from threading import Event, Lock
from typing import Any

import numpy as np
import pytest

from keeproom.engines.excerpts import excerpts
from keeproom.engines.fastembed_embedder import FastEmbedder
from keeproom.engines.openai_embedder import EndpointEmbedder
from keeproom.errors import Invalid, Unavailable
from tests.http import server_of

KEY = "sk-not-a-real-key-0123456789"
TEXT = "Anna was born on 14 March."


@dataclass(frozen=True, slots=True)
class Answer:
    status: int = 200
    body: bytes | None = None  # None: the right answer
    headers: dict[str, str] = field(default_factory=dict[str, str])
    shuffled: bool = False
    stalls: bool = False


@dataclass(slots=True)
class Endpoint:
    """Gives the answers in their order, the last of them for ever."""

    answers: list[Answer] = field(default_factory=lambda: [Answer()])
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    keys: list[str | None] = field(default_factory=list[str | None])
    lock: Lock = field(default_factory=Lock)
    over: Event = field(default_factory=Event)

    def next(self) -> Answer:
        with self.lock:
            return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def numbers(text: str) -> list[float]:
    return [3.0 * len(text), 4.0 * len(text), 0.0]


def right(texts: Sequence[str], *, shuffled: bool) -> bytes:
    data = [{"index": k, "embedding": numbers(text)} for k, text in enumerate(texts)]
    return json.dumps({"data": data[::-1] if shuffled else data}).encode()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    told = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = told.next()
            with told.lock:
                told.asked.append({"path": self.path, **asked})
                told.keys.append(self.headers["Authorization"])
            if answer.stalls:
                told.over.wait(20)
                return
            body = answer.body
            if body is None:
                body = right(asked["input"], shuffled=answer.shuffled)
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None: ...

    with server_of(Handler) as address:
        told.url = f"{address}/v1"
        yield told
        told.over.set()


def embedder(endpoint: Endpoint, *, dims: int = 3, **options: Any) -> EndpointEmbedder:
    return EndpointEmbedder(endpoint.url, "some-model", key=KEY, dims=dims, **options)


def rows(vectors: bytes, *, dims: int = 3) -> list[list[float]]:
    return np.frombuffer(vectors, np.float32).reshape(-1, dims).tolist()


def test_vectors_come_back_with_unit_length(endpoint: Endpoint) -> None:
    with embedder(endpoint) as model:
        (made,) = model.passages([TEXT])
        asked = model.query(TEXT)

        assert rows(made.vectors) == [pytest.approx([0.6, 0.8, 0.0])]
        assert rows(asked.vector) == [pytest.approx([0.6, 0.8, 0.0])]
        assert (made.bits, asked.tokens, asked.words) == (b"", b"", ())
        assert model.dims == 3
    assert endpoint.asked[0] == {"path": "/v1/embeddings", "model": "some-model", "input": [TEXT]}
    assert endpoint.keys == [f"Bearer {KEY}"] * 2


def test_the_order_of_the_answer_does_not_matter(endpoint: Endpoint) -> None:
    def answer(vectors: list[list[float]]) -> Answer:
        data = [{"index": k, "embedding": v} for k, v in enumerate(vectors)]
        return Answer(body=json.dumps({"data": data[::-1]}).encode())

    endpoint.answers = [answer([[1, 0], [0, 1], [0, -1]])]

    with embedder(endpoint, dims=2) as model:
        made = model.passages(["a", "b", "c"])

    assert [rows(one.vectors, dims=2)[0] for one in made] == [[1, 0], [0, 1], [0, -1]]


def test_many_texts_go_in_batches(endpoint: Endpoint) -> None:
    endpoint.answers = [Answer(shuffled=True)]

    with embedder(endpoint, batch=2) as model:
        made = model.passages(["a", "b", "c", "d", "e"])

    assert [call["input"] for call in endpoint.asked] == [["a", "b"], ["c", "d"], ["e"]]
    assert len(made) == 5


def test_no_texts_ask_nothing(endpoint: Endpoint) -> None:
    with embedder(endpoint) as model:
        assert model.passages([]) == []
    assert endpoint.asked == []


def test_a_long_text_has_a_vector_for_each_excerpt(endpoint: Endpoint) -> None:
    text = "".join(chr(97 + k % 26) for k in range(4000))

    with embedder(endpoint) as model:
        long, short = model.passages([text, TEXT])

    assert (len(rows(long.vectors)), len(rows(short.vectors))) == (3, 1)
    assert endpoint.asked[0]["input"] == [text[:1500], text[1300:2800], text[2600:], TEXT]


def test_an_endless_text_has_no_more_than_24_excerpts() -> None:
    assert len(excerpts("x" * 1_000_000)) == 24
    assert excerpts("") == [""]
    assert excerpts("x" * 1500) == ["x" * 1500]


def test_vectors_of_another_length_are_another_model(endpoint: Endpoint) -> None:
    with embedder(endpoint) as one, embedder(endpoint, dims=2) as other:
        assert one.model != other.model


def test_nothing_is_asked_before_something_is_to_be_embedded(endpoint: Endpoint) -> None:
    with embedder(endpoint) as model:
        assert model.dims == 3
    assert endpoint.asked == []


def test_an_endpoint_without_a_key_is_sent_none(endpoint: Endpoint) -> None:
    with EndpointEmbedder(endpoint.url, "some-model", key="", dims=3) as model:
        model.query(TEXT)

    assert endpoint.keys == [None]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_endpoint_is_asked_again(endpoint: Endpoint, status: int) -> None:
    endpoint.answers = [Answer(status), Answer(status), Answer()]
    pauses: list[float] = []

    with embedder(endpoint, wait=pauses.append, jitter=lambda: 1.0) as model:
        model.query(TEXT)

    assert pauses == [0.25, 0.5]


@pytest.mark.parametrize(("asked", "waited"), [("2", 2.0), ("0", 0.0), ("soon", 0.25)])
def test_an_endpoint_says_when_to_come_back(endpoint: Endpoint, asked: str, waited: float) -> None:
    endpoint.answers = [Answer(429, headers={"Retry-After": asked}), Answer()]
    pauses: list[float] = []

    with embedder(endpoint, wait=pauses.append, jitter=lambda: 1.0) as model:
        model.query(TEXT)

    assert pauses == [waited]


def test_a_date_in_the_past_means_now(endpoint: Endpoint) -> None:
    date = "Wed, 21 Oct 2015 07:28:00 GMT"
    endpoint.answers = [Answer(503, headers={"Retry-After": date}), Answer()]
    pauses: list[float] = []

    with embedder(endpoint, wait=pauses.append) as model:
        model.query(TEXT)

    assert pauses == [0.0]


def test_nobody_waits_longer_than_the_deadline(endpoint: Endpoint) -> None:
    endpoint.answers = [Answer(429, headers={"Retry-After": "3600"})]
    pauses: list[float] = []

    with embedder(endpoint, wait=pauses.append) as model, pytest.raises(Unavailable):
        model.query(TEXT)

    assert pauses == []


def test_an_endpoint_that_stays_broken_is_given_up(endpoint: Endpoint) -> None:
    endpoint.answers = [Answer(500)]
    start = time.monotonic()

    with embedder(endpoint, query_deadline=2.0) as model, pytest.raises(Unavailable):
        model.query(TEXT)

    assert len(endpoint.asked) >= 2
    assert time.monotonic() - start < 15


def test_a_slow_answer_is_not_waited_for(endpoint: Endpoint) -> None:
    endpoint.answers = [Answer(stalls=True)]
    start = time.monotonic()

    with embedder(endpoint, query_deadline=0.2) as model, pytest.raises(Unavailable):
        model.query(TEXT)

    assert time.monotonic() - start < 15


def test_nobody_at_the_address_is_unavailable(endpoint: Endpoint) -> None:
    with (
        EndpointEmbedder(
            "http://127.0.0.1:1/v1", "m", key=KEY, dims=3, query_deadline=0.2
        ) as model,
        pytest.raises(Unavailable),
    ):
        model.query(TEXT)


@pytest.mark.parametrize("status", [400, 401, 404, 302])
def test_a_refusal_is_not_repeated(endpoint: Endpoint, status: int) -> None:
    endpoint.answers = [Answer(status, b"no", {"Location": endpoint.url})]

    with embedder(endpoint) as model, pytest.raises(Unavailable):
        model.query(TEXT)

    assert len(endpoint.asked) == 1


def test_other_dimensions_are_not_taken(endpoint: Endpoint) -> None:
    with embedder(endpoint, dims=4) as model, pytest.raises(Unavailable):
        model.query(TEXT)


def test_dimensions_may_not_change(endpoint: Endpoint) -> None:
    other = b'{"data": [{"index": 0, "embedding": [1, 0]}]}'
    endpoint.answers = [Answer(), Answer(body=other)]

    with embedder(endpoint) as model:
        model.query(TEXT)
        with pytest.raises(Unavailable):
            model.query(TEXT)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b'{"data": null}',
        b'{"data": []}',
        b'{"data": [{"index": 1, "embedding": [1, 0]}]}',
        b'{"data": [{"index": 0, "embedding": [1, 0]}, {"index": 0, "embedding": [1, 0]}]}',
        b'{"data": [{"index": 0, "embedding": [NaN, 0]}]}',
        b'{"data": [{"index": 0, "embedding": [1e999, 0]}]}',
        b'{"data": [{"index": 0, "embedding": [0, 0]}]}',
        b'{"data": [{"index": 0, "embedding": []}]}',
        b'{"data": [{"index": 0, "embedding": "AAAA"}]}',
        b'{"data": [{"index": 0, "embedding": [[1, 0]]}]}',
        b'{"data": [{"index": [], "embedding": [1, 0]}]}',
        b"[" * 100_000,
    ],
)
def test_an_answer_that_is_none_is_unavailable(endpoint: Endpoint, body: bytes) -> None:
    endpoint.answers = [Answer(body=body)]

    with embedder(endpoint) as model, pytest.raises(Unavailable):
        model.query(TEXT)


@pytest.mark.parametrize(
    "answer", [Answer(401, KEY.encode()), Answer(500, KEY.encode()), Answer(body=KEY.encode())]
)
def test_key_and_text_are_in_no_error_and_no_log(
    endpoint: Endpoint, answer: Answer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    endpoint.answers = [answer]

    with embedder(endpoint, query_deadline=0.2) as model:
        with pytest.raises(Unavailable) as caught:
            model.query(TEXT)
        said = f"{caught.value!r} {model!r} {caplog.text}"

    assert KEY not in said
    assert TEXT not in said


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("ftp://127.0.0.1/v1", KEY),
        ("http://user:password@127.0.0.1/v1", KEY),
        ("127.0.0.1/v1", KEY),
        ("http://", KEY),
        ("", KEY),
        ("http://127.0.0.1:port/v1", KEY),
        ("http://127.0.0.1/v1", "two\nlines"),
        ("http://127.0.0.1/v1", "schlüssel"),
    ],
)
def test_what_cannot_be_an_address_or_a_key_is_invalid(address: str, key: str) -> None:
    with pytest.raises(Invalid) as caught:
        EndpointEmbedder(address, "m", key=key, dims=3)

    assert key not in str(caught.value)
    assert caught.value.param == ("base_url" if key == KEY else "key")


@pytest.mark.skipif(find_spec("fastembed") is not None, reason="fastembed is installed")
def test_a_model_of_an_extra_that_is_missing_is_unavailable() -> None:
    model = FastEmbedder("BAAI/bge-small-en-v1.5", dims=384)

    with pytest.raises(Unavailable, match=r"keeproom\[models\]"):
        model.passages([TEXT])
