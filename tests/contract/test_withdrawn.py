"""What agents forget in review mode waits for the owner, out of every answer, on every store."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from keeproom.errors import (
    Excluded,
    LimitReached,
    NotFound,
    SecretLike,
    VaultError,
    WrongState,
)
from keeproom.vault import imports, listing
from keeproom.vault import review as reviewing
from keeproom.vault.batch import ImportItem, Skipped, SkipReason, Stored
from keeproom.vault.edit import Edit, edit
from keeproom.vault.forget import forget
from keeproom.vault.jobs import indexed
from keeproom.vault.listing import Listed
from keeproom.vault.model import OWNER, Actor, ApprovalMode, Memory, Status
from keeproom.vault.recall import Query, recall
from keeproom.vault.remember import remember
from keeproom.vault.settings import Wanted, change_settings
from keeproom.vault.undo import undo
from keeproom.vault.vault import Vault

CLAUDE = Actor("mcp:Claude", grant="grt_1")
CURSOR = Actor("mcp:Cursor", grant="grt_2")
REVIEW = Wanted(approval_mode=ApprovalMode.REVIEW)
TEA = "Drinks tea in Ankara"


def said(vault: Vault, text: str, *, by: Actor = OWNER) -> Memory:
    return remember(vault, ImportItem(content=text), by=by).memory


def withdrawn(vault: Vault, text: str = TEA, *, by: Actor = OWNER) -> Memory:
    memory = forget(vault, said(vault, text, by=by).id, by=CLAUDE)
    assert memory
    return memory


def ids(vault: Vault, which: Listed) -> list[str]:
    return [memory.id for memory in listing.memories(vault, which).items]


def found(vault: Vault) -> list[str]:
    asked = Query(text=TEA, include_history=True)
    return [hit.memory.id for hit in recall(vault, asked).hits]


def verbs(vault: Vault) -> list[str]:
    return [entry.verb for entry in listing.audit(vault).items]


def limit(vault: Vault, forgets: int) -> None:
    change_settings(vault, Wanted(forget_limit=forgets), expected=None, by=OWNER)


def test_a_withdrawn_memory_is_in_no_answer_and_waits_for_the_owner(review: Vault) -> None:
    stays, memory = said(review, "Bought a bicycle"), said(review, TEA)
    assert found(review) == [memory.id]

    told = forget(review, memory.id, by=CLAUDE, reason="Said it was a joke")

    assert told is not None
    assert told.withdrawn is not None
    assert (told.withdrawn.by, told.withdrawn.reason) == ("mcp:Claude", "Said it was a joke")
    assert found(review) == []
    assert ids(review, Listed()) == ids(review, Listed(status=Status.ACTIVE)) == [stays.id]
    assert ids(review, Listed(withdrawn=True)) == [memory.id]
    assert listing.memory(review, memory.id) == told
    with pytest.raises(NotFound):
        listing.shown(review, [stays.id, memory.id])
    entry = listing.audit(review).items[0]
    assert (entry.verb, entry.subject, entry.grant) == ("withdraw", memory.id, "grt_1")


def test_a_withdrawn_proposal_leaves_the_queue_of_proposals(review: Vault) -> None:
    memory = withdrawn(review, by=CLAUDE)

    assert memory.status is Status.PROPOSED
    assert ids(review, Listed(status=Status.PROPOSED)) == []
    assert ids(review, Listed(status=Status.PROPOSED, withdrawn=True)) == [memory.id]
    assert ids(review, Listed(status=Status.ACTIVE, withdrawn=True)) == []


def test_a_withdrawn_memory_leaves_the_list_of_its_import(review: Vault) -> None:
    batch = imports.begin(review, [ImportItem(content=TEA)], by=OWNER)
    imports.carry_on(review, batch.id)
    (memory,) = ids(review, Listed(batch_id=batch.id))

    forget(review, memory, by=CLAUDE)

    assert ids(review, Listed(batch_id=batch.id)) == []
    assert imports.undo(review, batch.id, by=OWNER).undone == 1
    assert ids(review, Listed(withdrawn=True)) == []


def test_withdrawn_ones_are_listed_in_the_order_they_were_withdrawn(review: Vault) -> None:
    first, second, third = (said(review, text) for text in ("Has a cat", "Has a dog", "Sings"))
    for memory in (third, first, second):
        forget(review, memory.id, by=CLAUDE)

    page = listing.memories(review, Listed(withdrawn=True), limit=2)
    rest = listing.memories(review, Listed(withdrawn=True), limit=2, cursor=page.next)

    told = [one for one in (*page.items, *rest.items) if one.withdrawn]
    assert {one.id for one in told} == {third.id, first.id, second.id}
    at = [(one.withdrawn.at, one.id) for one in told if one.withdrawn]
    assert at == sorted(at), "those of one millisecond in order of id"


def test_another_process_finds_it_no_longer(auto: Vault, another: Vault) -> None:
    memory = said(auto, TEA)
    assert found(another) == [memory.id]
    change_settings(auto, REVIEW, expected=None, by=OWNER)

    forget(auto, memory.id, by=CLAUDE)

    assert found(another) == []


def test_an_index_that_lags_does_not_show_it(review: Vault) -> None:
    memory = withdrawn(review)
    review.index.put([indexed(review, replace(memory, withdrawn=None), None)])

    assert found(review) == []


def test_an_index_made_anew_does_not_hold_it(review: Vault) -> None:
    memory = withdrawn(review)
    review.index.position = None

    assert found(review) == []
    assert review.index.lacking(limit=9) == []
    undo(review, memory.id, by=OWNER)
    assert found(review) == [memory.id]


def test_it_no_longer_conflicts_with_anything(auto: Vault) -> None:
    said(auto, "The meeting is at 9 on Monday", by=CLAUDE)
    item = ImportItem(content="The meeting is at 10 on Monday")
    new = remember(auto, item, by=CLAUDE).memory
    asked = Query(text="When is the meeting on Monday")
    hits = {hit.memory.id: hit.may_conflict_with for hit in recall(auto, asked).hits}
    assert all(hits.values())
    change_settings(auto, REVIEW, expected=None, by=OWNER)

    forget(auto, new.id, by=CLAUDE)

    assert [hit.may_conflict_with for hit in recall(auto, asked).hits] == [()]
    third = remember(auto, ImportItem(content="The meeting is at 11 on Monday"), by=CLAUDE)
    assert new.id not in third.memory.similar_to


def test_the_owner_confirms_by_forget_and_brings_back_by_undo(review: Vault) -> None:
    back, gone = withdrawn(review), withdrawn(review, "Has a cat")

    assert undo(review, back.id, by=OWNER).withdrawn is None
    assert forget(review, gone.id, by=OWNER) is None

    assert found(review) == [back.id]
    assert ids(review, Listed()) == [back.id]
    assert ids(review, Listed(withdrawn=True)) == []
    with pytest.raises(NotFound):
        listing.memory(review, gone.id)
    with pytest.raises(Excluded):
        said(review, "Has a cat", by=CLAUDE)


def test_what_the_owner_brought_back_the_undo_of_its_import_leaves_alone(review: Vault) -> None:
    batch = imports.begin(review, [ImportItem(content=TEA)], by=CLAUDE)
    imports.carry_on(review, batch.id)
    (memory,) = ids(review, Listed(batch_id=batch.id))
    forget(review, memory, by=CLAUDE)
    undo(review, memory, by=OWNER)

    assert imports.undo(review, batch.id, by=OWNER).undone == 0
    assert ids(review, Listed()) == [memory]


def test_a_withdrawn_text_is_kept_out_until_the_owner_says_it(review: Vault) -> None:
    memory = withdrawn(review)

    with pytest.raises(Excluded):
        said(review, TEA.upper(), by=CURSOR)
    batch = imports.begin(review, [ImportItem(content=TEA)], by=CURSOR)
    imports.carry_on(review, batch.id)
    ((_, outcome),) = listing.outcomes(review, batch.id).items
    assert outcome == Skipped(reason=SkipReason.EXCLUDED)
    assert ids(review, Listed()) == []

    told = remember(review, ImportItem(content=TEA), by=OWNER)

    assert isinstance(told.outcome, Stored)
    assert (told.memory.id, told.memory.withdrawn) == (memory.id, None)
    assert ids(review, Listed(status=Status.ACTIVE)) == [memory.id]


def test_a_retried_remember_does_not_answer_what_was_withdrawn_since(review: Vault) -> None:
    item = ImportItem(content=TEA)
    memory = remember(review, item, by=CLAUDE, request_id="r1").memory
    forget(review, memory.id, by=CLAUDE)

    with pytest.raises(VaultError) as told:
        remember(review, item, by=CLAUDE, request_id="r1")
    assert told.value.code in {"excluded", "not_found"}


def test_a_withdrawn_memory_cannot_be_superseded_by_an_agent(review: Vault) -> None:
    memory, item = withdrawn(review), ImportItem(content="Drinks coffee in Ankara")

    with pytest.raises(NotFound):
        remember(review, item, by=CLAUDE, supersedes=memory.id)


DECISIONS: dict[str, Callable[[Vault, str], Memory]] = {
    "approve": lambda vault, one: reviewing.approve(vault, one, by=OWNER),
    "reject": lambda vault, one: reviewing.reject(vault, one, by=OWNER),
    "keep both": lambda vault, one: reviewing.keep_both(vault, one, by=OWNER),
    "edit": lambda vault, one: edit(vault, one, Edit(content="Sings"), revision=None, by=OWNER),
}


@pytest.mark.parametrize("decision", DECISIONS)
def test_the_owner_decides_about_the_withdrawal_first(review: Vault, decision: str) -> None:
    memory = withdrawn(review, by=CLAUDE)

    with pytest.raises(WrongState):
        DECISIONS[decision](review, memory.id)
    assert listing.memory(review, memory.id) == memory


def test_withdrawing_twice_is_not_found_and_the_same_request_again_changes_nothing(
    review: Vault,
) -> None:
    memory = said(review, TEA)
    first = forget(review, memory.id, by=CLAUDE, request_id="r1")

    assert forget(review, memory.id, by=CLAUDE, request_id="r1") == first
    with pytest.raises(NotFound):
        forget(review, memory.id, by=CURSOR)
    assert verbs(review).count("withdraw") == 1


def test_in_auto_mode_an_agent_forgets_for_good(auto: Vault) -> None:
    memory = said(auto, TEA)

    assert forget(auto, memory.id, by=CLAUDE, reason="Said it was a joke") is None

    with pytest.raises(NotFound):
        listing.memory(auto, memory.id)
    with pytest.raises(Excluded):
        said(auto, TEA, by=CLAUDE)


def test_a_reason_with_a_secret_is_refused(review: Vault) -> None:
    memory = said(review, TEA)

    with pytest.raises(SecretLike):
        forget(review, memory.id, by=CLAUDE, reason="It held ghp_" + "16C7e42F292c" * 3)
    assert ids(review, Listed()) == [memory.id]


@pytest.mark.parametrize("mode", list(ApprovalMode))
def test_an_app_forgets_only_so_many_an_hour(review: Vault, mode: ApprovalMode) -> None:
    vault = review
    change_settings(vault, Wanted(approval_mode=mode), expected=None, by=OWNER)
    memories = [said(vault, f"Fact number {n}") for n in range(5)]
    limit(vault, 2)
    for memory in memories[:2]:
        forget(vault, memory.id, by=CLAUDE)

    with pytest.raises(LimitReached):
        forget(vault, memories[2].id, by=CLAUDE)

    entry = listing.audit(vault).items[0]
    assert (entry.verb, entry.subject) == ("refuse_forget", memories[2].id)
    assert (entry.actor, entry.grant) == ("mcp:Claude", "grt_1")
    assert memories[2].id in ids(vault, Listed())
    forget(vault, memories[2].id, by=CURSOR)
    forget(vault, memories[3].id, by=OWNER)
    later = replace(vault, clock=lambda: vault.clock() + timedelta(hours=1, seconds=1))
    forget(later, memories[4].id, by=CLAUDE)
    assert ids(vault, Listed()) == []


def test_forgets_at_the_same_time_do_not_pass_the_limit_together(review: Vault) -> None:
    memories = [said(review, f"Fact number {n}") for n in range(8)]
    limit(review, 3)

    def try_it(memory: Memory) -> bool:
        try:
            return forget(review, memory.id, by=CLAUDE) is not None
        except LimitReached:
            return False

    with ThreadPoolExecutor(8) as threads:
        done = list(threads.map(try_it, memories))

    assert sum(done) == len(ids(review, Listed(withdrawn=True))) == 3


def test_the_same_request_again_does_not_count(review: Vault) -> None:
    limit(review, 1)
    memory = said(review, TEA)
    forget(review, memory.id, by=CLAUDE, request_id="r1")

    assert forget(review, memory.id, by=CLAUDE, request_id="r1") is not None
    assert "refuse_forget" not in verbs(review)
