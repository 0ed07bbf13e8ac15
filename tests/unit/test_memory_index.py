"""The fast index against one that is too simple to be wrong."""

import math
import random
import struct
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from itertools import batched
from operator import mul
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keeproom.engines.memory_index import InProcessIndex
from keeproom.vault.model import Embedding, MemoryType, Position, Status
from keeproom.vault.ports import Bm25, Indexed, SearchIndex, Sought, Where
from tests.snapshots import OneSnapshot

MODEL = "model-1"
DAY = date(2025, 3, 1)
BM25 = Bm25(k1=0.8, b=0.2)
ANYWHERE = Where(statuses=frozenset(Status))
FIRST = Position(generation="gen_1", counts=(3, 0, 5))


def floats(vectors: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vectors) // 4}f", vectors)


class NaiveIndex:
    def __init__(self, model: str, dims: int) -> None:
        self._model = model
        self._dims = dims
        self.rows: dict[str, Indexed] = {}

    def put(self, row: Indexed) -> None:
        self.rows.pop(row.id, None)
        self.rows[row.id] = row

    def remove(self, id: str) -> None:
        self.rows.pop(id, None)

    def eligible(self, where: Where) -> set[str]:
        return {
            row.id
            for row in self.rows.values()
            if row.status in where.statuses
            and (where.types is None or row.type in where.types)
            and where.tags <= set(row.tags)
            and (where.since is None or row.valid_on >= where.since)
            and (where.until is None or row.valid_on <= where.until)
        }

    def lacking(self) -> set[str]:
        return {row.id for row in self.rows.values() if not self._fits(row.embedding)}

    def cosines(self, vector: bytes) -> dict[str, float]:
        query = floats(vector)
        return {
            row.id: max(
                sum(map(mul, chunk, query))
                for chunk in batched(floats(row.embedding.vectors), self._dims)
            )
            for row in self.rows.values()
            if row.embedding is not None and self._fits(row.embedding)
        }

    def idf(self, term: str) -> float:
        df = sum(term in row.terms for row in self.rows.values())
        return math.log(1 + (len(self.rows) - df + 0.5) / (df + 0.5))

    def strengths(self, terms: Sequence[str], bm25: Bm25) -> dict[str, float]:
        """Of the memories with any of the terms."""
        weights = {term: self.idf(term) for term in terms}
        lengths = {row.id: sum(row.terms.values()) for row in self.rows.values()}
        mean = sum(lengths.values()) / max(len(lengths), 1)
        found: dict[str, float] = {}
        for row in self.rows.values():
            for term in weights.keys() & row.terms.keys():
                tf = row.terms[term]
                damping = bm25.k1 * (1 - bm25.b + bm25.b * lengths[row.id] / mean)
                strength = weights[term] * tf * (bm25.k1 + 1) / (tf + damping)
                found[row.id] = found.get(row.id, 0.0) + strength
        return found

    def _fits(self, embedding: Embedding | None) -> bool:
        return (
            embedding is not None
            and (embedding.model, embedding.dims) == (self._model, self._dims)
            and embedding.chunks > 0
        )


def unit(*numbers: float) -> bytes:
    length = math.hypot(*numbers)
    return struct.pack(f"<{len(numbers)}f", *(number / length for number in numbers))


def embedding(id: str, *chunks: bytes, model: str = MODEL, dims: int = 3) -> Embedding:
    return Embedding(
        memory_id=id, model=model, content_hash="", dims=dims, vectors=b"".join(chunks)
    )


def memory(
    id: str,
    terms: Mapping[str, int] | None = None,
    *chunks: bytes,
    status: Status = Status.ACTIVE,
    type: MemoryType = MemoryType.FACT,
    tags: tuple[str, ...] = (),
    valid_on: date = DAY,
    model: str = MODEL,
    dims: int = 3,
) -> Indexed:
    return Indexed(
        id=id,
        revision=1,
        status=status,
        type=type,
        tags=tags,
        valid_on=valid_on,
        terms=terms or {},
        embedding=embedding(id, *chunks, model=model, dims=dims) if chunks else None,
    )


def assert_ranked(
    found: Sequence[str], scores: Mapping[str, float], *, among: set[str], limit: int
) -> None:
    """The best there are, best first; memories of equal score may change places."""
    best = sorted((scores[id] for id in scores.keys() & among), reverse=True)[:limit]
    assert len(found) == len(set(found)) == len(best)
    assert set(found) <= among
    assert [scores[id] for id in found] == pytest.approx(best, rel=1e-5, abs=1e-5)


def matching(
    index: SearchIndex,
    terms: Sequence[str],
    *,
    where: Where = ANYWHERE,
    limit: int,
    bm25: Bm25 = BM25,
) -> Sequence[str]:
    sought = Sought(vector=b"", terms=terms, where=where, limit=limit, bm25=bm25)
    told = index.candidates(sought)
    assert (told.near, told.stand_in) == ([], False)
    return told.matching


def assert_equal(
    index: SearchIndex,
    naive: NaiveIndex,
    *,
    vector: bytes,
    terms: Sequence[str],
    where: Where,
    limit: int,
    bm25: Bm25 = BM25,
) -> None:
    among = naive.eligible(where)
    strengths = naive.strengths(terms, bm25)
    everything = [*naive.rows, "mem_unknown"]
    assert_ranked(
        index.nearest(vector, where=where, limit=limit),
        naive.cosines(vector),
        among=among,
        limit=limit,
    )
    assert_ranked(
        matching(index, terms, where=where, limit=limit, bm25=bm25),
        strengths,
        among=among,
        limit=limit,
    )
    assert index.strengths(terms, everything, bm25=bm25) == pytest.approx(
        [strengths.get(id, 0.0) for id in everything], rel=1e-5, abs=1e-5
    )
    assert index.idf(terms) == pytest.approx([naive.idf(term) for term in terms], rel=1e-5)
    assert set(index.lacking(limit=10_000)) == naive.lacking()


IDS = st.sampled_from([f"mem_{letter}" for letter in "abcdefgh"])
TERMS = st.sampled_from(["tea", "coffee", "茶", "v1.2", "green", "cup", "\ud800"])
TAGS = st.sampled_from(["home", "work", "ünï"])
VECTORS = st.tuples(*[st.integers(-3, 3)] * 3).filter(any).map(lambda numbers: unit(*numbers))
DAYS = st.integers(0, 6).map(lambda days: DAY + timedelta(days))


@st.composite
def memories(draw: st.DrawFn) -> Indexed:
    return memory(
        draw(IDS),
        draw(st.dictionaries(TERMS, st.integers(1, 4), max_size=4)),
        *draw(st.lists(VECTORS, max_size=3)),
        status=draw(st.sampled_from(Status)),
        type=draw(st.sampled_from([MemoryType.FACT, MemoryType.OTHER])),
        tags=tuple(draw(st.sets(TAGS))),
        valid_on=draw(DAYS),
        model=draw(st.sampled_from([MODEL, MODEL, MODEL, "model-0"])),
    )


@st.composite
def conditions(draw: st.DrawFn) -> Where:
    types = st.frozensets(st.sampled_from([MemoryType.FACT, MemoryType.OTHER]))
    return Where(
        statuses=draw(st.frozensets(st.sampled_from(Status))),
        types=draw(st.none() | types),
        tags=draw(st.frozensets(TAGS, max_size=2)),
        since=draw(st.none() | DAYS),
        until=draw(st.none() | DAYS),
    )


REOPEN = "reopen"
STEPS = st.lists(memories() | IDS | st.just(REOPEN), max_size=20)


@settings(deadline=None, max_examples=200)
@given(
    steps=STEPS,
    vector=VECTORS,
    terms=st.lists(TERMS | st.just("unheard"), max_size=5),
    where=conditions(),
    limit=st.integers(0, 5),
    bm25=st.builds(Bm25, k1=st.floats(0.1, 2), b=st.floats(0, 1)),
)
def test_any_history_of_puts_removals_and_restarts_gives_the_same_answers_as_the_simple_index(
    steps: Sequence[Indexed | str],
    vector: bytes,
    terms: Sequence[str],
    where: Where,
    limit: int,
    bm25: Bm25,
) -> None:
    kept = OneSnapshot()
    index, naive = InProcessIndex(MODEL, 3, snapshots=kept), NaiveIndex(MODEL, 3)
    for step in steps:
        if isinstance(step, Indexed):
            index.put([step])
            naive.put(step)
        elif step == REOPEN:
            index.save()
            index = InProcessIndex.open(MODEL, 3, snapshots=kept)
        else:
            index.remove([step])
            naive.remove(step)
        for condition in (where, ANYWHERE):
            assert_equal(
                index, naive, vector=vector, terms=terms, where=condition, limit=limit, bm25=bm25
            )


def scattered(rng: random.Random, id: str, *, dims: int) -> Indexed:
    chunks = [
        unit(*(rng.gauss(0, 1) for _ in range(dims))) for _ in range(rng.choice([0, 1, 1, 3]))
    ]
    words = [f"w{int(rng.paretovariate(0.7))}" for _ in range(8)]
    return memory(
        id,
        {word: words.count(word) for word in words},
        *chunks,
        status=rng.choice([Status.ACTIVE, Status.PROPOSED]),
        tags=tuple(rng.sample(["home", "work"], rng.randrange(3))),
        valid_on=DAY + timedelta(rng.randrange(30)),
        dims=dims,
    )


def test_answers_stay_right_while_thousands_are_replaced_and_the_dead_are_packed_away() -> None:
    rng, dims = random.Random(7), 160
    kept = OneSnapshot()
    index, naive = InProcessIndex(MODEL, dims, snapshots=kept), NaiveIndex(MODEL, dims)
    ids = [f"mem_{number}" for number in range(3000)]
    for number, id in enumerate([*ids, *rng.choices(ids, k=2500)]):
        if number % 10 == 9:
            index.remove([id])
            naive.remove(id)
        else:
            row = scattered(rng, id, dims=dims)
            index.put([row])
            naive.put(row)
        if number == 4000:
            index.save()
            index = InProcessIndex.open(MODEL, dims, snapshots=kept)
    where = Where(
        statuses=frozenset({Status.ACTIVE}), tags=frozenset({"home"}), since=DAY + timedelta(3)
    )
    for condition in (ANYWHERE, where):
        assert_equal(
            index,
            naive,
            vector=unit(*(rng.gauss(0, 1) for _ in range(dims))),
            terms=["w1", "w2", "w3", "w17", "w1"],
            where=condition,
            limit=100,
        )


def test_an_empty_index_finds_nothing() -> None:
    index = InProcessIndex(MODEL, 3)
    assert index.nearest(unit(1, 0, 0), where=ANYWHERE, limit=5) == []
    assert matching(index, ["tea"], limit=5) == []
    assert index.strengths(["tea"], ["mem_a"], bm25=BM25) == [0.0]
    assert index.idf(["tea"]) == pytest.approx([math.log(2)])
    assert index.lacking(limit=5) == []
    assert index.position is None


def test_a_memory_is_as_near_as_its_best_chunk_and_found_once() -> None:
    index = InProcessIndex(MODEL, 3)
    index.put(
        [
            memory("mem_long", {}, unit(0, 1, 0), unit(1, 0.1, 0), unit(0, 0, 1)),
            memory("mem_short", {}, unit(1, 1, 0)),
        ]
    )
    assert index.nearest(unit(1, 0, 0), where=ANYWHERE, limit=5) == ["mem_long", "mem_short"]


def test_of_equal_scores_the_memory_put_first_comes_first() -> None:
    index = InProcessIndex(MODEL, 3)
    ids = [f"mem_{number}" for number in (3, 1, 4, 0, 5, 9, 2, 6)]
    index.put([memory(id, {"tea": 1}, unit(1, 0, 0)) for id in ids])
    assert index.nearest(unit(1, 0, 0), where=ANYWHERE, limit=3) == ids[:3]
    assert matching(index, ["tea"], limit=5) == ids[:5]


def test_an_embedding_that_arrives_later_ends_the_lack() -> None:
    index = InProcessIndex(MODEL, 3)
    index.put([memory("mem_a", {"tea": 1}), memory("mem_b"), memory("mem_c")])
    index.put([memory("mem_a", {"tea": 1}, unit(1, 0, 0))])
    assert index.lacking(limit=1) == ["mem_b"]
    assert index.lacking(limit=9) == ["mem_b", "mem_c"]
    assert index.nearest(unit(1, 0, 0), where=ANYWHERE, limit=5) == ["mem_a"]


@pytest.mark.parametrize(
    ("model", "dims", "vector"),
    [("model-0", 3, unit(1, 0, 0)), (MODEL, 2, unit(1, 0)), (MODEL, 3, b"")],
)
def test_an_embedding_of_another_model_or_size_counts_as_lacking(
    model: str, dims: int, vector: bytes
) -> None:
    index = InProcessIndex(MODEL, 3)
    index.put([memory("mem_a", {"tea": 1}, vector, model=model, dims=dims)])
    assert index.lacking(limit=5) == ["mem_a"]
    assert index.nearest(unit(1, 0, 0), where=ANYWHERE, limit=5) == []
    assert matching(index, ["tea"], limit=5) == ["mem_a"]


def test_a_strength_follows_what_is_put_and_removed_in_between() -> None:
    index = InProcessIndex(MODEL, 3)
    index.put([memory("mem_a", {"tea": 2}), memory("mem_b", {"cup": 1})])
    before = index.strengths(["tea"], ["mem_a"], bm25=BM25)
    index.put([memory("mem_c", {"tea": 1})])
    between = index.strengths(["tea"], ["mem_a"], bm25=BM25)
    index.remove(["mem_c"])
    assert between[0] < before[0]
    assert index.strengths(["tea"], ["mem_a", "mem_c"], bm25=BM25) == [before[0], 0.0]


def test_clearing_takes_everything_and_the_position() -> None:
    index = InProcessIndex(MODEL, 3)
    index.put([memory("mem_a", {"tea": 1}, unit(1, 0, 0)), memory("mem_b")])
    index.position = FIRST
    index.clear()
    assert index.position is None
    assert index.lacking(limit=5) == []
    assert matching(index, ["tea"], limit=5) == []
    assert index.nearest(unit(1, 0, 0), where=ANYWHERE, limit=5) == []


def test_searches_see_whole_memories_while_another_thread_puts_and_removes() -> None:
    index = InProcessIndex(MODEL, 3)
    index.put([memory("mem_kept", {"tea": 1}, unit(1, 0, 0))])

    def write() -> None:
        for number in range(2000):
            index.put([memory(f"mem_{number % 50}", {"tea": 1}, unit(1, number, 1), unit(0, 1, 1))])
            if number % 3 == 0:
                index.remove([f"mem_{number % 7}"])

    def search() -> Iterator[tuple[int, int]]:
        for _ in range(300):
            near = index.nearest(unit(1, 0, 0), where=ANYWHERE, limit=100)
            like = matching(index, ["tea"], limit=100)
            assert near[0] == "mem_kept"
            assert "mem_kept" in like
            assert len(near) == len(set(near)) <= 51
            assert len(like) == len(set(like)) <= 51
            assert all(
                strength > 0 for strength in index.strengths(["tea"], ["mem_kept"], bm25=BM25)
            )
            yield len(near), len(like)

    with ThreadPoolExecutor(4) as pool:
        writing = pool.submit(write)
        searching = [pool.submit(lambda: list(search())) for _ in range(3)]
    writing.result()
    assert all(len(search.result()) == 300 for search in searching)


def test_comparing_each_of_many_with_all_before_it_stays_fast() -> None:
    """As an import does. The bound is 20 times what it takes on an idle machine."""
    index = InProcessIndex(MODEL, 64)
    rng = random.Random(3)
    rows = [
        memory(f"mem_{n}", {f"w{n % 90}": 1}, unit(*(rng.random() for _ in range(64))), dims=64)
        for n in range(3000)
    ]
    start = process_time()
    for row in rows:
        assert row.embedding is not None
        index.nearest(row.embedding.vectors, where=ANYWHERE, limit=5)
        index.put([row])
    assert process_time() - start < 10


def test_the_background_of_a_query_is_its_mean_cosine_with_all_chunks() -> None:
    index = InProcessIndex(MODEL, 2)
    query = struct.pack("<2f", 1.0, 0.0)
    assert index.background(query) is None

    index.put([bare("mem_1", (0.6, 0.8)), bare("mem_2", (1.0, 0.0, 0.0, 1.0))])

    assert index.background(query) == pytest.approx((0.6 + 1.0 + 0.0) / 3, abs=1e-6)


def bare(id: str, numbers: tuple[float, ...]) -> Indexed:
    made = Embedding(
        memory_id=id,
        model=MODEL,
        content_hash="",
        dims=2,
        vectors=struct.pack(f"<{len(numbers)}f", *numbers),
    )
    return Indexed(
        id=id, revision=1, status=Status.ACTIVE, type=MemoryType.FACT, tags=(), valid_on=DAY,
        terms={}, embedding=made,
    )  # fmt: skip
