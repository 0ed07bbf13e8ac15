"""The owner's decisions, on every store."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from keeproom.errors import Conflict, Duplicate, Excluded, NotFound, VaultError, WrongState
from keeproom.vault import listing, review
from keeproom.vault.batch import ImportItem
from keeproom.vault.edit import Edit, edit
from keeproom.vault.forget import forget, lift
from keeproom.vault.model import OWNER, Actor, Memory, Status, identity_of
from keeproom.vault.remember import remember
from keeproom.vault.undo import undo
from keeproom.vault.vault import Vault
from tests.contract.hands import Hand, say
from tests.contract.tables import fits

CLAUDE = Actor("mcp:Claude")


def proposed(vault: Vault, text: str, supersedes: str = "") -> Memory:
    item = ImportItem(content=text)
    return remember(vault, item, by=CLAUDE, supersedes=supersedes, propose=True).memory


def active(vault: Vault, text: str) -> Memory:
    return review.approve(vault, proposed(vault, text).id, by=OWNER)


def now(vault: Vault, memory: Memory) -> Memory:
    return listing.memory(vault, memory.id)


def test_an_edit_keeps_the_earlier_text_and_a_stale_one_is_a_conflict(auto: Vault) -> None:
    memory = active(auto, "Age 41")
    told = edit(auto, memory.id, Edit(content="Age 42"), revision=memory.revision, by=OWNER)
    assert (told.content, [e.content for e in told.history]) == ("Age 42", ["Age 41"])
    with pytest.raises(Conflict) as stale:
        edit(auto, memory.id, Edit(content="Age 43"), revision=memory.revision, by=OWNER)
    assert stale.value.current == told == now(auto, memory)


def test_an_edit_can_neither_take_another_memorys_text_nor_a_forgotten_one(auto: Vault) -> None:
    tea, milk = active(auto, "Drinks tea"), active(auto, "Drinks milk")
    forget(auto, active(auto, "Drinks gin").id, by=OWNER)
    with pytest.raises(Duplicate) as told:
        edit(auto, milk.id, Edit(content="drinks TEA"), revision=None, by=OWNER)
    assert told.value.memory_id == tea.id
    with pytest.raises(Excluded):
        edit(auto, milk.id, Edit(content="Drinks gin"), revision=None, by=OWNER)
    assert now(auto, milk) == milk


def test_an_edited_text_frees_its_old_one(auto: Vault) -> None:
    memory = active(auto, "Drinks tea")
    edit(auto, memory.id, Edit(content="Drinks milk"), revision=None, by=OWNER)
    assert active(auto, "Drinks tea").id != memory.id


def test_approving_with_an_edit_is_one_step(auto: Vault) -> None:
    memory = proposed(auto, "Likes tee")
    told = review.approve(auto, memory.id, by=OWNER, wanted=Edit(content="Likes tea"))
    assert (told.status, told.content, told.owned) == (Status.ACTIVE, "Likes tea", True)
    assert told == now(auto, memory)


def test_approve_and_replace_makes_the_similar_memory_history(auto: Vault) -> None:
    old = active(auto, "The meeting room opens at 9 in the morning")
    new = proposed(auto, "The meeting room opens at 8 in the morning")
    assert new.conflicts_with == (old.id,)
    review.approve(auto, new.id, by=OWNER, replacing_similar=True)
    assert now(auto, old).status is Status.SUPERSEDED
    assert now(auto, old).superseded_by == new.id
    assert now(auto, new).conflicts_with == ()


def test_keeping_both_settles_the_conflict(auto: Vault) -> None:
    old = active(auto, "The meeting room opens at 9 in the morning")
    new = proposed(auto, "The meeting room opens at 8 in the morning")
    told = review.keep_both(auto, new.id, by=OWNER)
    assert (told.status, told.conflicts_with) == (Status.ACTIVE, ())
    assert now(auto, old).status is Status.ACTIVE


def test_each_decision_can_be_taken_back(auto: Vault) -> None:
    old = active(auto, "Lives in Berlin near the park")
    new = proposed(auto, "Lives in Munich near the park", supersedes=old.id)
    review.approve(auto, new.id, by=OWNER)
    undo(auto, new.id, by=OWNER)
    assert (now(auto, new).status, now(auto, old).status) == (Status.PROPOSED, Status.ACTIVE)
    review.reject(auto, new.id, by=OWNER)
    undo(auto, new.id, by=OWNER)
    assert now(auto, new).status is Status.PROPOSED
    assert auto.memories.exclusions().items == ()
    flagged = now(auto, new).conflicts_with
    review.keep_both(auto, new.id, by=OWNER)
    undo(auto, new.id, by=OWNER)
    assert (now(auto, new).status, now(auto, new).conflicts_with) == (Status.PROPOSED, flagged)


def test_an_edit_is_undone_before_the_decision_it_followed(auto: Vault) -> None:
    memory = active(auto, "Drinks tea")
    edit(auto, memory.id, Edit(content="Drinks milk"), revision=None, by=OWNER)
    assert undo(auto, memory.id, by=OWNER).content == "Drinks tea"
    assert undo(auto, memory.id, by=OWNER).status is Status.PROPOSED
    with pytest.raises(WrongState):
        undo(auto, memory.id, by=OWNER)


def test_what_does_not_wait_cannot_be_decided(auto: Vault) -> None:
    memory = active(auto, "Drinks tea")
    for verb in (review.approve, review.reject, review.keep_both):
        with pytest.raises(WrongState):
            verb(auto, memory.id, by=OWNER)
        with pytest.raises(NotFound):
            verb(auto, "mem_nothing", by=OWNER)


def test_forgetting_removes_the_history_too_and_lifting_lets_it_in_again(auto: Vault) -> None:
    memory = active(auto, "Drinks tea")
    edit(auto, memory.id, Edit(content="Drinks milk"), revision=None, by=OWNER)
    forget(auto, memory.id, by=OWNER)
    with pytest.raises(NotFound):
        listing.memory(auto, memory.id)
    assert auto.memories.embeddings([memory.id]) == {}
    lift(auto, identity_of("Drinks milk"), by=OWNER)
    assert active(auto, "Drinks milk")


def test_a_forget_is_repeated_safely_with_its_request_id(auto: Vault) -> None:
    memory = active(auto, "Drinks tea")
    forget(auto, memory.id, by=OWNER, request_id="r1")
    forget(auto, memory.id, by=OWNER, request_id="r1")
    with pytest.raises(NotFound):
        forget(auto, memory.id, by=OWNER)


def test_approve_reject_and_forget_have_one_order(auto: Vault) -> None:
    def attempt(work: tuple[Callable[..., object], str]) -> type[VaultError] | None:
        verb, memory_id = work
        try:
            verb(auto, memory_id, by=OWNER)
        except VaultError as error:
            return type(error)
        return None

    for n in range(4):
        memory = proposed(auto, f"fact {n}")
        verbs = (review.approve, forget, review.reject, forget)
        with ThreadPoolExecutor(4) as pool:
            told = list(pool.map(attempt, [(verb, memory.id) for verb in verbs]))
        assert sorted([told[1] is None, told[3] is None]) == [False, True]
        assert not (told[0] is None and told[2] is None)
        with pytest.raises(NotFound):
            listing.memory(auto, memory.id)
        with pytest.raises(Excluded):
            proposed(auto, f"fact {n}")
    assert auto.memories.audit_faults() == []


def test_many_at_once_tell_what_failed(auto: Vault) -> None:
    one = proposed(auto, "Drinks tea")
    told = review.each(
        auto, [one.id, "mem_nothing"], lambda vault, found: review.approve(vault, found, by=OWNER)
    )
    assert told[0].memory == now(auto, one)
    assert isinstance(told[1].error, NotFound)


def test_a_decision_taken_back_leaves_what_the_memory_would_supersede(auto: Vault) -> None:
    old = active(auto, "The meeting room opens at 9 in the morning")
    plain = proposed(auto, "The meeting room opens at 8 in the morning")
    review.approve(auto, plain.id, by=OWNER, replacing_similar=True)
    assert undo(auto, plain.id, by=OWNER).supersedes == ""
    review.approve(auto, plain.id, by=OWNER)
    assert now(auto, old).status is Status.ACTIVE

    newer = proposed(auto, "The meeting room opens at 7 in the morning", supersedes=old.id)
    for decide in (review.keep_both, review.reject, review.approve):
        decide(auto, newer.id, by=OWNER)
        assert undo(auto, newer.id, by=OWNER).supersedes == old.id
    assert now(auto, old).status is Status.ACTIVE


@pytest.mark.parametrize("back", [timedelta(seconds=-90), timedelta()], ids=["back", "still"])
def test_undo_takes_back_what_came_last_whatever_the_clocks_say(
    reviewing: Hand, back: timedelta
) -> None:
    """Two containers differ by a moment, and a laptop's clock is set back."""
    noon = reviewing.vault.clock()
    late = replace(reviewing.vault, clock=lambda: noon)
    early = replace(reviewing.vault, clock=lambda: noon + back)

    edited = say(reviewing, "Drinks tea").id
    edit(late, edited, Edit(content="Drinks milk"), revision=None, by=OWNER)
    review.reject(early, edited, by=OWNER)
    back_again = undo(early, edited, by=OWNER)
    assert (back_again.status, back_again.content) == (Status.PROPOSED, "Drinks milk")
    assert undo(early, edited, by=OWNER).content == "Drinks tea"
    fits(reviewing.table, reviewing.partition)

    decided = say(reviewing, "Sings").id
    review.approve(late, decided, by=OWNER)
    edit(early, decided, Edit(content="Dances"), revision=None, by=OWNER)
    still = undo(early, decided, by=OWNER)
    assert (still.status, still.content) == (Status.ACTIVE, "Sings")
    assert undo(early, decided, by=OWNER).status is Status.PROPOSED
