"""The index of the process that writes has the change at once, without reading it back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from keeproom.engines.item_store.table import Step
from keeproom.vault import jobs, review
from keeproom.vault.model import OWNER
from keeproom.vault.recall import Query, recall
from tests.contract.hands import Hand, forget, hand_on, reword, say
from tests.contract.tables import Interrupted, Through, fits

VERBS: dict[str, Callable[[Hand, str], object]] = {
    "remember": lambda hand, _: say(hand, "boat"),
    "supersede": lambda hand, tea: say(hand, "boat", supersedes=tea),
    "edit": lambda hand, tea: reword(hand, tea, "boat"),
    "approve": lambda hand, tea: review.approve(hand.vault, tea, by=OWNER),
    "reject": lambda hand, tea: review.reject(hand.vault, tea, by=OWNER),
    "forget": forget,
}


def found(hand: Hand, text: str) -> list[str]:
    hits = recall(hand.vault, Query(text=text, limit=99)).hits
    return sorted(hit.memory.content for hit in hits)


@pytest.mark.parametrize("verb", VERBS)
def test_nothing_is_read_back_after_a_commit(reviewing: Hand, verb: str) -> None:
    table = Interrupted(reviewing.table)
    hand = hand_on(table, reviewing.name, clock=reviewing.clock)
    tea = say(hand, "tea", supersedes="")
    if verb == "supersede":
        review.approve(hand.vault, tea.id, by=OWNER)
    found(hand, "tea")
    table.calls.clear()

    VERBS[verb](hand, tea.id)
    assert table.calls[-1] == "transact"
    behind = hand_on(reviewing.table, reviewing.name, clock=reviewing.clock)
    for text in ("tea", "boat"):
        assert found(hand, text) == found(behind, text)
    assert jobs.lag(hand.vault) == 0
    fits(reviewing.table, reviewing.partition)


@dataclass
class Overtaken(Through):
    """Somebody else acts between a commit and whatever its writer does next, once."""

    act: Callable[[], object] | None = None

    def transact(self, steps: Sequence[Step]) -> None:
        self.table.transact(steps)
        act, self.act = self.act, None
        if act:
            act()


OVERTAKING: dict[str, tuple[Callable[[Hand, str], object], list[str]]] = {
    "edited": (lambda hand, one: reword(hand, one, "boat"), ["boat"]),
    "forgotten": (forget, []),
    "superseded": (lambda hand, one: say(hand, "boat", supersedes=one), ["boat"]),
}


@pytest.mark.parametrize("settling", [0.0, 0.05])
@pytest.mark.parametrize("how", OVERTAKING)
@pytest.mark.parametrize("by", ["a thread beside it", "another process"])
def test_who_is_overtaken_does_not_put_the_index_back(
    hand: Hand, how: str, settling: float, by: str
) -> None:
    table = Overtaken(hand.table)
    writer = hand_on(table, hand.name, clock=hand.clock, settling=settling)
    found(writer, "tea")
    other = hand if by == "another process" else writer
    act, left = OVERTAKING[how]

    def overtake() -> None:
        (memory,) = hand.store.memories().items
        act(other, memory.id)

    table.act = overtake
    say(writer, "tea")
    for _ in range(2):
        assert found(writer, "tea boat") == left
    assert jobs.lag(other.vault) == jobs.lag(writer.vault)
    fits(hand.table, hand.partition)


def test_what_a_process_did_not_live_to_take_off_the_queue_is_done_again(hand: Hand) -> None:
    say(hand, "tea")
    assert len(hand.store.jobs(due=hand.clock(), limit=9)) == 1

    another = hand_on(hand.table, hand.name, clock=hand.clock)
    assert jobs.work_off(another.vault) == 1
    assert jobs.lag(another.vault) == 0
    assert found(another, "tea") == ["tea"]


def test_a_finished_job_is_taken_off_while_the_news_are_read(hand: Hand) -> None:
    table = Interrupted(hand.table)
    writer = hand_on(table, hand.name, clock=hand.clock)
    found(writer, "tea")
    say(writer, "tea")

    table.calls.clear()
    found(writer, "tea")
    assert table.calls.count("transact") == 1
    assert hand.store.jobs(due=hand.clock(), limit=9) == []
