"""What befalls single calls on their way to DynamoDB and back, over real connections."""

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from keeproom.aws.client import client
from keeproom.aws.memory_store import DynamoTable
from keeproom.vault import imports, jobs, listing, review
from keeproom.vault.batch import ImportItem, Skipped
from keeproom.vault.model import OWNER, Memory
from keeproom.vault.recall import Query, recall
from keeproom.vault.remember import remember
from tests.contract.hands import Hand, bring, forget, hand_on, reword, say
from tests.contract.tables import fits
from tests.dynamo import emulator
from tests.dynamo.proxy import Fault, Proxy, proxy

VERBS: dict[str, Callable[[Hand, Memory], object]] = {
    "remember": lambda hand, _: say(hand, "boat"),
    "supersede": lambda hand, tea: say(hand, "boat", supersedes=tea.id),
    "edit": lambda hand, tea: reword(hand, tea.id, "boat"),
    "forget": lambda hand, tea: forget(hand, tea.id),
    "propose and approve": lambda hand, _: review.approve(
        hand.vault,
        remember(hand.vault, ImportItem(content="boat"), by=OWNER, propose=True).memory.id,
        by=OWNER,
    ),
    "import and undo": lambda hand, _: imports.undo(
        hand.vault, bring(hand, "boat", "harbour").id, by=OWNER
    ),
}
DONE: dict[str, tuple[list[str], int]] = {  # what is left, and how many audit entries that makes
    "remember": (["boat", "tea"], 1),
    "supersede": (["boat", "tea"], 1),
    "edit": (["boat"], 1),
    "forget": ([], 1),
    "propose and approve": (["boat", "tea"], 2),
    "import and undo": (["tea"], 5),
}
WORST = [Fault.CONFLICT, Fault.LOST]
MET = [("remember", fault) for fault in Fault if fault is not Fault.STUCK] + [
    (verb, fault) for verb in VERBS if verb != "remember" for fault in WORST
]
CALLS = ("TransactWriteItems", "BatchGetItem", "Query", "BatchWriteItem")


@pytest.fixture
def way(endpoint: str) -> Iterator[Proxy]:
    with proxy(endpoint) as told:
        yield told


@pytest.fixture(scope="module")
def name(endpoint: str) -> str:
    """A table's."""
    return emulator.new_table(emulator.client(endpoint))


@pytest.fixture
def far(name: str, way: Proxy, aws_keys: None) -> Iterator[Hand]:
    """At a vault that is reached by that way, with a client as the product makes it."""
    with closing(DynamoTable(client("dynamodb", endpoint=way.url), name)) as table:
        yield hand_on(table)


@pytest.mark.parametrize(("verb", "fault"), MET)
def test_a_verb_that_meets_a_fault_is_done_once(
    far: Hand, way: Proxy, verb: str, fault: Fault
) -> None:
    tea = say(far, "tea")
    only = CALLS[:1] if fault in (Fault.CONFLICT, Fault.THROTTLED) else CALLS
    way.faults = {call: [fault, fault] for call in only}
    left, entries = DONE[verb]
    before = sum(far.store.position().counts)
    VERBS[verb](far, tea)
    assert not way.faults["TransactWriteItems"], "nothing befell it"

    memories = listing.memories(far.vault, listing.Listed()).items
    assert sorted(one.content for one in memories) == left
    assert sum(far.store.position().counts) - before == entries, "done twice, or not at all"
    assert far.store.audit_faults() == []
    assert jobs.lag(far.vault) == 0
    fits(far.table, far.partition)


@pytest.mark.parametrize("fault", [Fault.OVERRUN, Fault.BROKEN, Fault.RESET, Fault.LOST])
def test_a_recall_that_meets_a_fault_is_answered(far: Hand, way: Proxy, fault: Fault) -> None:
    say(far, "tea")
    way.faults = {call: [fault, fault] for call in CALLS}

    hits = recall(far.vault, Query(text="tea")).hits
    assert [hit.memory.content for hit in hits] == ["tea"]


def test_who_was_not_answered_is_not_told_of_its_own_memory_as_a_duplicate(
    far: Hand, way: Proxy
) -> None:
    way.faults = {"TransactWriteItems": [Fault.LOST, Fault.LOST, Fault.BROKEN, Fault.LOST]}

    told = remember(far.vault, ImportItem(content="tea"), by=OWNER)
    assert not isinstance(told.outcome, Skipped)
    assert len(listing.memories(far.vault, listing.Listed()).items) == 1


def test_the_client_leaves_trying_again_to_the_table(far: Hand, way: Proxy) -> None:
    way.seen.clear()
    way.faults = {"TransactWriteItems": [Fault.THROTTLED]}
    say(far, "tea")

    assert way.seen.count("TransactWriteItems") == 2
