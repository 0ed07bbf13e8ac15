"""Another writer comes between the look and the commit: one order, and everything still fits."""

import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from keeproom.aws.memory_store import DynamoTable
from keeproom.engines.item_store.table import Table
from keeproom.errors import (
    Conflict,
    Duplicate,
    NotFound,
    Unavailable,
    VaultError,
    WrongState,
)
from keeproom.vault.model import Status
from tests.contract import deeds
from tests.contract.deeds import Hand, hand_on, partition_of
from tests.contract.tables import Interrupted, fits
from tests.dynamo.paper import PaperClient
from tests.dynamo.weather import Forecast, Weather

type Deed = Callable[[Hand, str, str], object]  # on the proposal and on an active memory

DEEDS: dict[str, Deed] = {
    "approve": lambda hand, tea, rum: deeds.approve(hand, tea),
    "reject": lambda hand, tea, rum: deeds.reject(hand, tea),
    "forget": lambda hand, tea, rum: deeds.forget(hand, tea),
    "edit": lambda hand, tea, rum: deeds.edit(hand, tea, "beer", revision=1),
    "edit otherwise": lambda hand, tea, rum: deeds.edit(hand, tea, "ale", revision=1),
    "say beer": lambda hand, tea, rum: deeds.remember(hand, "beer"),
    "say beer too": lambda hand, tea, rum: deeds.remember(hand, "Beer"),
    "bring ale": lambda hand, tea, rum: deeds.import_one(hand, "bat_1", 0, "ale"),
    "bring beer": lambda hand, tea, rum: deeds.import_one(hand, "bat_1", 0, "beer"),
    "replace": lambda hand, tea, rum: deeds.remember(
        replace(hand, auto=True), "gin", supersedes=rum
    ),
    "forget rum": lambda hand, tea, rum: deeds.forget(hand, rum),
    "undo": lambda hand, tea, rum: deeds.undo(hand, "bat_0"),
}


def saying(hand: Hand) -> Callable[[str], object]:
    return lambda text: outcome(lambda: deeds.remember(hand, text))


def outcome(deed: Callable[[], object]) -> object:
    try:
        deed()
    except VaultError as error:
        return type(error)
    return "done"


@pytest.mark.parametrize("first", DEEDS)
def test_whatever_comes_between_there_was_one_order(
    request: pytest.FixtureRequest, table: Table, first: str
) -> None:
    slow = "dynamo" in request.node.name  # the emulator does every fourth pair
    for second in [one for one in DEEDS if one != first][:: 4 if slow else 1]:
        told = between(table, first, second)
        assert told == expected(first, second), (first, second)


def between(table: Table, first: str, second: str) -> tuple[object, object]:
    """What the second and the first were told, when the second came first after all."""
    here = hand_on(table, auto=False)
    door = Interrupted(table)
    mine = hand_on(door, here.vault, auto=False)
    rum = deeds.remember(replace(here, auto=True), "rum").id
    deeds.import_one(here, "bat_0", 0, "wine")
    tea = deeds.remember(here, "tea").id
    mine.store.head()
    told: list[object] = []
    door.act = lambda: told.append(outcome(lambda: DEEDS[second](here, tea, rum)))
    told.append(outcome(lambda: DEEDS[first](mine, tea, rum)))
    fits(table, partition_of(here))
    assert here.store.audit_faults() == []
    second_told, first_told = told
    return second_told, first_told


def expected(first: str, second: str) -> tuple[object, object]:
    """The second finds nobody in its way; the first finds what the second has done."""
    on_tea = {"approve", "reject", "forget", "edit", "edit otherwise"}
    if {first, second} <= on_tea:
        return "done", _after(first, second)
    if second == "forget rum" and first == "replace":
        return "done", NotFound
    if second == "replace" and first == "forget rum":
        return "done", "done"
    beer = {"edit", "say beer", "say beer too", "bring beer"}
    if {first, second} <= beer and first != "bring beer":
        return "done", Duplicate
    if {first, second} == {"edit otherwise", "bring ale"} and first == "edit otherwise":
        return "done", Duplicate
    return "done", "done"


def _after(first: str, second: str) -> object:
    """Both on one proposal."""
    if second == "forget":
        return NotFound
    if first.startswith("edit"):
        return Conflict
    if first in ("approve", "reject") and second in ("approve", "reject"):
        return WrongState
    return "done"


def test_writers_at_once_lose_and_double_nothing(hand: Hand) -> None:
    texts = [f"fact {n}" for n in range(16)] + ["same"] * 8
    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(saying(hand), texts))

    found = [memory.content for memory in hand.store.memories(limit=99).items]
    assert sorted(found) == sorted({*texts})
    assert told.count(Duplicate) == 7
    assert hand.store.audit_faults() == []
    fits(hand.table, partition_of(hand))


def test_one_decision_of_several_at_once_is_the_last(reviewing: Hand) -> None:
    for n in range(4):
        new = deeds.remember(reviewing, f"fact {n}").id
        verbs = (deeds.approve, deeds.forget, deeds.reject, deeds.forget)
        with ThreadPoolExecutor(4) as pool:
            jobs = [
                pool.submit(outcome, lambda verb=verb, new=new: verb(reviewing, new))
                for verb in verbs
            ]
        approved, forgotten, rejected, gone = (job.result() == "done" for job in jobs)
        assert forgotten + gone == 1
        assert not (approved and rejected)
    assert reviewing.store.memories().items == ()
    fits(reviewing.table, partition_of(reviewing))


# ---- what only DynamoDB does to a writer

STORMS = {
    "conflicts": Forecast(),
    "throttling": Forecast(throttle=0.1),
    "lost answers": Forecast(lost=0.1),
    "broken connections": Forecast(reset=0.1),
    "everything": Forecast(throttle=0.05, lost=0.05, reset=0.05),
}


@pytest.mark.parametrize("storm", STORMS)
def test_every_writer_in_a_storm_is_told_the_truth(storm: str) -> None:
    weather = Weather(PaperClient(portion=40), STORMS[storm])
    hand = hand_on(DynamoTable(weather, "vault"))
    texts = [f"fact {n}" for n in range(96)]
    with ThreadPoolExecutor(16) as pool:
        told = list(pool.map(saying(hand), texts))

    assert told == ["done"] * 96, weather.seen
    calm = hand_on(DynamoTable(weather.client, "vault"), hand.vault)
    assert sorted(one.content for one in calm.store.memories(limit=99).items) == sorted(texts)
    assert sum(calm.store.position().counts) == 96
    assert calm.store.audit_faults() == []
    fits(calm.table, partition_of(calm))
    for befell in {"conflicts": ["conflict"], "everything": ["throttle", "lost", "reset"]}.get(
        storm, []
    ):
        assert weather.seen[befell], "there was no storm"


def test_sixty_four_writers_of_as_many_texts_store_them_all() -> None:
    weather = Weather(PaperClient())
    hand = hand_on(DynamoTable(weather, "vault"))
    with ThreadPoolExecutor(64) as pool:
        jobs = [pool.submit(deeds.remember, hand, f"fact {n}") for n in range(64)]
        ids = {job.result().id for job in jobs}

    assert {memory.id for memory in hand.store.memories(limit=99).items} == ids
    assert len(ids) == 64
    assert weather.seen["conflict"], "they never met"


def test_sixty_four_writers_of_one_text_store_it_once() -> None:
    hand = hand_on(DynamoTable(Weather(PaperClient()), "vault"))
    with ThreadPoolExecutor(64) as pool:
        told = list(pool.map(saying(hand), ["same"] * 64))

    assert (told.count("done"), told.count(Duplicate)) == (1, 63)
    assert len(hand.store.memories().items) == 1
    assert sum(hand.store.position().counts) == 1


def test_an_index_follows_commits_that_become_visible_bit_by_bit() -> None:
    weather = Weather(PaperClient(torn=0.01))
    hand = hand_on(DynamoTable(weather, "vault"))
    start = since = hand.store.position()
    known: set[str] = set()
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(deeds.remember, hand, f"fact {n}") for n in range(24)]
        while not all(job.done() for job in jobs):
            found = hand.store.changes(since)
            assert found
            since = found[0]
            known |= found[1]
        ids = {job.result().id for job in jobs}
    last = hand.store.changes(since)
    assert last
    assert known | last[1] == ids
    assert hand.store.changes(start) == (last[0], frozenset(ids))
    assert hand.store.audit_faults() == []


def test_a_table_that_never_answers_is_told_as_such() -> None:
    hand = hand_on(DynamoTable(PaperClient(), "vault"))
    client = Weather(PaperClient(), Forecast(reset=1.0))

    with pytest.raises(Unavailable):
        DynamoTable(client, "vault", patience=0.05).get([("pk", "sk#1")])
    with pytest.raises(Unavailable):
        DynamoTable(client, "vault", patience=0.05).load([{"pk": "pk", "sk": "sk#1"}])
    assert hand.store.memories(status=Status.PROPOSED).items == ()


def test_an_answer_that_stays_lost_is_not_told_as_nothing_stored() -> None:
    paper, vault = PaperClient(), uuid.uuid4().hex
    hand = hand_on(DynamoTable(paper, "vault"), vault)
    deaf = DynamoTable(Weather(paper, Forecast(lost=1.0)), "vault", patience=0.05)
    lost = hand_on(deaf, vault)

    with pytest.raises(Unavailable, match="may or may not"):
        deeds.remember(lost, "tea")
    assert [memory.content for memory in hand.store.memories().items] == ["tea"]
