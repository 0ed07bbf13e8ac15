"""Everything of a vault lies under its generation, so that all of it can be replaced at once."""

from dataclasses import replace

import pytest

from keeproom.engines.item_store import layout
from keeproom.engines.item_store.store import ItemMemoryStore
from keeproom.errors import Contended, Unavailable, Unusable
from keeproom.vault.change import Change
from keeproom.vault.model import Gate, Head
from tests.contract.hands import Hand, hand_on, say
from tests.contract.tables import Interrupted, everything


def replace_all(hand: Hand, generation: str, *, gates: int = layout.GATES) -> None:
    """As a restore does, though not in one step: head and gates now name another generation."""
    head = Head(generation=generation, revision=hand.store.head().revision + 1)
    moved = (Gate(number=n, generation=generation, revision=1000) for n in range(gates))
    hand.table.load([layout.head_item(hand.name, head)])
    hand.table.load(layout.gate_item(hand.name, gate) for gate in moved)


def test_a_store_that_knew_the_old_generation_reads_and_writes_the_new_one(hand: Hand) -> None:
    old, other = say(hand, "old"), hand_on(hand.table, hand.name)
    since = hand.store.position()
    replace_all(other, "gen_2")

    assert hand.store.memories().items == ()
    assert hand.store.read([old.id]) == {}
    assert hand.store.audit().items == ()
    assert hand.store.changes(since) is None
    new = say(hand, "new")
    assert new.id in everything(hand.table, layout.partition(hand.name, "gen_2"), "M")
    assert hand.store.audit_faults() == []


def test_what_was_decided_on_the_old_generation_is_contended(hand: Hand) -> None:
    look = hand.store.look()
    replace_all(hand, "gen_2")

    with pytest.raises(Contended):
        hand.store.commit(Change(audit=hand.audit("note", "late")), seen=look)
    assert hand.store.audit().items == ()


def test_a_generation_replaced_right_before_a_commit_stays_untouched_by_it(hand: Hand) -> None:
    door = Interrupted(hand.table)
    mine = hand_on(door, hand.name)
    door.act = lambda: replace_all(hand, "gen_2")
    before = hand.partition

    say(mine, "tea")
    assert everything(hand.table, before, "M") == {}
    assert [memory.content for memory in hand.store.memories().items] == ["tea"]


def test_nobody_decides_while_head_and_gates_disagree(hand: Hand) -> None:
    impatient = ItemMemoryStore(hand.table, hand.name, clock=hand.clock, patience=0.05)
    replace_all(hand, "gen_2", gates=0)

    with pytest.raises(Unavailable):
        impatient.look()
    replace_all(hand, "gen_2")
    assert impatient.look().head.generation == "gen_2"


def test_a_job_of_the_old_generation_does_not_end_one_of_the_new(hand: Hand) -> None:
    hand.embedder.down = True
    say(hand, "tea")
    late = hand.clock().replace(year=2030)
    (job,) = hand.store.jobs(due=late, limit=9)
    replace_all(hand, "gen_2")
    copied = replace(job, generation="gen_2")
    hand.table.load([layout.job_item(hand.name, copied)])

    hand.store.finish([job])
    assert hand.store.jobs(due=late, limit=9) == [copied]


def test_a_vault_without_its_head_is_told_as_unusable(hand: Hand) -> None:
    hand.table.drop([(layout.partition(hand.name), layout.HEAD)])

    with pytest.raises(Unusable):
        hand.store.look()
