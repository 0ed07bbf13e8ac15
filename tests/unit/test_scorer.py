"""The arithmetic on stored embeddings."""

import struct

import pytest

from keeproom.engines.scorer import NumpyScorer
from keeproom.vault.model import Embedding

SCORER = NumpyScorer()


def row(*numbers: float) -> bytes:
    return struct.pack(f"<{len(numbers)}f", *numbers)


def embedding(*chunks: bytes, dims: int = 8, bits: bytes = b"") -> Embedding:
    return Embedding(
        memory_id="mem_1",
        model="m/1",
        content_hash="h",
        dims=dims,
        vectors=b"".join(chunks),
        bits=bits,
    )


EVEN = row(*[8**-0.5] * 8)  # the unit vector that matches all ones wholly
LEFT = row(*[0.5] * 4, *[0.0] * 4)


def test_a_memory_is_as_close_as_its_best_chunk() -> None:
    short = embedding(row(0, 1), dims=2)
    long = embedding(row(0, -1), row(0.6, 0.8), row(-1, 0), dims=2)

    assert SCORER.cosines(row(1, 0), [short, long]) == pytest.approx([0.0, 0.6])


def test_a_memory_without_chunks_is_not_close() -> None:
    found = SCORER.cosines(row(1, 0), [embedding(dims=2), embedding(row(1, 0), dims=2)])

    assert found == [0.0, 1.0]


def test_nothing_is_scored_without_memories() -> None:
    assert SCORER.cosines(row(1, 0), []) == []
    assert SCORER.late_interaction(EVEN, [1.0], []) == []


def test_a_query_token_takes_its_best_match() -> None:
    memory = embedding(bits=bytes([0b00000000, 0b11110000, 0b11111110]))

    # (7 - 1) / 8 is the best of -1, 0 and 0.75
    assert SCORER.late_interaction(EVEN, [2.0], [memory]) == pytest.approx([0.75])


def test_query_tokens_count_by_their_weights() -> None:
    memory = embedding(bits=bytes([0b11110000]))

    # the even token matches 0, the left one 4 x 0.5 / sqrt 8
    found = SCORER.late_interaction(EVEN + LEFT, [1.0, 3.0], [memory])

    assert found == pytest.approx([0.75 * 2 / 8**0.5])


def test_a_token_without_weight_says_nothing() -> None:
    memory = embedding(bits=bytes([0b11110000]))

    told, untold = (SCORER.late_interaction(EVEN + LEFT, [1.0, w], [memory]) for w in (1.0, 0.0))

    assert told[0] > 0.3
    assert untold == pytest.approx([0.0])


def test_a_memory_without_bits_scores_nothing_among_others() -> None:
    whole = embedding(bits=bytes([0b11111111]))

    found = SCORER.late_interaction(EVEN, [1.0], [whole, embedding(), whole, embedding()])

    assert found == pytest.approx([1.0, 0.0, 1.0, 0.0])


@pytest.mark.parametrize(("tokens", "weights"), [(EVEN, [0.0]), (b"", [])])
def test_nothing_matches_a_query_that_says_nothing(tokens: bytes, weights: list[float]) -> None:
    memory = embedding(bits=bytes([0b11111111]))

    assert SCORER.late_interaction(tokens, weights, [memory]) == [0.0]


def test_dimensions_need_not_fill_their_last_byte() -> None:
    memory = embedding(dims=3, bits=bytes([0b10100000]))

    found = SCORER.late_interaction(row(0.6, -0.8, 0), [1.0], [memory])

    assert found == pytest.approx([1.4 / 3**0.5])


def test_many_memories_each_have_their_own_score() -> None:
    ones = [k % 9 for k in range(300)]
    memories = [embedding(bits=bytes([0xFF << n & 0xFF, 0] * 10)) for n in ones]

    found = SCORER.late_interaction(EVEN, [1.0], memories)

    assert found == pytest.approx([max(8 - 2 * n, -8) / 8 for n in ones])


def test_pairs_are_compared_one_by_one() -> None:
    left, right = [row(1, 0), row(0, 1)], [row(0.6, 0.8), row(0, -1)]

    assert SCORER.mean_cosine(left, right) == pytest.approx([0.6, -1.0])
    assert SCORER.mean_cosine([], []) == []
