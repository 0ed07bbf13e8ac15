"""The same request again, because its answer was lost or its process died."""

from collections.abc import Callable
from contextlib import suppress

import pytest

from keeproom.engines.item_store.table import Table
from keeproom.vault import imports, review
from keeproom.vault.batch import ImportItem
from keeproom.vault.edit import Edit, edit
from keeproom.vault.forget import forget, lift
from keeproom.vault.model import OWNER, Memory
from keeproom.vault.undo import undo
from tests.contract.hands import Hand, hand_on, say
from tests.contract.tables import Crash, Crashing, fits

type Verb = Callable[[Hand, Memory, str], object]


def begin_import(hand: Hand, _: Memory, key: str) -> object:
    items = [ImportItem(content="milk"), ImportItem(content="wine")]
    return imports.begin(hand.vault, items, by=OWNER, request_id=key).id


VERBS: dict[str, Verb] = {
    "remember": lambda hand, _, key: say(hand, "milk", request_id=key),
    "edit": lambda hand, tea, key: edit(
        hand.vault, tea.id, Edit(content="milk"), revision=1, by=OWNER, request_id=key
    ),
    "approve": lambda hand, tea, key: review.approve(
        hand.vault, tea.id, by=OWNER, revision=1, request_id=key
    ),
    "reject": lambda hand, tea, key: review.reject(hand.vault, tea.id, by=OWNER, request_id=key),
    "keep both": lambda hand, tea, key: review.keep_both(
        hand.vault, tea.id, by=OWNER, request_id=key
    ),
    "undo": lambda hand, tea, key: undo(hand.vault, tea.id, by=OWNER, request_id=key),
    "forget": lambda hand, tea, key: forget(hand.vault, tea.id, by=OWNER, request_id=key),
    "lift": lambda hand, tea, key: lift(hand.vault, tea.identity, by=OWNER, request_id=key),
    "import": begin_import,
}


def start(hand: Hand, verb: str) -> Memory:
    """A proposal that is to replace another memory, and to which the verb can be done, more than
    once if it is an undo."""
    rum = review.approve(hand.vault, say(hand, "rum").id, by=OWNER)
    tea = say(hand, "tea", supersedes=rum.id)
    if verb == "undo":
        edit(hand.vault, tea.id, Edit(content="cocoa"), revision=1, by=OWNER)
        review.approve(hand.vault, tea.id, by=OWNER)
    if verb == "lift":
        review.reject(hand.vault, tea.id, by=OWNER)
    return tea


@pytest.mark.parametrize("verb", VERBS)
def test_a_repeated_request_does_nothing_and_is_answered_as_the_first_time(
    reviewing: Hand, verb: str
) -> None:
    tea = start(reviewing, verb)
    first, moment = VERBS[verb](reviewing, tea, "r1"), reviewing.store.position()

    assert VERBS[verb](reviewing, tea, "r1") == first
    assert reviewing.store.position() == moment


@pytest.mark.parametrize("dies", ["before", "after"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_request_repeated_after_a_crash_is_done_once(paper: Table, verb: str, dies: str) -> None:
    for call in range(1, 60):
        crashing = Crashing(paper)
        hand = hand_on(crashing, auto=False)
        tea = start(hand, verb)
        entries = sum(hand.store.position().counts)
        crashing.left, crashing.after = call, dies == "after"
        with suppress(Crash):
            VERBS[verb](hand, tea, "r1")
        over, crashing.left = crashing.left > 0, 0
        VERBS[verb](hand_on(crashing, hand.name, clock=hand.clock), tea, "r1")
        done = [entry.verb for entry in hand.store.audit().items[: -entries or None]]
        assert done.count(done[-1]) == 1 or verb == "import"
        assert done.count("begin_import") == (verb == "import")
        fits(paper, hand.partition)
        if over:
            return
