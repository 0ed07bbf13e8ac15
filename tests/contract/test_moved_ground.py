"""What a verb has read may be old news when it reads on: then it decides again."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from keeproom.engines.item_store.table import Table
from keeproom.errors import NotFound, VaultError, WrongState
from keeproom.vault import review
from keeproom.vault.forget import lift
from keeproom.vault.model import OWNER, Exclusion, Held, Memory, Status, identity_of
from keeproom.vault.undo import undo
from tests.contract.hands import Hand, bring, forget, hand_on, reword, say
from tests.contract.tables import Interrupted, fits

type Deed = Callable[[Hand, Memory], object]


class Moment(NamedTuple):
    hand: Hand
    memory: Memory
    error: type[VaultError] | None
    other: type[VaultError] | None  # what the other was told


def whenever(
    table: Table, verb: Deed, other: Deed, *, start: Deed, texts: Sequence[str] = ("tea",)
) -> Iterator[Moment]:
    """How the verb ends when somebody else comes before its first call, its second, and so on.
    The texts are proposed; then `start` and both verbs are done to the last of them."""
    for n in range(60):
        moment = _moment(table, n, verb, other, start=start, texts=texts)
        if moment is None:
            assert n > 2
            return
        yield moment


def _moment(
    table: Table, n: int, verb: Deed, other: Deed, *, start: Deed, texts: Sequence[str]
) -> Moment | None:
    """None when the verb has no such call."""
    hand, door = hand_on(table, auto=False), Interrupted(table)
    mine = hand_on(door, hand.name, clock=hand.clock)
    tea = [say(hand, text) for text in texts][-1]
    start(hand, tea)
    told: list[type[VaultError] | None] = []
    door.act, door.skip = lambda: told.append(_error(lambda: other(hand, tea))), n
    error = _error(lambda: verb(mine, tea))
    if not told:
        return None
    fits(table, hand.partition)
    return Moment(hand, tea, error, told[0])


def _error(call: Callable[[], object]) -> type[VaultError] | None:
    try:
        call()
    except VaultError as error:
        return type(error)
    return None


def proposed(hand: Hand, tea: Memory) -> None:
    """As it is."""


def rejected(hand: Hand, tea: Memory) -> None:
    review.reject(hand.vault, tea.id, by=OWNER)


def approved(hand: Hand, tea: Memory) -> None:
    review.approve(hand.vault, tea.id, by=OWNER)


def superseded(hand: Hand, tea: Memory) -> None:
    approved(hand, tea)
    approved(hand, say(hand, "milk", supersedes=tea.id))


def undone(hand: Hand, tea: Memory) -> None:
    undo(hand.vault, tea.id, by=OWNER)


def test_what_is_forgotten_while_it_is_said_again_stays_forgotten(paper: Table) -> None:
    for moment in whenever(
        paper,
        lambda hand, _: say(hand, "tea"),
        lambda hand, tea: forget(hand, tea.id),
        start=proposed,
    ):
        found = moment.hand.store.look(identities=[identity_of("tea")])
        assert isinstance(found.holdings[identity_of("tea")], Exclusion)
        assert moment.hand.store.memories().items == ()


def test_a_superseded_text_is_free_when_its_memory_says_something_else(paper: Table) -> None:
    for moment in whenever(
        paper,
        lambda hand, _: say(hand, "tea"),
        lambda hand, tea: reword(hand, tea.id, "cocoa"),
        start=superseded,
    ):
        texts = {memory.content for memory in moment.hand.store.memories().items}
        assert texts in ({"milk", "cocoa", "tea"}, {"milk", "cocoa"})


def test_lifting_an_exclusion_that_was_taken_back_removes_no_memory(paper: Table) -> None:
    for moment in whenever(
        paper,
        lambda hand, tea: lift(hand.vault, tea.identity, by=OWNER),
        undone,
        start=rejected,
    ):
        if moment.error:
            assert moment.error is NotFound
            assert moment.hand.store.read([moment.memory.id])
        found = moment.hand.store.look(identities=[moment.memory.identity])
        held = found.holdings[moment.memory.identity]
        assert held == (Held(moment.memory.id) if moment.error else None)


def test_an_edit_that_two_take_back_at_once_is_taken_back_once(paper: Table) -> None:
    def start(hand: Hand, tea: Memory) -> None:
        reword(hand, tea.id, "milk")

    for moment in whenever(paper, undone, undone, start=start):
        assert {moment.error, moment.other} == {None, WrongState}
        (memory,) = moment.hand.store.memories().items
        assert (memory.content, memory.history) == ("tea", ())


def test_an_undo_takes_back_what_came_last_or_says_that_there_is_something_newer(
    paper: Table,
) -> None:
    edited: list[Memory] = []
    for moment in whenever(
        paper,
        undone,
        lambda hand, tea: edited.append(reword(hand, tea.id, "milk")),
        start=approved,
    ):
        memory = moment.hand.store.read([moment.memory.id])[moment.memory.id]
        came_first = edited.pop().status is Status.ACTIVE
        assert (moment.error, memory.content, memory.status) in (
            [(None, "tea", Status.ACTIVE), (WrongState, "milk", Status.ACTIVE)]
            if came_first
            else [(None, "milk", Status.PROPOSED)]
        )


def test_an_import_of_what_is_just_being_forgotten_goes_on(paper: Table) -> None:
    for moment in whenever(
        paper,
        lambda hand, _: bring(hand, "tea", "milk"),
        lambda hand, tea: forget(hand, tea.id),
        start=proposed,
    ):
        assert moment.error is None
        assert [one.content for one in moment.hand.store.memories().items] == ["milk"]


def test_an_undo_brings_back_what_the_newest_approval_has_replaced(paper: Table) -> None:
    nine, ten, eight = (f"The meeting room opens at {n} in the morning" for n in (9, 10, 8))

    def named(hand: Hand, text: str) -> Memory:
        return next(one for one in hand.store.memories().items if one.content == text)

    def replacing_ten(hand: Hand, last: Memory) -> None:
        review.approve(hand.vault, named(hand, ten).id, by=OWNER)
        review.approve(hand.vault, last.id, by=OWNER, replacing_similar=True)

    def replacing_nine_and_ten(hand: Hand, last: Memory) -> None:
        undo(hand.vault, last.id, by=OWNER)
        review.approve(hand.vault, named(hand, nine).id, by=OWNER)
        review.approve(hand.vault, last.id, by=OWNER, replacing_similar=True)

    for moment in whenever(
        paper, undone, replacing_nine_and_ten, start=replacing_ten, texts=(nine, ten, eight)
    ):
        assert moment.error is None
        if moment.other:  # too late
            continue
        told = [named(moment.hand, text).status for text in (nine, ten, eight)]
        assert told == [Status.ACTIVE, Status.ACTIVE, Status.PROPOSED]
