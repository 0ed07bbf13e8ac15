"""The embedding model in every place it can be."""

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import numpy as np
import pytest

from keeproom.aws import embedder as on_aws
from keeproom.engines.excerpts import OVERLAP, SIZE
from keeproom.errors import Unavailable
from keeproom.local import embedder as bundled
from keeproom.vault.ports import Embedder
from tests.bedrock import COHERE, DENIED, NOVA, TITAN, Bedrock, bedrock

TEA = "Anna drinks green tea in the morning."
BOAT = "The boat is moored in the harbour of Bergen."


@pytest.fixture
def cloud(aws_keys: None) -> Iterator[Bedrock]:
    with bedrock() as told:
        yield told


@pytest.fixture(scope="module")
def here() -> Embedder:
    """Loaded once."""
    return bundled.open()


@pytest.fixture(params=["bundled", TITAN, COHERE, NOVA])
def model(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    if request.param == "bundled":
        yield request.getfixturevalue("here")
        return
    cloud: Bedrock = request.getfixturevalue("cloud")
    with closing(on_aws.open(request.param, endpoint=cloud.url)) as made:
        yield made


@contextmanager
def bundled_lost(folder: Path, _: Bedrock) -> Generator[Embedder]:
    yield bundled.open(folder / "no-such-model")


@contextmanager
def bedrock_refusing(_: Path, cloud: Bedrock) -> Generator[Embedder]:
    cloud.faults = [DENIED]
    with closing(on_aws.open(TITAN, endpoint=cloud.url)) as made:
        yield made


def rows(vectors: bytes, dims: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.frombuffer(vectors, "<f4").reshape(-1, dims)


def test_every_text_has_one_row_of_unit_length(model: Embedder) -> None:
    made = model.passages([TEA, BOAT])

    for one in made:
        assert rows(one.vectors, model.dims).shape == (1, model.dims)
        assert np.linalg.norm(rows(one.vectors, model.dims)) == pytest.approx(1.0, abs=1e-5)
    assert made[0].vectors != made[1].vectors


def test_a_question_is_nearest_to_what_answers_it(model: Embedder) -> None:
    tea, boat = (rows(one.vectors, model.dims)[0] for one in model.passages([TEA, BOAT]))
    asked = rows(model.query("who drinks green tea").vector, model.dims)[0]

    assert np.linalg.norm(asked) == pytest.approx(1.0, abs=1e-5)
    assert asked @ tea > asked @ boat


def test_one_text_has_one_vector_whoever_asks(model: Embedder) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(model.passages, [[BOAT, TEA, BOAT]] * 8))

    told = {one.vectors for three in made for one in (three[0], three[2])}
    assert len(told) == 1
    cosine = rows(told.pop(), model.dims)[0] @ rows(made[0][1].vectors, model.dims)[0]
    assert cosine < 0.99


def test_no_texts_are_no_vectors(model: Embedder) -> None:
    assert list(model.passages([])) == []


def test_a_long_text_is_found_by_its_end(model: Embedder) -> None:
    filler = " ".join(f"Clause {n} speaks of nothing much at all." for n in range(90))
    (long,) = model.passages([f"{filler} {BOAT}"])
    asked = rows(model.query("boat moored harbour bergen").vector, model.dims)[0]

    cosines = rows(long.vectors, model.dims) @ asked
    assert len(cosines) > 1
    assert int(np.argmax(cosines)) == len(cosines) - 1
    assert len(filler) > SIZE + OVERLAP


@pytest.mark.parametrize("lost", [bundled_lost, bedrock_refusing], ids=["bundled", "bedrock"])
def test_without_a_model_both_calls_say_so(
    lost: Callable[[Path, Bedrock], AbstractContextManager[Embedder]],
    tmp_path: Path,
    cloud: Bedrock,
) -> None:
    with lost(tmp_path, cloud) as model:
        with pytest.raises(Unavailable):
            model.passages([TEA])
        with pytest.raises(Unavailable):
            model.query(TEA)
        assert model.model
        assert model.dims > 0
