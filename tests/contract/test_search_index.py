"""The search index of both places, with a real OpenSearch as the collection."""

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path

import pytest

from keeproom.aws import search_index as aws_search_index
from keeproom.engines.item_store.table import Table
from keeproom.engines.opensearch.collection import Collection
from keeproom.engines.opensearch.shape import index_name
from keeproom.errors import Invalid
from keeproom.local import search_index as local_search_index
from keeproom.local.blobs import FileBlobs
from keeproom.local.memory_store import SqliteTable
from keeproom.vault import jobs, rebuild
from keeproom.vault.batch import ImportItem
from keeproom.vault.model import Embedding, MemoryType, Status
from keeproom.vault.ports import Bm25, Indexed, Sought, Where
from keeproom.vault.recall import Query, Recalled, RecallMode, recall
from keeproom.vault.remember import remember
from keeproom.vault.work import index_step
from tests.contract.hands import AGENT, Hand, bring, forget, hand_on, reword, say
from tests.embedders import WordEmbedder
from tests.search_engine.collection import Steered, session
from tests.search_engine.places import Watch, asking

LATER = timedelta(minutes=10)
ANYWHERE = Where(statuses=frozenset(Status))
BM25 = Bm25(k1=0.8, b=0.2)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    with closing(SqliteTable(tmp_path_factory.mktemp("vault") / "vault.db")) as table:
        yield table


@dataclass
class Cloud:
    """A vault whose index asks the collection. `watch` is also the index's clock."""

    hand: Hand
    steered: Steered
    shared: Collection
    watch: Watch

    def later(self) -> None:
        """All that was written shows, and what waited is due."""
        self.watch.wait(LATER)
        self.steered.show()


def cloud_on(
    shelf: Table, steered: Steered, name: str = "", *, read: float = 30.0, patience: float = 30.0,
    pause: float = 0.0,
) -> Cloud:  # fmt: skip
    """With time for everything on the busiest machine, but where a test is about time."""
    watch, embedder = Watch(), WordEmbedder()
    shared = Collection(
        steered.send(read=read), vault=name or steered.address, model=embedder.model,
        dims=embedder.dims, patience=patience, pause=pause,
    )  # fmt: skip
    hand = hand_on(
        shelf, name, clock=watch, embedder=embedder,
        index=lambda: asking(shared, embedder, watch),
    )  # fmt: skip
    while rebuild.progress(hand.vault).finished_at is None:
        index_step(hand.vault)
        watch.wait(LATER)
        steered.show()
    return Cloud(hand=hand, steered=steered, shared=shared, watch=watch)


@pytest.fixture
def cloud(shelf: Table, collection: Steered) -> Cloud:
    return cloud_on(shelf, collection)


@pytest.fixture(params=["local", "aws"])
def hand(request: pytest.FixtureRequest, shelf: Table) -> Hand:
    """At a new vault of either place."""
    if request.param == "local":
        return hand_on(shelf)
    return request.getfixturevalue("cloud").hand


def ask(hand: Hand, text: str, **how: object) -> Recalled:
    return recall(hand.vault, Query(text=text, **how))  # pyright: ignore[reportArgumentType]


def found(hand: Hand, text: str, **how: object) -> list[str]:
    return [hit.memory.content for hit in ask(hand, text, **how).hits]


# ---- in both places


def test_every_change_is_right_in_the_very_next_recall(hand: Hand) -> None:
    memory = say(hand, "The code of the alarm is on the red card")
    assert found(hand, "alarm card") == ["The code of the alarm is on the red card"]
    reword(hand, memory.id, "The code of the alarm is on the blue sheet")
    assert found(hand, "alarm card") == ["The code of the alarm is on the blue sheet"]
    forget(hand, memory.id)
    assert found(hand, "alarm code sheet") == []


def test_conditions_hold(hand: Hand) -> None:
    for place, kind, tags, day in (
        ("Rome", MemoryType.EVENT, ("travel",), date(2024, 5, 1)),
        ("Oslo", MemoryType.FACT, ("travel", "north"), date(2025, 5, 1)),
    ):
        item = ImportItem(content=f"Trip to {place}", type=kind, tags=tags, source_date=day)
        remember(hand.vault, item, by=AGENT)
    old = say(hand, "Trip by train")
    say(hand, "Trip by ship", supersedes=old.id)
    everything = ["Trip by ship", "Trip by train", "Trip to Oslo", "Trip to Rome"]
    assert sorted(found(hand, "trip", include_history=True)) == everything
    assert found(hand, "trip", types=frozenset({MemoryType.EVENT})) == ["Trip to Rome"]
    assert found(hand, "trip", tags=frozenset({"travel", "north"})) == ["Trip to Oslo"]
    assert found(hand, "trip", until=date(2024, 5, 1)) == ["Trip to Rome"]
    assert found(hand, "trip", since=date(2024, 5, 2), until=date(2025, 5, 1)) == ["Trip to Oslo"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("東京タワーの近くに住んでいる", "東京"),
        ("猫を二匹飼っている", "猫"),
        ("Prefers the café in Orléans", "cafe orleans"),
        ("Uses foo_bar-baz v1.2.3 on 10.0.0.12", "v1.2.3"),
        ("Writes to kim@example.org from https://example.org/docs", "kim@example.org"),
    ],
)
def test_words_of_every_kind_are_found(hand: Hand, text: str, query: str) -> None:
    say(hand, "Something else entirely")
    say(hand, text)
    hand.embedder.down = True
    told = ask(hand, query)
    assert [hit.memory.content for hit in told.hits] == [text]
    assert told.mode is RecallMode.KEYWORD_ONLY


@pytest.mark.parametrize(
    "query",
    ['"', "a AND (b", "-", "*:*", "/x/", "\\", "{}", "🙂", "x" * 8000,
     " ".join(f"word{n}" for n in range(1000))],
)  # fmt: skip
def test_any_text_is_a_safe_query(hand: Hand, query: str) -> None:
    say(hand, "Anna plays the violin")
    told = ask(hand, query)
    assert (told.mode, told.stand_in) == (RecallMode.HYBRID, False)


# ---- the same ranking


TREES = ("apple", "pear", "plum", "fig", "tree", "leaf", "root", "branch")
PLACES = ("garden", "river", "stone", "bridge", "house", "door", "roof")
WORDS = (*TREES, *PLACES)


def invented(rng: random.Random, number: int) -> ImportItem:
    words = " ".join(rng.choices(WORDS, k=rng.randrange(3, 12)))
    return ImportItem(
        content=f"{words} n{number} n{number % 7}",
        type=rng.choice([MemoryType.FACT, MemoryType.EVENT]),
        tags=tuple(rng.sample(["home", "work"], rng.randrange(3))),
        source_date=date(2025, 1, 1) + timedelta(rng.randrange(100)),
    )


@pytest.fixture(scope="module")
def orchard(shelf: Table) -> Hand:
    """Some hundred memories of few words."""
    rng, hand = random.Random(11), hand_on(shelf)
    for number in range(220):
        remember(hand.vault, invented(rng, number), by=AGENT, propose=number % 5 == 0)
    return hand


def ranking(told: Recalled) -> list[tuple[float, list[str]]]:
    """Ids by score, best first; the order of equal ones is free, and so is which of them end it."""
    by_score: dict[float, list[str]] = {}
    for hit in told.hits:
        by_score.setdefault(round(hit.score, 5), []).append(hit.memory.id)
    ranks = [(score, sorted(ids)) for score, ids in by_score.items()]
    return ranks[:-1] if len(told.hits) == 100 else ranks


def questions(rng: random.Random) -> Iterator[Query]:
    for number in range(20):
        text = " ".join(rng.choices([*WORDS, "n3", f"n{number}"], k=rng.randrange(1, 6)))
        yield Query(text=text, limit=rng.choice([1, 8, 40]))
        yield Query(text=text, limit=8, tags=frozenset({"home"}), since=date(2025, 2, 1))
        yield Query(text=text, limit=8, types=frozenset({MemoryType.EVENT}), include_history=True)


def test_both_places_rank_alike(orchard: Hand, collection: Steered, shelf: Table) -> None:
    filled = cloud_on(shelf, collection, orchard.name)
    local = hand_on(shelf, orchard.name)  # new processes: how an index came about tells a little
    cloud = replace(filled, hand=another(filled, shelf, filled.shared))
    for _ in range(3):
        ask(cloud.hand, "what is fresh?")
        cloud.later()
    collection.calls()
    for query in questions(random.Random(5)):
        here, there = recall(local.vault, query), recall(cloud.hand.vault, query)
        assert ranking(here) == ranking(there)
        assert not there.stand_in
    assert set(collection.calls()) == {"msearch"}


def another(cloud: Cloud, shelf: Table, shared: Collection) -> Hand:
    """Another process at the same vault."""
    embedder, watch = cloud.hand.embedder, cloud.watch
    return hand_on(
        shelf, cloud.hand.name, clock=watch, embedder=embedder,
        index=lambda: asking(shared, embedder, watch),
    )  # fmt: skip


# ---- what the collection may do


def fastened(cloud: Cloud) -> None:
    """With something to be found, all of it shown, nothing fresh."""
    say(cloud.hand, "Anna plays the violin")
    say(cloud.hand, "Ben rides a horse")
    for _ in range(3):
        cloud.later()
        ask(cloud.hand, "violin")
    cloud.steered.calls()


def test_both_searches_of_a_recall_go_in_one_call(cloud: Cloud) -> None:
    fastened(cloud)
    assert found(cloud.hand, "who plays violin") == ["Anna plays the violin"]
    assert cloud.steered.calls() == ["msearch"]


def test_where_they_cannot_go_in_one_call_two_are_made(cloud: Cloud) -> None:
    fastened(cloud)
    cloud.steered.behave(refused=["msearch"])
    for _ in range(2):
        assert found(cloud.hand, "who plays violin") == ["Anna plays the violin"]
    assert cloud.steered.calls() == ["", "search", "search", "search", "search"]
    assert not ask(cloud.hand, "violin").stand_in


def test_asleep_the_copy_in_the_process_answers_in_time_and_says_so(
    shelf: Table, collection: Steered
) -> None:
    """It would take 30 s to wake, which an HTTP API waits for at most."""
    assert aws_search_index.CONNECT + aws_search_index.READ <= 2.5
    fastened(cloud_on(shelf, collection, "sleeper"))
    cloud = cloud_on(shelf, collection, "sleeper", read=aws_search_index.READ, pause=600.0)
    ask(cloud.hand, "what is fresh?")
    collection.calls()
    collection.behave(wake_seconds=30)
    collection.sleep()
    began = time.monotonic()
    told = ask(cloud.hand, "who plays violin")
    assert time.monotonic() - began < 20
    assert (told.mode, told.stand_in) == (RecallMode.HYBRID, True)
    assert [hit.memory.content for hit in told.hits] == ["Anna plays the violin"]
    assert collection.calls() == ["msearch"]
    assert ask(cloud.hand, "who plays violin").stand_in
    assert collection.calls() == [], "it is left alone while it wakes"
    say(cloud.hand, "Kim bakes bread")
    assert found(cloud.hand, "bread") == ["Kim bakes bread"]


def test_awake_again_it_is_asked_and_brought_up_to_date(cloud: Cloud) -> None:
    fastened(cloud)
    cloud.steered.behave(wake_seconds=600, wake_status=503)
    cloud.steered.sleep()
    assert ask(cloud.hand, "who plays violin").stand_in
    say(cloud.hand, "Kim bakes bread")
    assert jobs.lag(cloud.hand.vault) == 1
    cloud.steered.behave(wake_seconds=0)
    cloud.steered.sleep()
    assert not ask(cloud.hand, "who plays violin").stand_in
    cloud.later()
    assert jobs.work_off(cloud.hand.vault) == 1
    assert (jobs.lag(cloud.hand.vault), _held(cloud)) == (0, 3)


@pytest.mark.parametrize("status", [429, 500, 503, 403])
def test_a_refusal_is_answered_by_the_copy_in_the_process(cloud: Cloud, status: int) -> None:
    fastened(cloud)
    cloud.steered.behave(faults=[{"status": status, "api": "msearch", "times": 1}])
    if status != 403:
        assert ask(cloud.hand, "who plays violin").stand_in
    told = ask(cloud.hand, "who plays violin")
    assert not told.stand_in
    assert [hit.memory.content for hit in told.hits] == ["Anna plays the violin"]


def test_a_wrong_signature_is_answered_by_the_copy_in_the_process(
    shelf: Table, collection: Steered
) -> None:
    cloud = cloud_on(shelf, collection)
    fastened(cloud)
    send = aws_search_index.signed(collection.address, session=session("wrong"))
    embedder = cloud.hand.embedder
    shared = Collection(
        send, vault=collection.address, model=embedder.model, dims=embedder.dims, pause=0
    )
    assert shared.name == cloud.shared.name
    other = another(cloud, shelf, shared)
    told = ask(other, "who plays violin")
    assert (told.stand_in, len(told.hits)) == (True, 1)


def test_an_index_that_somebody_has_deleted_is_made_and_filled_again(cloud: Cloud) -> None:
    fastened(cloud)
    cloud.steered.send()("DELETE", f"/{cloud.shared.name}", repeatable=False)
    assert found(cloud.hand, "who plays violin") == ["Anna plays the violin"]
    say(cloud.hand, "Kim bakes bread")
    assert found(cloud.hand, "who plays violin") == ["Anna plays the violin"]
    for _ in range(4):
        index_step(cloud.hand.vault)
        cloud.later()
    assert _held(cloud) == 3
    assert not rebuild.progress(cloud.hand.vault).running


@pytest.mark.parametrize("status", [429, 503])
def test_documents_it_is_too_busy_for_are_sent_again(cloud: Cloud, status: int) -> None:
    cloud.steered.behave(faults=[{"status": status, "items": 1, "times": 2}])
    bring(cloud.hand, "Anna plays the violin", "Ben rides a horse", "Kim bakes bread")
    assert jobs.lag(cloud.hand.vault) == 0
    assert _held(cloud) == 3


def test_documents_it_stays_too_busy_for_wait(shelf: Table, collection: Steered) -> None:
    cloud = cloud_on(shelf, collection, patience=0.2)
    cloud.steered.behave(faults=[{"status": 429, "items": 1, "times": 1000}])
    bring(cloud.hand, "Anna plays the violin", "Ben rides a horse")
    assert jobs.lag(cloud.hand.vault) == 1
    assert sorted(found(cloud.hand, "who plays or rides")) == [
        "Anna plays the violin",
        "Ben rides a horse",
    ]
    cloud.steered.behave(faults=[])
    cloud.later()
    jobs.work_off(cloud.hand.vault)
    assert (jobs.lag(cloud.hand.vault), _held(cloud)) == (0, 2)


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 0, "api": "bulk"},  # done, but the answer is lost
        {"status": 503, "api": "bulk"},
        {"status": 429, "api": "bulk", "times": 1000},
    ],
)
def test_a_write_without_an_answer_is_made_up_for(
    shelf: Table, collection: Steered, fault: dict[str, object]
) -> None:
    cloud = cloud_on(shelf, collection, patience=0.2)
    say(cloud.hand, "Ben rides a horse")
    collection.behave(faults=[fault])
    say(cloud.hand, "Anna plays the violin")
    assert jobs.lag(cloud.hand.vault) == 1
    assert _held(cloud) == (1 if fault["status"] else 2)
    assert found(cloud.hand, "who plays violin") == ["Anna plays the violin"]
    collection.behave(faults=[])
    cloud.later()
    assert jobs.work_off(cloud.hand.vault) == 1
    assert _held(cloud) == 2


def _held(cloud: Cloud) -> int:
    """Documents in the collection."""
    cloud.steered.show()
    found, _ = cloud.shared.documents(after="", limit=1000)
    return len(found)


def test_ghosts_and_doubles_in_the_collection_cost_nothing(cloud: Cloud) -> None:
    fastened(cloud)
    memory = say(cloud.hand, "Anna practises the violin every evening")
    generation = cloud.hand.store.head().generation
    doubled = row(memory.id, ["violin"], cloud.hand.embedder.query("violin").vector, dims=256)
    ghosts = [replace(doubled, id=f"mem_ghost{n}") for n in range(210)]
    cloud.shared.add([doubled, doubled, *ghosts], generation=generation)
    for _ in range(3):
        cloud.later()
        ask(cloud.hand, "bread")
    cloud.steered.calls()
    told = ask(cloud.hand, "violin")
    assert cloud.steered.calls() == ["msearch"]
    assert (len(told.hits), told.stand_in) == (2, False)
    assert ranking(told) == ranking(recall(hand_on(cloud.hand.table, cloud.hand.name).vault,
                                           Query(text="violin")))  # fmt: skip
    rebuild.begin(cloud.hand.vault, reembed=False)
    for _ in range(6):
        index_step(cloud.hand.vault)
        cloud.later()
    assert not rebuild.progress(cloud.hand.vault).running
    assert _held(cloud) == 3, "a rebuild sweeps them out"


def test_writes_show_late_and_are_found_all_the_same(cloud: Cloud) -> None:
    fastened(cloud)
    cloud.steered.behave(visible_after=60)
    memory = say(cloud.hand, "Kim bakes bread")
    assert found(cloud.hand, "who bakes") == ["Kim bakes bread"]
    forget(cloud.hand, memory.id)
    assert found(cloud.hand, "who bakes") == []


def test_a_rebuild_in_another_index_leaves_none_of_the_old_one(
    shelf: Table, collection: Steered
) -> None:
    cloud = cloud_on(shelf, collection)
    fastened(cloud)
    hand, watch = cloud.hand, cloud.watch
    hand.embedder.model = "words/2"
    shared = Collection(
        collection.send(), vault=collection.address, model="words/2", dims=hand.embedder.dims
    )
    other = another(cloud, shelf, shared)
    assert found(other, "who plays violin") == ["Anna plays the violin"]
    for _ in range(4):
        index_step(other.vault)
        watch.wait(LATER)
        collection.show()
    send = collection.send()
    assert send("HEAD", f"/{cloud.shared.name}", repeatable=True).status == 404
    assert found(other, "who plays violin") == ["Anna plays the violin"]
    assert len(shared.documents(after="", limit=10)[0]) == 2


def test_a_forgotten_memory_leaves_nothing_in_the_collection(cloud: Cloud) -> None:
    memory = say(cloud.hand, "Anna plays the violin")
    assert _held(cloud) == 1
    forget(cloud.hand, memory.id)
    assert _held(cloud) == 0


# ---- the collection itself


def row(id: str, terms: Sequence[str], *vectors: bytes, dims: int = 2) -> Indexed:
    made = Embedding(memory_id=id, model="m", content_hash="", dims=dims, vectors=b"".join(vectors))
    return Indexed(
        id=id, revision=1, status=Status.ACTIVE, type=MemoryType.FACT, tags=(),
        valid_on=date(2025, 1, 1), terms=dict.fromkeys(terms, 1),
        embedding=made if vectors else None,
    )  # fmt: skip


EAST = bytes.fromhex("0000803f00000000")
NORTH = bytes.fromhex("000000000000803f")
ZERO = bytes(8)


def test_a_long_memory_is_found_by_each_of_its_chunks_once(collection: Steered) -> None:
    shared = Collection(collection.send(), vault="long", model="m", dims=2)
    shared.prepare()
    shared.add([row("mem_a", ["tea"], EAST, NORTH), row("mem_b", ["tea"], EAST)], generation="g")
    sought = Sought(vector=NORTH, terms=["tea"], where=ANYWHERE, limit=5, bm25=BM25)
    told = shared.search(sought, generation="g")
    assert told is not None
    assert (told.near.ids[0], sorted(told.near.ids)) == ("mem_a", ["mem_a", "mem_b"])
    assert sorted(told.matching.ids) == ["mem_a", "mem_b"]


def test_other_generations_are_not_found(collection: Steered) -> None:
    shared = Collection(collection.send(), vault="generations", model="m", dims=2)
    shared.prepare()
    shared.add([row("mem_a", ["tea"], EAST)], generation="old")
    sought = Sought(vector=EAST, terms=["tea"], where=ANYWHERE, limit=5, bm25=BM25)
    told = shared.search(sought, generation="new")
    assert told is not None
    assert (list(told.near.ids), list(told.matching.ids)) == ([], [])


def test_a_vector_of_zeros_is_neither_sent_nor_asked_for(collection: Steered) -> None:
    shared = Collection(collection.send(), vault="zeros", model="m", dims=2)
    shared.prepare()
    added = shared.add([row("mem_a", ["tea"], ZERO)], generation="g")
    assert added["mem_a"].whole
    sought = Sought(vector=ZERO, terms=["tea"], where=ANYWHERE, limit=5, bm25=BM25)
    told = shared.search(sought, generation="g")
    assert told is not None
    assert (list(told.near.ids), list(told.matching.ids)) == ([], ["mem_a"])


def test_many_and_heavy_documents_go_in_several_calls(collection: Steered) -> None:
    shared = Collection(collection.send(read=30), vault="many", model="m", dims=2)
    shared.prepare()
    collection.behave(visible_after=60)
    collection.calls()
    many = [row(f"mem_{n}", ["tea"], EAST) for n in range(150)]
    assert all(one.whole for one in shared.add(many, generation="g").values())
    heavy = [row(f"mem_{n}", [f"w{n}x{m:07}" for m in range(330_000)]) for n in range(3)]
    assert all(one.whole for one in shared.add(heavy, generation="g").values())
    assert collection.calls() == ["bulk"] * 4


def test_two_makers_of_one_index_are_both_content(collection: Steered) -> None:
    for _ in range(2):
        Collection(collection.send(), vault="made", model="m", dims=2).prepare()
    assert collection.calls() == ["read_index", "create_index", "read_index"]


def test_each_vault_and_model_has_an_index_of_its_own() -> None:
    names = {
        index_name(vault, model, dims)
        for vault in ("personal", "Personal", "work")
        for model in ("a", "b")
        for dims in (2, 3)
    }
    assert len(names) == 12
    assert all(name == name.lower() for name in names)


# ---- opening it


def open_at(address: str, tmp_path: Path, *, instead: str = "") -> object:
    return aws_search_index.open(
        address, FileBlobs(tmp_path), "index.snapshot", vault="personal", model="m", dims=2,
        instead=instead,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("address", "instead"),
    [
        ("http://abc.aoss.eu-west-1.on.aws", ""),
        ("https://abc.aoss.eu-west-1.on.aws", "https://search.example"),
        ("https://abc.aoss.eu-west-1.on.aws", "http://10.0.0.1:9300"),
    ],
)
def test_only_this_machine_may_stand_in_for_the_collection(
    address: str, instead: str, tmp_path: Path
) -> None:
    with pytest.raises(Invalid):
        open_at(address, tmp_path, instead=instead)


@pytest.mark.parametrize(
    ("address", "region"),
    [
        ("https://abc.aoss.eu-west-1.on.aws", "eu-west-1"),
        ("https://abc.us-east-2.aoss.amazonaws.com", "us-east-2"),
        ("http://127.0.0.1:9300", ""),
        ("https://search.example", ""),
    ],
)
def test_the_region_is_read_from_the_address(address: str, region: str) -> None:
    assert aws_search_index.region_of(address) == region


def test_what_was_saved_is_opened_in_both_places(tmp_path: Path) -> None:
    index = local_search_index.open(FileBlobs(tmp_path), "index.snapshot", model="m", dims=2)
    index.put([row("mem_a", ["tea"], EAST)])
    index.save()
    again = local_search_index.open(FileBlobs(tmp_path), "index.snapshot", model="m", dims=2)
    assert again.nearest(EAST, where=ANYWHERE, limit=5) == ["mem_a"]
    there = open_at("https://abc.aoss.eu-west-1.on.aws", tmp_path, instead="http://127.0.0.1:9")
    assert getattr(there, "nearest")(EAST, where=ANYWHERE, limit=5) == ["mem_a"]  # noqa: B009
