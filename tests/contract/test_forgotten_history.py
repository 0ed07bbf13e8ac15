"""What is forgotten goes out of the histories of other memories too, on every store."""

import json
from contextlib import suppress

import pytest

from keeproom.aws.memory_store import DynamoTable
from keeproom.engines.item_store.table import Table
from keeproom.errors import NotFound, WrongState
from keeproom.vault import forget as forgetting
from keeproom.vault import listing
from keeproom.vault.model import OWNER, Actor, Memory, identity_of
from keeproom.vault.undo import undo
from tests.contract.hands import AGENT, Hand, forget, hand_on, reword, say
from tests.contract.tables import Crash, Crashing, all_of, fits
from tests.dynamo.paper import PaperClient

SECRET = "qlover is Kim"


def once_said(hand: Hand, text: str = "Sings") -> Memory:
    """A memory that said the secret until the owner reworded it."""
    return reword(hand, say(hand, SECRET).id, text)


def said_in(table: Table, hand: Hand) -> bool:
    """Whether the secret stands anywhere in the vault."""
    told = [{name: str(value) for name, value in item.items()} for item in all_of(table, hand.name)]
    return "qlover" in json.dumps(told)


def history(hand: Hand, memory: Memory) -> list[str]:
    return [one.content for one in listing.memory(hand.vault, memory.id).history]


@pytest.mark.parametrize("by", [OWNER, AGENT], ids=["owner", "app"])
def test_a_forgotten_text_is_in_no_history(hand: Hand, by: Actor) -> None:
    first, second = once_said(hand), once_said(hand, "Dances")
    again = say(hand, SECRET)
    assert said_in(hand.table, hand)

    forgetting.forget(hand.vault, again.id, by=by)

    assert not said_in(hand.table, hand)
    assert history(hand, first) == history(hand, second) == []
    entry = listing.audit(hand.vault).items[1]
    assert (entry.verb, entry.subject) == ("forget_history", again.id)
    assert set(entry.touched) == {first.id, second.id}
    fits(hand.table, hand.partition)


def test_the_other_earlier_texts_stay(hand: Hand) -> None:
    memory = reword(hand, once_said(hand).id, "Dances")
    assert history(hand, memory) == [SECRET, "Sings"]

    forget(hand, say(hand, SECRET.upper()).id)

    assert history(hand, memory) == ["Sings"]
    assert undo(hand.vault, memory.id, by=OWNER).content == "Sings"
    with pytest.raises(WrongState):
        undo(hand.vault, memory.id, by=OWNER)
    fits(hand.table, hand.partition)


def test_a_memory_forgotten_itself_leaves_no_trace_of_its_history(hand: Hand) -> None:
    memory = once_said(hand)
    fits(hand.table, hand.partition)

    forget(hand, memory.id)

    assert not said_in(hand.table, hand)
    fits(hand.table, hand.partition)


def test_a_text_edited_back_is_not_history(hand: Hand) -> None:
    memory = reword(hand, once_said(hand).id, SECRET)
    assert history(hand, memory) == [SECRET, "Sings"]
    fits(hand.table, hand.partition)

    forget(hand, say(hand, "Sings").id)

    assert history(hand, memory) == [SECRET]


def test_any_number_of_histories(hand: Hand) -> None:
    several = 2 * forgetting.AT_ONCE + 1
    for n in range(several):
        once_said(hand, f"fact{n}")

    forget(hand, say(hand, SECRET).id)

    assert not said_in(hand.table, hand)
    assert len(hand.store.memories(limit=99).items) == several


def test_only_the_owner_takes_it_out_of_histories_in_review_mode(reviewing: Hand) -> None:
    memory = once_said(reviewing)
    again = say(reviewing, SECRET)

    forgetting.forget(reviewing.vault, again.id, by=AGENT)
    assert history(reviewing, memory) == [SECRET]
    forgetting.forget(reviewing.vault, again.id, by=OWNER)

    assert not said_in(reviewing.table, reviewing)


@pytest.mark.parametrize("after", [True, False], ids=["after", "before"])
def test_a_forget_that_dies_can_be_done_again(after: bool) -> None:  # noqa: FBT001
    for call in range(1, 40):
        crashing = Crashing(DynamoTable(PaperClient(), "vault"))
        hand = hand_on(crashing)
        once_said(hand)
        again = say(hand, SECRET)
        crashing.left, crashing.after = call, after
        with suppress(Crash):
            forget(hand, again.id)
        over, crashing.left = crashing.left > 0, 0
        fits(crashing, hand.partition)
        with suppress(NotFound):
            forget(hand, again.id)
        assert not said_in(crashing, hand)
        assert identity_of(SECRET) in dict(hand.store.exclusions().items)
        if over:
            return
