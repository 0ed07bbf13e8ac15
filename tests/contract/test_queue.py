"""Telling of work and doing it, in every place: a thread on this machine, a queue on AWS."""

import random
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

import pytest

from keeproom.aws import queue as on_aws
from keeproom.clock import tries
from keeproom.engines.item_store.table import Table
from keeproom.errors import Invalid
from keeproom.local.queue import Worker
from keeproom.vault import imports, jobs
from keeproom.vault.batch import Batch, BatchState, ImportItem
from keeproom.vault.model import OWNER
from keeproom.vault.work import INDEX, Kind, Task, Wake, import_of, message_of, task_of, work
from tests.contract.hands import Hand, hand_on, say
from tests.contract.tables import fits
from tests.sqs import EmulatedQueue, new_queue

type Bring = Callable[[], object]  # lets the place do what it was told of
type Place = Callable[[Hand], AbstractContextManager[tuple[Wake, Bring]]]


class Told(NamedTuple):
    """Somebody at a vault, and the worker of the place."""

    hand: Hand
    wake: Wake
    bring: Bring


@pytest.fixture
def table(sqlite: Table) -> Table:
    """The queue is what differs here."""
    return sqlite


@pytest.fixture
def emulated(endpoint: str, aws_keys: None) -> EmulatedQueue:
    return new_queue(endpoint)


@contextmanager
def thread(hand: Hand) -> Generator[tuple[Wake, Bring]]:
    worker = Worker(hand.vault)
    worker.start()
    try:
        yield worker.wake, lambda: None
    finally:
        worker.stop()


def on_sqs(queue: EmulatedQueue) -> Place:
    @contextmanager
    def place(hand: Hand) -> Generator[tuple[Wake, Bring]]:
        def function(body: str) -> None:
            work(hand.vault, task_of(body), seconds=0.2, again=queue.queue.wake)

        yield queue.queue.wake, lambda: queue.bring(function)

    return place


@pytest.fixture(params=["thread", "sqs"])
def told(request: pytest.FixtureRequest, hand: Hand) -> Iterator[Told]:
    place = thread if request.param == "thread" else on_sqs(request.getfixturevalue("emulated"))
    with place(hand) as (wake, bring):
        yield Told(hand, wake, bring)


def begun(hand: Hand, texts: int = 24) -> Batch:
    items = [ImportItem(content=f"Fact number {n} of {random.random()}") for n in range(texts)]
    return imports.begin(hand.vault, items, by=OWNER)


def ended(hand: Hand, batch: Batch, bring: Bring) -> Batch:
    found = batch
    for _ in tries(60.0):
        bring()
        found = imports.found(hand.vault, batch.id)
        if found.state is not BatchState.RUNNING:
            break
    return found


def test_an_import_that_is_told_of_is_gone_on_with_to_its_end(told: Told) -> None:
    hand, wake, bring = told
    batch = begun(hand)
    wake(import_of(batch.id))

    done = ended(hand, batch, bring)
    assert (done.state, done.stored) == (BatchState.DONE, 24)
    fits(hand.table, hand.partition)


def test_two_imports_told_of_twice_each_and_in_any_order_store_each_text_once(told: Told) -> None:
    hand, wake, bring = told
    first, second = begun(hand), begun(hand)
    for batch in (second, first, second, first):
        wake(import_of(batch.id))

    assert [ended(hand, batch, bring).stored for batch in (first, second)] == [24, 24]
    wake(import_of(first.id))
    bring()
    assert imports.found(hand.vault, first.id).stored == 24
    fits(hand.table, hand.partition)


def test_what_lacks_its_embedding_is_embedded_when_the_index_is_told_of(told: Told) -> None:
    hand, wake, bring = told
    hand.embedder.down = True
    tea = say(hand, "tea")
    hand.embedder.down = False
    wake(INDEX)

    for _ in tries(60.0):
        bring()
        if jobs.lag(hand.vault) == 0:
            break
    assert set(hand.store.embeddings([tea.id])) == {tea.id}


def test_a_batch_that_is_gone_holds_nobody_up(told: Told) -> None:
    hand, wake, bring = told
    batch = begun(hand)
    wake(import_of("bat_0000"))
    wake(import_of(batch.id))

    assert ended(hand, batch, bring).state is BatchState.DONE


# ---- the function that works


def test_who_runs_out_of_time_tells_of_the_rest(hand: Hand) -> None:
    batch, rest = begun(hand, 40), list[Task]()
    work(hand.vault, import_of(batch.id), seconds=0.01, again=rest.append)

    assert rest == [import_of(batch.id)]
    assert 0 < imports.found(hand.vault, batch.id).position < 40
    for turn in range(100):
        if turn == len(rest):
            break
        work(hand.vault, rest[turn], seconds=0.01, again=rest.append)
    assert imports.found(hand.vault, batch.id).state is BatchState.DONE


def test_several_workers_at_one_import_store_each_text_once(hand: Hand) -> None:
    batch = begun(hand, 60)
    hands = [hand_on(hand.table, hand.name, clock=hand.clock) for _ in range(4)]

    def go_on(one: Hand) -> None:
        work(one.vault, import_of(batch.id), seconds=60.0, again=lambda _: None)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(go_on, hands))
    assert imports.found(hand.vault, batch.id).stored == 60
    fits(hand.table, hand.partition)


def test_an_undo_that_was_cut_off_is_gone_on_with(hand: Hand) -> None:
    batch = begun(hand, 40)
    imports.carry_on(hand.vault, batch.id)

    class CutOff(BaseException):
        pass

    calls = iter(range(100))

    def clock() -> datetime:
        if next(calls) > 4:
            raise CutOff
        return hand.clock()

    with pytest.raises(CutOff):
        imports.undo(replace(hand.vault, clock=clock), batch.id, by=OWNER)
    assert imports.found(hand.vault, batch.id).state is BatchState.UNDOING
    work(hand.vault, import_of(batch.id), seconds=1.0, again=lambda _: None)
    assert imports.found(hand.vault, batch.id).state is BatchState.UNDONE


# ---- messages


@pytest.mark.parametrize("task", [INDEX, import_of("bat_1")], ids=str)
def test_a_message_names_kind_and_id_and_is_read_again(task: Task) -> None:
    assert task_of(message_of(task)) == task
    assert len(message_of(task)) < 100


POISON = [
    "",
    "null",
    "[]",
    "{}",
    "import bat_1",
    '{"kind": "import"}',
    '{"kind": "import", "id": ""}',
    '{"kind": "import", "id": 7}',
    '{"kind": "index", "id": "bat_1"}',
    '{"kind": "format", "id": "c"}',
    "[" * 50_000,
]


@pytest.mark.parametrize("body", POISON, ids=lambda body: body[:20])
def test_a_message_that_says_something_else_is_refused(body: str) -> None:
    with pytest.raises(Invalid):
        task_of(body)


def test_a_poisoned_message_is_put_aside_and_the_others_are_not(
    emulated: EmulatedQueue, hand: Hand
) -> None:
    batch = begun(hand)
    with on_sqs(emulated)(hand) as (wake, bring):
        emulated.send('{"kind": "format", "id": "c"}')
        wake(import_of(batch.id))
        assert ended(hand, batch, bring).state is BatchState.DONE
        aside = list[str]()
        for _ in tries(60.0):
            bring()
            if aside := emulated.bodies_aside():
                break
    assert aside == ['{"kind": "format", "id": "c"}']


def test_a_queue_that_cannot_be_reached_fails_nobody(
    aws_keys: None, caplog: pytest.LogCaptureFixture
) -> None:
    closed = on_aws.open("http://127.0.0.1:9/000000000000/jobs", endpoint="http://127.0.0.1:9")
    closed.wake(Task(kind=Kind.IMPORT, id="bat_1"))
    assert "could not tell" in caplog.text
