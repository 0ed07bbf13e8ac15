"""What waits for its embedding waits on, whatever is done to it meanwhile."""

from collections.abc import Callable

import pytest

from keeproom.vault import jobs, rebuild, review
from keeproom.vault.batch import Skipped, SkipReason, Stored
from keeproom.vault.edit import Edit, edit
from keeproom.vault.model import OWNER, Memory, MemoryType
from keeproom.vault.undo import undo
from tests.contract.hands import Hand, bring, say
from tests.contract.tables import fits

VERBS: dict[str, Callable[[Hand, Memory], object]] = {
    "say again": lambda hand, _: say(hand, "tea"),
    "repeat": lambda hand, _: say(hand, "tea", request_id="r1"),
    "approve": lambda hand, tea: review.approve(hand.vault, tea.id, by=OWNER),
    "reject": lambda hand, tea: review.reject(hand.vault, tea.id, by=OWNER),
    "keep both": lambda hand, tea: review.keep_both(hand.vault, tea.id, by=OWNER),
    "change its type": lambda hand, tea: edit(
        hand.vault, tea.id, Edit(type=MemoryType.FACT), revision=None, by=OWNER
    ),
    "decide and undo": lambda hand, tea: (
        review.approve(hand.vault, tea.id, by=OWNER),
        undo(hand.vault, tea.id, by=OWNER),
    ),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_memory_without_embedding_keeps_its_job(reviewing: Hand, verb: str) -> None:
    reviewing.embedder.down = True
    tea = say(reviewing, "tea", request_id="r1")
    reviewing.embedder.down = False

    VERBS[verb](reviewing, tea)
    assert jobs.lag(reviewing.vault) == 1
    fits(reviewing.table, reviewing.partition)
    assert jobs.work_off(reviewing.vault) == 1
    assert set(reviewing.store.embeddings([tea.id])) == {tea.id}


@pytest.mark.parametrize("verb", VERBS)
def test_a_memory_with_its_embedding_is_off_the_queue_at_once(reviewing: Hand, verb: str) -> None:
    tea = say(reviewing, "tea", request_id="r1")

    VERBS[verb](reviewing, tea)
    assert jobs.lag(reviewing.vault) == 0


def test_a_text_the_model_does_not_take_holds_no_other_back(hand: Hand) -> None:
    hand.embedder.down = True
    texts = [f"fact{n}" for n in range(20)]
    ids = {text: say(hand, text).id for text in texts}
    hand.embedder.down, hand.embedder.refused = False, ["fact3", "fact4", "fact17"]

    jobs.work_off(hand.vault)

    embedded = set(hand.store.embeddings([*ids.values()]))
    assert embedded == {ids[text] for text in texts if text not in hand.embedder.refused}
    assert jobs.lag(hand.vault) == len(hand.embedder.refused)
    fits(hand.table, hand.partition)


def test_a_rebuild_goes_on_past_texts_the_model_does_not_take(hand: Hand) -> None:
    for n in range(jobs.TAKEN):
        say(hand, f"fact{n}")
    last = say(hand, "last")
    hand.embedder.model, hand.embedder.refused = "words/2", ["fact5", "last"]
    rebuild.begin(hand.vault, reembed=True)

    while rebuild.carry_on(hand.vault):
        pass

    assert not rebuild.progress(hand.vault).running
    found = hand.store.embeddings([one.id for one in hand.store.memories().items])
    assert sum(one.model == "words/2" for one in found.values()) == jobs.TAKEN - 1
    assert found[last.id].model == "words/1"


def test_a_rebuild_goes_on_when_nothing_can_be_embedded(hand: Hand) -> None:
    say(hand, "last")
    hand.embedder.refused = ["last"]
    rebuild.begin(hand.vault, reembed=True)

    rebuild.carry_on(hand.vault)

    assert not rebuild.progress(hand.vault).running
    assert jobs.lag(hand.vault) == 1


def test_an_import_compares_what_the_model_takes(hand: Hand) -> None:
    known = say(hand, "Anna works as a nurse in the city hospital of Hamburg")
    hand.embedder.refused = ["unreadable"]

    batch = bring(hand, "unreadable words", "In the city hospital of Hamburg Anna works as a nurse")

    outcomes = [outcome for _, outcome in hand.store.outcomes(batch.id).items]
    assert isinstance(outcomes[0], Stored)
    assert outcomes[1] == Skipped(reason=SkipReason.NEAR_DUPLICATE, by=known.id)
    assert batch.keyword_only
