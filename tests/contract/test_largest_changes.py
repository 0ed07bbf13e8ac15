"""Whatever a verb is asked for, each of its commits fits one transaction: what is larger is an
intent that is written down and worked off in parts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from keeproom.engines.item_store.table import LIMIT, Item, Step, Table, Write
from keeproom.vault import imports, review
from keeproom.vault.batch import ImportItem
from keeproom.vault.edit import Edit, edit
from keeproom.vault.forget import forget
from keeproom.vault.model import OWNER, Memory, Status
from keeproom.vault.ports import Encoded
from keeproom.vault.remember import remember
from keeproom.vault.retention import clean_up
from keeproom.vault.review import MOST_REPLACED
from keeproom.vault.undo import undo
from tests.contract.hands import AGENT, Hand, hand_on
from tests.contract.tables import Through, fits
from tests.embedders import WordEmbedder

HEAVIEST = 4 * 1024 * 1024  # bytes of a transaction
LONGEST = 8_000  # characters of a memory
EXCERPTS = 24


@dataclass
class Weighing(Through):
    """Notes the most actions and bytes of any transaction."""

    actions: int = 0
    weight: int = 0

    def transact(self, steps: Sequence[Step]) -> None:
        self.actions = max(self.actions, len(steps))
        weight = sum(_weight(step.item) for step in steps if isinstance(step, Write))
        self.weight = max(self.weight, weight)
        self.table.transact(steps)


def _weight(item: Item) -> int:
    return sum(len(name) + len(str(value).encode()) for name, value in item.items())


class Wide(WordEmbedder):
    """As a service's model: every memory has as many vectors as any has, of 1,024 numbers."""

    def __init__(self) -> None:
        super().__init__("wide/1")
        self.dims = 1_024

    def passages(self, texts: Sequence[str]) -> Sequence[Encoded]:
        rows = (self.query(text).vector * 4 for text in texts)
        return [Encoded(vectors=row * EXCERPTS) for row in rows]


@pytest.fixture
def weighing(table: Table) -> Hand:
    return hand_on(Weighing(table), auto=False, embedder=Wide())


def long(text: str) -> str:
    """As long as a memory may be, four bytes a character."""
    return f"{text} " + "\U0001f375" * (LONGEST - len(text) - 2)


def fitted(hand: Hand) -> None:
    assert isinstance(hand.table, Weighing)
    assert hand.table.actions <= LIMIT
    assert hand.table.weight <= HEAVIEST
    fits(hand.table, hand.partition)


def test_an_import_of_the_longest_texts_and_its_undo(weighing: Hand) -> None:
    items = [ImportItem(content=long(f"fact {n}"), tags=("a", "b")) for n in range(20)]
    batch = imports.begin(weighing.vault, items, by=OWNER, propose=True)
    done = imports.carry_on(weighing.vault, batch.id)
    assert done.stored == 20
    fitted(weighing)

    members = weighing.store.memories(batch=batch.id).items
    for one in members[:3]:
        forget(weighing.vault, one.id, by=AGENT)
    assert imports.undo(weighing.vault, batch.id, by=OWNER).undone == 20
    fitted(weighing)


def test_an_approval_that_replaces_as_many_as_it_may_and_its_undo(weighing: Hand) -> None:
    hand = weighing
    old = [_active(hand, long(f"port {n} is open")) for n in range(MOST_REPLACED + 2)]
    new = remember(
        hand.vault, ImportItem(content=long("port 99 is open")), by=AGENT, supersedes=old[0].id
    ).memory
    assert len(new.similar_to) > 1

    told = review.approve(hand.vault, new.id, by=OWNER, replacing_similar=True)
    assert told.review
    assert len(told.review.replaced) > 1
    fitted(hand)
    undo(hand.vault, told.id, by=OWNER)
    fitted(hand)


ONCE = "what they all said once"


def test_the_longest_histories_lose_a_forgotten_text(weighing: Hand) -> None:
    longest_histories(weighing)
    forget(weighing.vault, _active(weighing, ONCE).id, by=OWNER)
    fitted(weighing)


def test_the_longest_histories_shortened_by_retention(weighing: Hand) -> None:
    longest_histories(weighing)
    late = replace(weighing.vault, clock=lambda: weighing.clock() + timedelta(days=366))
    assert clean_up(late).earlier_texts == 16
    fitted(weighing)


def longest_histories(hand: Hand) -> None:
    """Of sixteen memories: one short text long ago, then as many long ones as there is room for."""
    later = replace(hand.vault, clock=lambda: hand.clock() + timedelta(days=300))
    for n in range(16):
        one = remember(hand.vault, ImportItem(content=ONCE), by=OWNER).memory.id
        edit(hand.vault, one, Edit(content=long(f"{n} first")), revision=None, by=OWNER)
        for edition in range(9):
            wanted = Edit(content=long(f"{n} edition {edition}"))
            edit(later, one, wanted, revision=None, by=OWNER)


def test_the_most_edited_memories_of_an_import_removed_by_retention(weighing: Hand) -> None:
    hand = weighing
    items = [ImportItem(content=f"fact {n} of many") for n in range(20)]
    batch = imports.carry_on(hand.vault, imports.begin(hand.vault, items, by=OWNER).id)
    for one in hand.store.memories(batch=batch.id).items:
        edit(hand.vault, one.id, Edit(content=f"{one.content} edited"), revision=None, by=OWNER)
        if one.status is Status.PROPOSED:
            review.approve(hand.vault, one.id, by=OWNER)
        item = ImportItem(content=f"{one.content} replaced")
        remember(hand.vault, item, by=OWNER, supersedes=one.id)

    late = replace(hand.vault, clock=lambda: hand.clock() + timedelta(days=366))
    assert clean_up(late).superseded == 20
    fitted(hand)


def _active(hand: Hand, text: str) -> Memory:
    return remember(hand.vault, ImportItem(content=text), by=OWNER, request_id=text).memory
