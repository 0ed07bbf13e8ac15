"""What only DynamoDB does to writers: conflicts, throttling, lost answers, broken connections."""

import uuid
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import pytest

from keeproom.aws.memory_store import DynamoTable
from keeproom.engines.item_store.table import Table
from keeproom.errors import NotFound, Unavailable, VaultError, WrongState
from keeproom.vault import imports, jobs, review
from keeproom.vault.batch import BatchState, ImportItem, Skipped, Stored
from keeproom.vault.forget import forget
from keeproom.vault.model import OWNER, Status
from keeproom.vault.recall import Query, recall
from keeproom.vault.remember import remember
from tests.contract.hands import AGENT, Hand, hand_on, reword, say
from tests.contract.tables import fits
from tests.dynamo.paper import PaperClient
from tests.dynamo.weather import Forecast, Weather

STORMS = {
    "conflicts": Forecast(write=(0.02, 0.04)),
    "throttling": Forecast(throttle=0.1),
    "lost answers": Forecast(lost=0.1),
    "broken connections": Forecast(reset=0.1),
    "everything": Forecast(throttle=0.08, lost=0.08, reset=0.08),
}


class Coast(NamedTuple):
    """Several processes at one vault, in the weather, and one that looks on from the dry."""

    weather: Weather
    hands: list[Hand]
    dry: Hand


def coast(forecast: Forecast, *, processes: int = 4, auto: bool = True) -> Coast:
    weather = Weather(PaperClient(portion=40), forecast)
    dry = hand_on(DynamoTable(weather.client, "vault"), auto=auto)
    table = DynamoTable(weather, "vault", patience=60.0)
    hands = [hand_on(table, dry.name, clock=dry.clock) for _ in range(processes)]
    return Coast(weather, hands, dry)


def told(hand: Hand, text: str) -> object:
    """Whether it was stored; the memory in whose place it was not; or the error."""
    try:
        found = remember(hand.vault, ImportItem(content=text), by=AGENT)
    except VaultError as error:
        return type(error)
    return Stored if isinstance(found.outcome, Stored) else found.outcome


def whole(hand: Hand) -> list[str]:
    """The texts of a vault in which everything fits."""
    assert hand.store.audit_faults() == []
    fits(hand.table, hand.partition)
    return sorted(memory.content for memory in hand.store.memories(limit=999).items)


@pytest.mark.parametrize("storm", STORMS)
def test_every_writer_in_a_storm_is_told_the_truth(storm: str) -> None:
    weather, hands, dry = coast(STORMS[storm])
    texts = [f"fact {n}" for n in range(64)]
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(told, hands * 16, texts))

    assert answers == [Stored] * 64, weather.seen
    assert whole(dry) == sorted(texts)
    assert sum(dry.store.position().counts) == 64
    for befell in {"conflicts": ["conflict"], "everything": ["throttle", "lost", "reset"]}.get(
        storm, []
    ):
        assert weather.seen[befell], "there was no storm"


@pytest.mark.parametrize("storm", ["conflicts", "everything"])
def test_one_text_said_by_all_at_once_is_one_memory_in_a_storm(storm: str) -> None:
    _, hands, dry = coast(STORMS[storm])
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(told, hands * 4, ["same"] * 16))

    assert whole(dry) == ["same"]
    (memory,) = dry.store.memories().items
    assert answers.count(Stored) == 1
    others = [one for one in answers if isinstance(one, Skipped)]
    assert {one.by for one in others} == {memory.id}
    assert len(others) == 15
    assert sum(dry.store.position().counts) == 1


def test_sixty_four_writers_of_as_many_texts_store_them_all() -> None:
    weather, hands, dry = coast(Forecast(write=(0.03, 0.06)))
    texts = [f"fact {n}" for n in range(64)]
    with ThreadPoolExecutor(64) as pool:
        answers = list(pool.map(told, hands * 16, texts))

    assert answers == [Stored] * 64
    assert whole(dry) == sorted(texts)
    assert weather.seen["conflict"], "they never met"


def test_sixty_four_writers_of_one_text_store_it_once() -> None:
    _, hands, dry = coast(Forecast())
    with ThreadPoolExecutor(64) as pool:
        answers = list(pool.map(told, hands * 16, ["same"] * 64))

    assert answers.count(Stored) == 1
    assert sum(isinstance(one, Skipped) for one in answers) == 63
    assert whole(dry) == ["same"]
    assert sum(dry.store.position().counts) == 1


@pytest.mark.parametrize("storm", ["conflicts", "everything"])
def test_decisions_at_once_have_one_order_in_a_storm(storm: str) -> None:
    """Approve and reject exclude each other; what is forgotten is gone, whoever came first."""
    _, hands, dry = coast(STORMS[storm], auto=False)
    ids = [say(dry, f"fact {n}").id for n in range(8)]
    verbs = [review.approve, review.reject, forget]
    works = [(verb, one) for one in ids for verb in (verbs if one < ids[4] else verbs[:2])]

    def decide(hand: Hand, work: tuple[object, str]) -> type[VaultError] | None:
        verb, memory_id = work
        assert callable(verb)
        try:
            verb(hand.vault, memory_id, by=OWNER)
        except VaultError as error:
            return type(error)
        return None

    with ThreadPoolExecutor(16) as pool:
        answers = dict(zip(works, pool.map(decide, hands * 16, works), strict=False))
    left = {memory.id: memory for memory in dry.store.memories().items}
    for one in ids:
        approved, rejected = (answers[verb, one] for verb in verbs[:2])
        done = [approved, rejected].count(None)
        if one < ids[4]:
            assert answers[forget, one] is None
            assert one not in left
            assert done <= 1
            assert {approved, rejected} <= {None, NotFound, WrongState}
        else:
            assert {approved, rejected} == {None, WrongState}
            wanted = Status.ACTIVE if approved is None else Status.REJECTED
            assert left[one].status is wanted
    whole(dry)


def test_an_import_in_a_storm_by_several_workers_stores_each_text_once() -> None:
    _, hands, dry = coast(STORMS["everything"])
    texts = [f"item number {n}x" for n in range(40)]
    batch = imports.begin(dry.vault, [ImportItem(content=text) for text in texts], by=OWNER)
    with ThreadPoolExecutor(4) as pool:
        work = [pool.submit(imports.carry_on, hand.vault, batch.id) for hand in hands]
        done = [job.result() for job in work]

    assert {(one.state, one.stored) for one in done} == {(BatchState.DONE, 40)}
    assert whole(dry) == sorted(texts)


def test_an_index_follows_commits_that_become_visible_bit_by_bit() -> None:
    table = DynamoTable(Weather(PaperClient(torn=0.02)), "vault")
    writer = hand_on(table)
    reader = hand_on(table, writer.name, clock=writer.clock, settling=1.0)
    first, then = ([f"{word} {n}" for n in range(16)] for word in ("first", "then"))
    with ThreadPoolExecutor(4) as pool:
        ids = [memory.id for memory in pool.map(partial(say, writer), first)]
        done = [pool.submit(reword, writer, *one) for one in zip(ids, then, strict=True)]
        while not all(job.done() for job in done):
            jobs.catch_up(reader.vault)
        for job in done:
            job.result()

    told = recall(reader.vault, Query(text="then", limit=99))
    assert sorted(hit.memory.content for hit in told.hits) == sorted(then)
    assert recall(reader.vault, Query(text="first", limit=99)).hits == ()
    fresh = hand_on(table, writer.name, clock=writer.clock, settling=1.0)
    with ThreadPoolExecutor(4) as pool:
        done = [pool.submit(say, writer, f"last {n}") for n in range(16)]
        jobs.catch_up(fresh.vault)
        for job in done:
            job.result()
    assert len(recall(fresh.vault, Query(text="last", limit=99)).hits) == 16
    assert whole(writer) == sorted([*then, *(f"last {n}" for n in range(16))])


def test_a_table_that_never_answers_is_told_as_such() -> None:
    hand = hand_on(DynamoTable(PaperClient(), "vault"))
    client = Weather(PaperClient(), Forecast(reset=1.0))

    with pytest.raises(Unavailable):
        DynamoTable(client, "vault", patience=0.05).get([("pk", "sk#1")])
    with pytest.raises(Unavailable):
        DynamoTable(client, "vault", patience=0.05).load([{"pk": "pk", "sk": "sk#1"}])
    assert hand.store.memories(status=Status.PROPOSED).items == ()


def test_an_answer_that_stays_lost_is_not_told_as_nothing_stored() -> None:
    paper, name = PaperClient(), uuid.uuid4().hex
    hand = hand_on(DynamoTable(paper, "vault"), name)
    deaf = DynamoTable(Weather(paper, Forecast(lost=1.0)), "vault", patience=0.05)

    with pytest.raises(Unavailable, match="may or may not"):
        say(hand_on(deaf, name), "tea")
    assert [memory.content for memory in hand.store.memories().items] == ["tea"]


def test_who_asks_again_after_a_lost_answer_is_answered_as_the_first_time(paper: Table) -> None:
    client = PaperClient()
    hand = hand_on(DynamoTable(client, "vault"))
    deaf = DynamoTable(Weather(client, Forecast(lost=1.0)), "vault", patience=0.05)
    item, lost = ImportItem(content="tea"), hand_on(deaf, hand.name)
    with pytest.raises(Unavailable):
        remember(lost.vault, item, by=AGENT, request_id="r1")

    again = remember(hand.vault, item, by=AGENT, request_id="r1")
    assert isinstance(again.outcome, Stored)
    assert whole(hand) == ["tea"]
