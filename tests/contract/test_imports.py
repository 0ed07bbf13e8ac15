"""Imports, on every store."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import pytest

from keeproom.errors import Invalid, NotFound, RequestIdReused, TooLarge, Unavailable, WrongState
from keeproom.vault import imports, jobs, listing
from keeproom.vault.batch import Batch, BatchState, ImportItem, Outcome, Skipped, SkipReason, Stored
from keeproom.vault.change import Change
from keeproom.vault.edit import Edit, edit
from keeproom.vault.forget import forget
from keeproom.vault.model import OWNER, Actor, ReviewSimilar, Status
from keeproom.vault.remember import remember
from keeproom.vault.review import approve
from keeproom.vault.settings import Wanted, change_settings
from keeproom.vault.vault import Vault
from tests.embedders import WordEmbedder

CLAUDE = Actor("mcp:Claude")


def bring(vault: Vault, *texts: str, propose: bool = False) -> tuple[Batch, list[Outcome]]:
    batch = imports.begin(
        vault, [ImportItem(content=text) for text in texts], by=CLAUDE, propose=propose
    )
    batch = imports.carry_on(vault, batch.id)
    assert batch.state is BatchState.DONE
    return batch, outcomes(vault, batch)


def outcomes(vault: Vault, batch: Batch) -> list[Outcome]:
    page = vault.memories.outcomes(batch.id, limit=1000)
    assert [position for position, _ in page.items] == list(range(batch.position))
    return [outcome for _, outcome in page.items]


def contents(vault: Vault, **which: object) -> list[str]:
    page = listing.memories(vault, listing.Listed(**which), limit=200)  # pyright: ignore[reportArgumentType]
    return sorted(memory.content for memory in page.items)


def stored(vault: Vault, text: str) -> str:
    return remember(vault, ImportItem(content=text), by=CLAUDE).memory.id


def test_every_text_has_its_outcome_and_the_counts_agree(auto: Vault) -> None:
    known = stored(auto, "Drinks tea")
    forget(auto, stored(auto, "ex: Kim"), by=OWNER)
    secret = "password: " + "hunter2-correct-horse"
    texts = ["Drinks milk", "drinks TEA", "Ex: kim", "  ", secret, "a\0b", "Drinks Milk", "Rides"]
    batch, told = bring(auto, *texts)
    assert isinstance(told[0], Stored)
    assert told[1:7] == [
        Skipped(reason=SkipReason.DUPLICATE, by=known),
        Skipped(reason=SkipReason.EXCLUDED),
        Skipped(reason=SkipReason.EMPTY),
        Skipped(reason=SkipReason.SECRET_LIKE),
        Skipped(reason=SkipReason.INVALID),
        Skipped(reason=SkipReason.DUPLICATE, by=told[0].memory_id),
    ]
    assert (batch.total, batch.stored, batch.skipped) == (8, 2, 6)
    assert contents(auto, batch_id=batch.id) == ["Drinks milk", "Rides"]


def test_a_superseded_text_is_skipped_naming_what_replaced_it(auto: Vault) -> None:
    old = stored(auto, "Lives in Berlin")
    new = remember(auto, ImportItem(content="Lives in Munich"), by=CLAUDE, supersedes=old).memory
    _, told = bring(auto, "Lives in Berlin")
    assert told == [Skipped(reason=SkipReason.SUPERSEDED, by=new.id)]


def test_a_rewording_is_skipped_and_news_are_not(auto: Vault) -> None:
    known = stored(auto, "Anna works as a nurse in the city hospital of Hamburg")
    _, told = bring(
        auto,
        "In the city hospital of Hamburg Anna works as a nurse",
        "Anna works as a nurse in the city hospital of Hamburg, and is colour blind",
    )
    assert told[0] == Skipped(reason=SkipReason.NEAR_DUPLICATE, by=known)
    assert isinstance(told[1], Stored)


def test_texts_of_one_import_are_compared_with_each_other(auto: Vault) -> None:
    _, told = bring(
        auto,
        "Anna works as a nurse in the city hospital of Hamburg",
        "In the city hospital of Hamburg Anna works as a nurse",
    )
    assert isinstance(told[0], Stored)
    assert told[1] == Skipped(reason=SkipReason.NEAR_DUPLICATE, by=told[0].memory_id)


def test_a_possible_conflict_waits_in_review_mode_and_is_flagged_in_auto_mode(
    review: Vault, auto: Vault
) -> None:
    for vault, status in ((review, Status.PROPOSED), (auto, Status.ACTIVE)):
        _, first = bring(vault, "The meeting room opens at 9 in the morning")
        _, told = bring(vault, "The meeting room opens at 8 in the morning", "Anna rides a horse")
        assert isinstance(first[0], Stored)
        assert isinstance(told[0], Stored)
        assert isinstance(told[1], Stored)
        assert (first[0].status, told[1].status) == (Status.ACTIVE, Status.ACTIVE)
        assert told[0].status is status
        assert told[0].conflicts_with == told[0].similar_to == (first[0].memory_id,)


def test_the_owner_may_have_everything_similar_reviewed(review: Vault) -> None:
    wanted = Wanted(review_similar=ReviewSimilar.ALL)
    change_settings(review, wanted, expected=None, by=OWNER)
    bring(review, "Anna works as a nurse in the city hospital of Hamburg")
    _, told = bring(review, "Anna works as a nurse in the city hospital of Hamburg and sings")
    assert isinstance(told[0], Stored)
    assert told[0].status is Status.PROPOSED


def test_who_may_only_propose_imports_proposals(auto: Vault) -> None:
    batch, _ = bring(auto, "Drinks tea", "Rides", propose=True)
    assert contents(auto, status=Status.PROPOSED, batch_id=batch.id) == ["Drinks tea", "Rides"]


def test_an_undone_import_leaves_what_the_owner_touched(auto: Vault) -> None:
    batch, told = bring(auto, *(f"item number {n}x" for n in range(40)))
    ids = [outcome.memory_id for outcome in told if isinstance(outcome, Stored)]
    edit(auto, ids[3], Edit(content="mine now"), revision=1, by=OWNER)
    undone = imports.undo(auto, batch.id, by=OWNER)
    assert (undone.state, undone.undone) == (BatchState.UNDONE, 39)
    assert imports.undo(auto, batch.id, by=OWNER) == undone
    assert contents(auto) == ["mine now"]
    assert stored(auto, "item number 7x")
    assert auto.memories.head().hidden == ()


@pytest.mark.parametrize("by", [CLAUDE, OWNER], ids=["app", "owner"])
def test_an_undone_import_leaves_what_was_said_again(auto: Vault, by: Actor) -> None:
    batch, _ = bring(auto, "Lives in Berlin", "Rides")
    (berlin,) = [one for one in auto.memories.memories().items if one.content != "Rides"]
    munich = ImportItem(content="Lives in Munich")
    munich_id = remember(auto, munich, by=CLAUDE, supersedes=berlin.id).memory.id
    item = ImportItem(content="Lives in Berlin")
    again = remember(auto, item, by=by, supersedes=munich_id)
    assert again.memory.id == berlin.id

    assert imports.undo(auto, batch.id, by=OWNER).undone == 1

    assert contents(auto, status=Status.ACTIVE) == ["Lives in Berlin"]
    assert contents(auto, status=Status.SUPERSEDED) == ["Lives in Munich"]


def test_proposals_the_owner_has_approved_survive_an_undo(auto: Vault) -> None:
    batch, told = bring(auto, "Drinks tea", "Rides", propose=True)
    assert isinstance(told[0], Stored)
    approve(auto, told[0].memory_id, by=OWNER)
    imports.undo(auto, batch.id, by=OWNER)
    assert contents(auto) == ["Drinks tea"]


def test_the_same_request_is_the_same_import(auto: Vault) -> None:
    items = [ImportItem(content="Drinks tea")]
    first = imports.begin(auto, items, by=CLAUDE, request_id="r1")
    imports.carry_on(auto, first.id)
    again = imports.begin(auto, items, by=CLAUDE, request_id="r1")
    assert (again.id, again.state) == (first.id, BatchState.DONE)
    with pytest.raises(RequestIdReused):
        imports.begin(auto, [ImportItem(content="Rides")], by=CLAUDE, request_id="r1")


def test_work_goes_on_where_it_stopped_and_several_may_do_it(auto: Vault) -> None:
    items = [ImportItem(content=f"item number {n}x") for n in range(50)]
    batch = imports.begin(auto, items, by=CLAUDE)
    part = imports.carry_on(auto, batch.id, seconds=0)
    assert (part.state, part.position) == (BatchState.RUNNING, 0)
    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(partial(imports.carry_on, auto), [batch.id] * 3))
    assert [one.state for one in done] == [BatchState.DONE] * 3
    assert len(outcomes(auto, imports.found(auto, batch.id))) == 50
    assert len(contents(auto)) == 50
    assert auto.memories.items(batch.id, start=0, limit=10) == []


def test_what_a_stopped_process_left_behind_is_resumed(auto: Vault) -> None:
    batch = imports.begin(auto, [ImportItem(content="Drinks tea")], by=CLAUDE)
    assert imports.resume(auto, seconds=10) == 1
    assert imports.found(auto, batch.id).state is BatchState.DONE
    assert imports.resume(auto, seconds=10) == 0


def test_a_cancelled_import_stores_no_more(auto: Vault) -> None:
    items = [ImportItem(content=f"item number {n}x") for n in range(20)]
    batch = imports.begin(auto, items, by=CLAUDE)
    cancelled = imports.cancel(auto, batch.id, by=OWNER)
    assert cancelled.state is BatchState.CANCELLED
    assert imports.carry_on(auto, batch.id) == cancelled
    assert contents(auto) == []
    assert imports.undo(auto, batch.id, by=OWNER).undone == 0


def test_only_what_runs_can_be_cancelled(auto: Vault) -> None:
    batch, _ = bring(auto, "Drinks tea")
    with pytest.raises(WrongState):
        imports.cancel(auto, batch.id, by=OWNER)
    with pytest.raises(NotFound):
        imports.undo(auto, "bat_nothing", by=OWNER)


def test_an_import_has_at_least_one_text_and_not_too_many(auto: Vault) -> None:
    with pytest.raises(Invalid):
        imports.begin(auto, [], by=CLAUDE)
    with pytest.raises(TooLarge):
        imports.begin(auto, [ImportItem(content="x")] * 20_001, by=CLAUDE)


def test_without_a_model_only_exact_duplicates_are_noticed_and_it_says_so(
    auto: Vault, embedder: WordEmbedder
) -> None:
    embedder.down = True
    stored(auto, "Anna works as a nurse in the city hospital of Hamburg")
    batch, told = bring(
        auto,
        "In the city hospital of Hamburg Anna works as a nurse",
        "anna works as a nurse in the city hospital of hamburg",
    )
    assert isinstance(told[0], Stored)
    assert isinstance(told[1], Skipped)
    assert batch.keyword_only
    embedder.down = False
    later = replace(auto, clock=lambda: auto.clock() + jobs.LONGEST)
    assert jobs.work_off(later) == 2
    assert jobs.lag(auto) == 0


def test_a_text_held_by_a_hidden_import_is_try_again(auto: Vault) -> None:
    batch, _ = bring(auto, *(f"item number {n}x" for n in range(20)))
    look = auto.memories.look(batch=batch.id)
    intent = Change(audit=auto.audit("undo_import", batch.id, by=OWNER), hidden=(batch.id,))
    auto.memories.commit(intent, seen=look)
    assert contents(auto) == []
    with pytest.raises(Unavailable):
        stored(auto, "item number 7x")
