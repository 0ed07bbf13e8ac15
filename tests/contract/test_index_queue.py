"""What waits for its embedding waits on, whatever is done to it meanwhile."""

from collections.abc import Callable

import pytest

from keeproom.vault import jobs, review
from keeproom.vault.edit import Edit, edit
from keeproom.vault.model import OWNER, Memory, MemoryType
from keeproom.vault.undo import undo
from tests.contract.hands import Hand, say
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
