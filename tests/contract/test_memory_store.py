"""What every memory store keeps, wherever it is."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from keeproom.clock import tries
from keeproom.engines.item_store import chain, layout
from keeproom.engines.item_store.store import ItemMemoryStore
from keeproom.engines.item_store.table import Item, Page, Table
from keeproom.errors import (
    Contended,
    Excluded,
    Invalid,
    RequestIdReused,
    TooLarge,
)
from keeproom.vault import imports, model
from keeproom.vault.batch import Batch, BatchState, ImportItem, Outcome, Skipped, SkipReason, Stored
from keeproom.vault.change import Change, Claim, Look, Put
from keeproom.vault.forget import lift
from keeproom.vault.model import (
    OWNER,
    ApprovalMode,
    Decision,
    Earlier,
    Exclusion,
    GuideVersion,
    Held,
    Memory,
    MemoryType,
    Position,
    Profile,
    Receipt,
    Review,
    Settings,
    Status,
    identity_of,
)
from keeproom.vault.ports import MemoryStore
from keeproom.vault.review import reject
from tests.contract.hands import Hand, bring, embedded, forget, hand_on, note, reword, say, ticking
from tests.contract.tables import KINDS, Interrupted, Through, everything, fits

LATER = datetime(2027, 1, 1, tzinfo=UTC)


def contents(hand: Hand, status: Status | None = None, *, batch: str = "") -> list[str]:
    page = hand.store.memories(status=status, batch=batch, limit=1000)
    return [memory.content for memory in page.items]


def listed[T](read: Callable[[str], model.Page[T]]) -> list[T]:
    """All pages of a list."""
    page = read("")
    found = list(page.items)
    while page.next:
        page = read(page.next)
        found += page.items
    return found


def outcomes(hand: Hand, batch: Batch) -> list[Outcome]:
    return [outcome for _, outcome in hand.store.outcomes(batch.id, limit=99).items]


def touched_since(hand: Hand, since: Position) -> frozenset[str]:
    found = hand.store.changes(since)
    assert found is not None
    return found[1]


# ---- nouns


def test_it_is_the_port(hand: Hand) -> None:
    store: MemoryStore = hand.store
    assert store.head().hidden == ()


def test_every_field_of_a_memory_comes_back_as_it_went_in(hand: Hand) -> None:
    at = hand.clock()
    memory = Memory(
        id="mem_1",
        content="Größe 42,\n\t犬 and 🐕‍🦺 \x7f",
        status=Status.PROPOSED,
        created_at=at,
        updated_at=hand.clock(),
        since=hand.clock(),
        actor="mcp:Claude",
        type=MemoryType.PREFERENCE,
        source="notes (via Claude)",
        source_date=date(2019, 2, 28),
        tags=("shoes", "größe"),
        supersedes="mem_0",
        superseded_by="mem_2",
        similar_to=("mem_3", "mem_4"),
        conflicts_with=("mem_4",),
        batch_id="bat_1",
        revision=7,
        owned=True,
        history=(Earlier(content="Size 41", replaced_by="owner", replaced_at=at),),
        review=Review(
            decision=Decision.APPROVED,
            at=at,
            was=Status.PROPOSED,
            replaced=("mem_0",),
            conflicts_with=("mem_4",),
        ),
    )
    look = hand.store.look(memories=["mem_1"])
    change = Change(audit=hand.audit("remember", "mem_1"), put=(Put(memory=memory),))
    hand.store.commit(change, seen=look)

    assert hand.store.read(["mem_1"]) == {"mem_1": memory}
    assert hand.store.look(memories=["mem_1"]).memories["mem_1"] == memory
    assert hand.store.memories(status=Status.PROPOSED).items == (memory,)
    assert hand.store.memories(batch="bat_1").items == (memory,)


def test_an_embedding_comes_back_byte_for_byte(hand: Hand) -> None:
    made = model.Embedding(
        memory_id="mem_1",
        model="e5",
        content_hash="abc",
        dims=384,
        vectors=bytes(range(256)) * 24,
        bits=bytes(range(255, -1, -1)) * 600,
    )
    memory = say(hand, "tea")
    kept = replace(made, memory_id=memory.id)

    assert hand.store.keep_embedding(kept, revision=1)
    assert hand.store.embeddings([memory.id, "mem_none"]) == {memory.id: kept}


def test_what_is_remembered_is_listed_with_its_embedding(hand: Hand) -> None:
    new = say(hand, "Tea, not coffee")

    assert contents(hand) == ["Tea, not coffee"]
    assert hand.store.embeddings([new.id])[new.id] == embedded(hand, new.id, "Tea, not coffee")


def test_two_vaults_in_one_table_see_nothing_of_each_other(table: Table, hand: Hand) -> None:
    other = hand_on(table)
    mine = say(hand, "tea")

    assert say(other, "tea").id != mine.id
    assert other.store.read([mine.id]) == {}
    assert len(other.store.audit().items) == 1


def test_opening_a_vault_again_leaves_it_alone(table: Table, hand: Hand) -> None:
    say(hand, "tea")
    again = hand_on(table, hand.name)

    assert contents(again) == ["tea"]
    assert again.store.head() == hand.store.head()


def test_a_vault_has_a_name_that_cannot_reach_into_another(table: Table) -> None:
    with pytest.raises(Invalid):
        hand_on(table, "a#G#b")


# ---- deciding


def test_a_change_on_moved_ground_is_contended_and_leaves_no_trace(hand: Hand) -> None:
    new = say(hand, "tea")
    look = hand.store.look(memories=[new.id], identities=[identity_of("milk")])
    late = replace(new, content="milk", revision=2)
    reword(hand, new.id, "green tea")
    before = hand.store.position()

    change = Change(audit=hand.audit("edit", new.id), put=(Put(memory=late, was=new),))
    with pytest.raises(Contended):
        hand.store.commit(change, seen=look)
    assert hand.store.position() == before
    assert contents(hand) == ["green tea"]


def test_a_moved_gate_does_not_unsettle_a_decision(hand: Hand) -> None:
    look = hand.store.look(identities=[identity_of("tea")])
    for n in range(12):  # some of them through the very gate that was looked at
        change = Change(audit=hand.audit("note", str(n)))
        hand.store.commit(change, seen=replace(hand.store.look(), gate=_gate(hand, look)))

    change = Change(audit=hand.audit("note", "late"))
    hand.store.commit(change, seen=look)
    assert hand.store.audit_faults() == []
    assert sum(hand.store.position().counts) == 13


def _gate(hand: Hand, of: object) -> model.Gate:
    """The gate looked at, as it is now."""
    assert isinstance(of, Look)
    while True:
        gate = hand.store.look().gate
        if gate.number == of.gate.number:
            return gate


def test_an_exclusion_says_who_and_when_and_names_a_rejected_memory(reviewing: Hand) -> None:
    tea, milk = (say(reviewing, text) for text in ("tea", "milk"))
    rejected = reject(reviewing.vault, tea.id, by=OWNER)
    forget(reviewing, milk.id)

    (first, rejection), (second, forgotten) = reviewing.store.exclusions().items
    assert (first, second) == (identity_of("tea"), identity_of("milk"))
    assert rejection == Exclusion(at=rejected.since, by="owner", of=tea.id)
    assert forgotten.of == ""
    assert reviewing.store.look(identities=[first]).holdings == {first: rejection}


def test_a_lifted_exclusion_lets_the_text_in_again(hand: Hand) -> None:
    forget(hand, say(hand, "tea").id)
    lift(hand.vault, identity_of("tea"), by=OWNER)

    assert hand.store.exclusions().items == ()
    say(hand, "tea")
    fits(*_place(hand))


def _place(hand: Hand) -> tuple[Table, str]:
    return hand.table, hand.partition


def test_a_forgotten_text_is_nowhere_in_the_table_and_stays_out(hand: Hand) -> None:
    new = say(hand, "once it was Kim", request_id="r1")
    reword(hand, new.id, "ex: Kim")
    forget(hand, new.id)

    assert contents(hand) == []
    assert hand.store.embeddings([new.id]) == {}
    assert Skipped(reason=SkipReason.EXCLUDED) in outcomes(hand, bring(hand, "Ex: Kim", "tea"))
    table, pk = _place(hand)
    lying = [repr(dict(item)) for kind in KINDS for item in everything(table, pk, kind).values()]
    assert lying
    assert not [one for one in lying if "kim" in one.casefold()]
    with pytest.raises(Excluded):
        say(hand, "EX: kim")


def test_a_request_is_answered_as_the_first_time(hand: Hand) -> None:
    first = say(hand, "tea", request_id="r1 \udcff" * 300)

    assert say(hand, "tea", request_id="r1 \udcff" * 300) == first
    with pytest.raises(RequestIdReused):
        say(hand, "milk", request_id="r1 \udcff" * 300)


def test_an_expired_request_is_free_again(hand: Hand) -> None:
    say(hand, "tea", request_id="r1")
    late = hand_on(hand.table, hand.name, clock=ticking(LATER))

    assert say(late, "milk", request_id="r1").content == "milk"
    with pytest.raises(RequestIdReused):
        say(late, "tea", request_id="r1")


def test_receipts_that_have_expired_are_removed_and_others_are_not(hand: Hand) -> None:
    say(hand, "tea", request_id="r1")
    say(hand, "milk", request_id="r2")
    late = hand_on(hand.table, hand.name, clock=ticking(LATER))
    say(late, "bread", request_id="r3")
    say(late, "butter", request_id="r1")

    assert late.store.drop_expired() == 1
    assert len(everything(hand.table, hand.partition, "R")) == 2
    for text, request in (("butter", "r1"), ("bread", "r3")):
        assert say(late, text, request_id=request).content == text
    assert late.store.drop_expired() == 0


def test_a_receipt_written_anew_while_expired_ones_are_removed_stays(hand: Hand) -> None:
    say(hand, "tea", request_id="r1")
    table = Interrupted(hand.table, only="transact")
    late = hand_on(table, hand.name, clock=ticking(LATER))
    other = hand_on(hand.table, hand.name, clock=late.clock)
    table.act = lambda: say(other, "milk", request_id="r1")

    assert late.store.drop_expired() == 0
    assert say(other, "milk", request_id="r1").content == "milk"


def test_more_expired_receipts_than_a_transaction_takes_are_all_removed(hand: Hand) -> None:
    receipts = [
        Receipt(key=f"r{n}", fingerprint="f", result="m", expires=LATER) for n in range(130)
    ]
    hand.table.load([layout.receipt_item(hand.partition, one) for one in receipts])
    later = hand_on(hand.table, hand.name, clock=ticking(LATER + timedelta(days=1)))

    assert later.store.drop_expired() == 130
    assert everything(hand.table, hand.partition, "R") == {}


def test_an_id_that_no_memory_can_have_names_none(hand: Hand) -> None:
    odd = ["", "mem#1", "x" * 2000, "\udcff", "a b", "M#mem_1"]

    assert hand.store.read(odd) == {}
    assert hand.store.embeddings(odd) == {}
    assert hand.store.look(memories=odd, batch="b#1").memories == {}
    assert hand.store.memories(batch="b#1").items == ()


def test_a_change_of_more_actions_than_a_transaction_is_refused_whole(hand: Hand) -> None:
    look = hand.store.look()
    made = tuple(_simple(hand, f"mem_{n}") for n in range(50))
    change = Change(audit=hand.audit("import", "x"), put=made)

    with pytest.raises(ValueError, match="102"):
        hand.store.commit(change, seen=look)
    hand.store.commit(replace(change, put=made[:49]), seen=look)
    assert len(contents(hand)) == 49


def _simple(hand: Hand, memory_id: str) -> Put:
    at = hand.clock()
    memory = Memory(
        id=memory_id,
        content=memory_id,
        status=Status.ACTIVE,
        created_at=at,
        updated_at=at,
        since=at,
        actor="owner",
    )
    return Put(memory=memory)


def test_a_memory_that_outgrew_its_item_is_refused_everywhere(hand: Hand) -> None:
    new = say(hand, "tea")
    look = hand.store.look(memories=[new.id])
    long = Earlier(content="犬" * 140_000, replaced_by="owner", replaced_at=hand.clock())
    put = Put(memory=replace(new, history=(long,), revision=2), was=new)

    with pytest.raises(TooLarge):
        hand.store.commit(Change(audit=hand.audit("edit", new.id), put=(put,)), seen=look)
    assert hand.store.read([new.id]) == {new.id: new}


def test_a_batch_that_moved_on_is_contended(hand: Hand) -> None:
    waiting = imports.begin(hand.vault, [ImportItem(content="tea")], by=OWNER)
    look = hand.store.look(batch=waiting.id)
    assert look.batch == waiting
    imports.carry_on(hand.vault, waiting.id)
    cancelled = replace(waiting, state=BatchState.CANCELLED, revision=waiting.revision + 1)
    audit = hand.audit("cancel", waiting.id)

    with pytest.raises(Contended):
        hand.store.commit(Change(audit=audit, batch=cancelled, batch_was=waiting), seen=look)
    with pytest.raises(Contended):
        hand.store.commit(Change(audit=audit, batch=cancelled), seen=look)


def test_two_requests_with_one_key_are_not_both_done(hand: Hand) -> None:
    look = hand.store.look(receipt="r1")
    told = Receipt(key="r1", fingerprint="f", result="mem_1", expires=LATER)
    hand.store.commit(Change(audit=hand.audit("note", "1"), receipt=told), seen=look)

    with pytest.raises(Contended):
        hand.store.commit(Change(audit=hand.audit("note", "2"), receipt=told), seen=look)
    assert hand.store.look(receipt="r1").receipt == told


def test_two_undos_that_begin_at_once_do_not_show_each_other_again(hand: Hand) -> None:
    look = hand.store.look()
    hand.store.commit(Change(audit=hand.audit("undo", "1"), hidden=("bat_1",)), seen=look)

    with pytest.raises(Contended):
        hand.store.commit(Change(audit=hand.audit("undo", "2"), hidden=("bat_2",)), seen=look)
    assert hand.store.head().hidden == ("bat_1",)


def test_an_exclusion_made_anew_is_not_the_one_that_was_seen(hand: Hand) -> None:
    tea = identity_of("tea")
    forget(hand, say(hand, "tea").id)
    look = hand.store.look(identities=[tea])
    seen = look.holdings[tea]
    newer = Claim(identity=tea, seen=seen, now=Exclusion(at=hand.clock(), by="owner"))
    hand.store.commit(Change(audit=hand.audit("note", ""), claims=(newer,)), seen=look)
    lift = Claim(identity=tea, seen=seen, now=None)
    check = Claim(identity=tea, seen=seen, now=seen)

    for claim in (lift, check):
        with pytest.raises(Contended):
            hand.store.commit(Change(audit=hand.audit("lift", ""), claims=(claim,)), seen=look)
    fits(*_place(hand))


def test_a_change_that_names_one_thing_twice_is_refused(hand: Hand) -> None:
    twice = Claim(identity=identity_of("tea"), seen=None, now=Held("mem_1"))

    change, look = Change(audit=hand.audit("note", ""), claims=(twice, twice)), hand.store.look()
    with pytest.raises(ValueError, match="twice"):
        hand.store.commit(change, seen=look)


# ---- lists


def test_pages_are_whole_and_nothing_is_listed_twice_while_things_go(hand: Hand) -> None:
    texts = [f"fact{n:02}" for n in range(13)]
    bring(hand, *texts)

    page = hand.store.memories(limit=5)
    found = list(page.items)
    while page.next:
        forget(hand, found[-1].id)  # the very place of the cursor
        page = hand.store.memories(limit=5, cursor=page.next)
        found += page.items
    assert [memory.content for memory in found] == texts


def test_a_page_goes_on_past_what_it_leaves_out(hand: Hand) -> None:
    bring(hand, *(f"fact{n}" for n in range(9)))
    old = hand.store.memories().items
    for n in range(1, 8):
        say(hand, f"newer{n}", supersedes=old[n].id)
    active = ["fact0", "fact8", *(f"newer{n}" for n in range(1, 8))]

    assert [len(one.items) for one in _pages(hand, limit=4)] == [4, 4, 1]
    found = listed(lambda cursor: hand.store.memories(status=Status.ACTIVE, cursor=cursor, limit=4))
    assert [memory.content for memory in found] == active


def _pages(hand: Hand, *, limit: int) -> list[model.Page[Memory]]:
    pages = [hand.store.memories(status=Status.ACTIVE, limit=limit)]
    while pages[-1].next:
        cursor = pages[-1].next
        pages.append(hand.store.memories(status=Status.ACTIVE, cursor=cursor, limit=limit))
    return pages


def test_a_full_last_page_says_that_it_is_the_last(hand: Hand) -> None:
    for n in range(4):
        say(hand, f"fact {n}")

    assert hand.store.memories(limit=2).next != ""
    assert hand.store.memories(limit=4).next == ""


def test_what_is_not_active_is_listed_in_the_order_it_became_so(hand: Hand) -> None:
    first, second = say(hand, "first"), say(hand, "second")
    say(hand, "instead of second", supersedes=second.id)
    say(hand, "instead of first", supersedes=first.id)

    assert contents(hand, Status.SUPERSEDED) == ["second", "first"]


def test_a_marker_read_before_its_memory_changed_lists_nothing(hand: Hand) -> None:
    old = say(hand, "tea")
    say(hand, "milk", supersedes=old.id)
    forget(hand, say(hand, "wine").id)
    table, pk = _place(hand)
    table.load(
        {"pk": pk, "sk": name}
        for name in (
            f"L#superseded#2020-01-01T00:00:00.000Z#{old.id}",
            "L#superseded#2020-01-01T00:00:00.000Z#mem_gone",
            f"X#2020-01-01T00:00:00.000Z#{identity_of('wine')}",
            f"X#2020-01-01T00:00:00.000Z#{identity_of('milk')}",
        )
    )

    assert contents(hand, Status.SUPERSEDED) == ["tea"]
    assert len(hand.store.exclusions().items) == 1


def test_a_cursor_is_good_for_its_own_list_only(table: Table, hand: Hand) -> None:
    first, second = (bring(hand, *(f"{one}{n}" for n in range(3))).id for one in ("a", "b"))
    cursor = hand.store.memories(limit=1).next
    tampered = cursor[:-1] + ("A" if cursor[-1] != "A" else "B")
    other = hand_on(table).store

    refused: list[Callable[[], object]] = [
        lambda: hand.store.memories(cursor=tampered),
        lambda: hand.store.memories(cursor=cursor + "="),
        lambda: hand.store.memories(cursor="not a cursor"),
        lambda: hand.store.memories(cursor="é"),
        lambda: hand.store.memories(cursor="A" * 5),
        lambda: hand.store.memories(status=Status.ACTIVE, cursor=cursor),
        lambda: hand.store.memories(batch=first, cursor=cursor),
        lambda: hand.store.audit(cursor=cursor),
        lambda: other.memories(cursor=cursor),
        lambda: hand.store.outcomes(
            second, cursor=hand.store.outcomes(first, limit=1).next, limit=1
        ),
    ]
    for call in refused:
        with pytest.raises(Invalid) as told:
            call()
        assert told.value.param == "cursor"
    assert cursor.isascii()
    assert cursor.replace("-", "").replace("_", "").isalnum()


@pytest.mark.parametrize("limit", [0, -1, 1001])
def test_a_page_has_a_sensible_size(hand: Hand, limit: int) -> None:
    for call in (hand.store.memories, hand.store.audit, hand.store.batches):
        with pytest.raises(Invalid):
            call(limit=limit)


# ---- what was brought in


def test_an_undo_of_sixteen_proposals_fits_into_one_commit(hand: Hand) -> None:
    items = [ImportItem(content=f"item{n}") for n in range(16)]
    batch = imports.begin(hand.vault, items, by=OWNER, propose=True)
    imports.carry_on(hand.vault, batch.id)
    before = sum(hand.store.position().counts)

    assert imports.undo(hand.vault, batch.id, by=OWNER).undone == 16
    assert contents(hand) == []
    assert sum(hand.store.position().counts) == before + 2, "the intent, and one commit"


def test_what_an_undo_hides_is_in_no_answer(hand: Hand) -> None:
    batch = bring(hand, "item0", "item1", "item2")
    say(hand, "stays")
    ids = [memory.id for memory in hand.store.memories(batch=batch.id).items]
    look = hand.store.look(batch=batch.id)
    now = replace(batch, state=BatchState.UNDOING, revision=batch.revision + 1)
    intent = Change(
        audit=hand.audit("undo", batch.id), batch=now, batch_was=batch, hidden=(batch.id,)
    )
    hand.store.commit(intent, seen=look)

    assert contents(hand) == ["stays"]
    assert contents(hand, batch=batch.id) == []
    assert hand.store.read(ids) == {}
    assert hand.store.embeddings(ids) == {}
    assert hand.store.look(memories=ids).memories == {}
    assert set(hand.store.read(ids, hidden=True)) == set(ids)
    assert hand.store.members(batch.id, after="", limit=9) == (ids, False)


def test_members_of_an_import_come_in_chunks(hand: Hand) -> None:
    batch = bring(hand, *(f"item{n}" for n in range(5))).id
    ids = [memory.id for memory in hand.store.memories(batch=batch).items]

    assert hand.store.members(batch, after="", limit=2) == (ids[:2], True)
    assert hand.store.members(batch, after=ids[1], limit=3) == (ids[2:], False)
    assert hand.store.members("bat_none", after="", limit=3) == ([], False)


def test_outcomes_come_by_position(hand: Hand) -> None:
    batch = bring(hand, *(f"item{n // 2}" for n in range(12)))

    found = listed(lambda cursor: hand.store.outcomes(batch.id, cursor=cursor, limit=5))
    assert [position for position, _ in found] == list(range(12))
    stored, skipped = found[0][1], found[1][1]
    assert isinstance(stored, Stored)
    assert skipped == Skipped(reason=SkipReason.DUPLICATE, by=stored.memory_id)
    assert hand.store.read([stored.memory_id])[stored.memory_id].content == "item0"


def test_a_text_of_an_import_has_one_outcome(hand: Hand) -> None:
    batch = bring(hand, "tea")
    again = Change(
        audit=hand.audit("import", batch.id),
        batch=replace(batch, revision=batch.revision + 1, skipped=1),
        batch_was=batch,
        outcomes={0: Skipped(reason=SkipReason.EMPTY)},
    )

    with pytest.raises(Contended):
        hand.store.commit(again, seen=hand.store.look(batch=batch.id))


def test_batches_come_newest_first(hand: Hand) -> None:
    ids = [bring(hand, f"item{n}").id for n in range(5)]

    found = listed(lambda cursor: hand.store.batches(cursor=cursor, limit=2))
    assert [batch.id for batch in found] == ids[::-1]


def test_a_batch_comes_back_as_it_went_in(hand: Hand) -> None:
    at = hand.clock()
    batch = Batch(
        id="bat_1",
        state=BatchState.RECEIVING,
        actor="mcp:Claude",
        created_at=at,
        updated_at=at,
        source="chatgpt.zip",
        total=9,
        keyword_only=True,
        propose=True,
        cursor="mem_1",
    )
    change = Change(audit=hand.audit("import", "bat_1"), batch=batch)
    hand.store.commit(change, seen=hand.store.look())

    assert hand.store.look(batch="bat_1").batch == batch


def test_the_texts_of_an_import_wait_their_turn_in_order(hand: Hand) -> None:
    brought = [
        ImportItem(
            content=f"{n} " + "犬\udcff" * (n % 7) * 900,
            type=MemoryType.FACT,
            source_date=date(2020, 1, 1),
            tags=("a",),
            refused=SkipReason.INVALID if n % 5 == 0 else None,
        )
        for n in range(120)
    ]
    hand.store.put_items("bat_1", start=0, items=brought[:50])
    hand.store.put_items("bat_1", start=50, items=brought[50:])
    hand.store.put_items("bat_2", start=0, items=brought[:3])

    assert list(hand.store.items("bat_1", start=0, limit=1000)) == brought
    assert list(hand.store.items("bat_1", start=47, limit=9)) == brought[47:56]
    assert list(hand.store.items("bat_1", start=119, limit=9)) == brought[119:]
    assert list(hand.store.items("bat_1", start=120, limit=9)) == []

    hand.store.drop_items("bat_1")
    assert list(hand.store.items("bat_1", start=0, limit=9)) == []
    assert len(hand.store.items("bat_2", start=0, limit=9)) == 3


def test_texts_written_down_again_after_a_crash_are_the_same_texts(hand: Hand) -> None:
    brought = [ImportItem(content=f"item {n}") for n in range(30)]
    hand.store.put_items("bat_1", start=0, items=brought[:20])
    hand.store.put_items("bat_1", start=10, items=brought[10:])
    hand.store.put_items("bat_1", start=40, items=brought[:5])

    assert list(hand.store.items("bat_1", start=5, limit=1000)) == brought[5:], "up to the gap"


def test_a_text_too_long_to_wait_is_refused_before_any_is_written(hand: Hand) -> None:
    brought = [ImportItem(content="tea"), ImportItem(content="x" * 400_000)]

    with pytest.raises(TooLarge):
        hand.store.put_items("bat_1", start=0, items=brought)
    assert list(hand.store.items("bat_1", start=0, limit=9)) == []


# ---- the index queue


def test_a_job_is_taken_once_and_a_newer_revision_keeps_its_own(hand: Hand) -> None:
    hand.embedder.down = True
    new = say(hand, "tea")
    (job,) = hand.store.jobs(due=LATER, limit=9)
    assert (job.memory_id, job.revision, job.attempt) == (new.id, 1, 0)
    taken = hand.store.take(job, until=LATER)
    assert taken
    assert hand.store.take(job, until=LATER) is None
    assert hand.store.jobs(due=LATER - timedelta(days=1), limit=9) == []

    reword(hand, new.id, "green tea")
    hand.store.finish([taken])
    assert [one.revision for one in hand.store.jobs(due=LATER, limit=9)] == [2]


def test_many_jobs_are_finished_at_once_save_those_that_changed(hand: Hand) -> None:
    hand.embedder.down = True
    bring(hand, *(f"item{n}" for n in range(103)))
    jobs = hand.store.jobs(due=LATER, limit=1000)
    assert len(jobs) == 103
    reword(hand, jobs[50].memory_id, "changed")
    taken = hand.store.take(jobs[102], until=LATER)

    hand.store.finish([*jobs, jobs[0]])
    hand.store.finish([])
    left = {job.memory_id: job.revision for job in hand.store.jobs(due=LATER, limit=1000)}
    assert left == {jobs[50].memory_id: 2, jobs[102].memory_id: 1}
    assert taken


def test_only_so_many_jobs_are_given_as_were_asked_for(hand: Hand) -> None:
    hand.embedder.down = True
    bring(hand, *(f"item{n}" for n in range(5)))

    assert len(hand.store.jobs(due=LATER, limit=3)) == 3


def test_an_embedding_of_another_revision_is_not_kept(hand: Hand) -> None:
    new = say(hand, "tea")
    reword(hand, new.id, "milk")

    assert not hand.store.keep_embedding(embedded(hand, new.id, "tea"), revision=1)
    assert hand.store.embeddings([new.id])[new.id] == embedded(hand, new.id, "milk")
    forget(hand, new.id)
    assert not hand.store.keep_embedding(embedded(hand, new.id, "milk"), revision=2)
    assert everything(hand.table, hand.partition, "E") == {}


# ---- what has happened


def test_the_audit_comes_newest_first_and_says_who_did_what(hand: Hand) -> None:
    for n in range(7):
        say(hand, f"fact {n}")
    newest = hand.audit("note", "vault", "mem_x")
    newest = replace(newest, grant="grt_1", actor="mcp:Claude")
    hand.store.commit(Change(audit=newest), seen=hand.store.look())

    found = listed(lambda cursor: hand.store.audit(cursor=cursor, limit=3))
    assert found[0] == newest
    assert [entry.verb for entry in found] == ["note", *["remember"] * 7]
    assert found == sorted(found, key=lambda entry: entry.at, reverse=True)


@pytest.mark.parametrize(
    "tampered",
    [{"actor": "nobody"}, {"touched": '["mem_x"]'}, {"grant": "grt_x"}, {"place": 99}],
    ids=str,
)
def test_an_altered_audit_entry_shows(hand: Hand, tampered: Item) -> None:
    for n in range(40):
        note(hand, f"fact {n}")
    assert hand.store.audit_faults() == []
    entry = list(everything(*_place(hand), "A").values())[7]

    hand.table.load([{**entry, **tampered}])
    (fault,) = hand.store.audit_faults()
    assert f"chain {entry['chain']} " in fault
    hand.table.load([entry])
    assert hand.store.audit_faults() == []


def test_a_removed_audit_entry_shows_at_any_place(hand: Hand) -> None:
    for n in range(40):
        note(hand, f"fact {n}")
    table, pk = _place(hand)
    entries = list(everything(table, pk, "A").values())

    for entry in (entries[0], entries[20], entries[-1]):
        table.drop([(pk, str(entry["sk"]))])
        assert len(hand.store.audit_faults()) == 1
        table.load([entry])


def test_a_last_entry_forged_with_a_hash_of_its_own_shows(hand: Hand) -> None:
    say(hand, "tea")
    (item,) = everything(*_place(hand), "A").values()
    true = layout.link(item)
    before = model.Gate(number=true.chain, generation=hand.store.head().generation)
    _, forged = chain.link(before, replace(true.entry, actor="nobody"))
    hand.table.load([layout.link_item(hand.partition, forged)])

    assert len(hand.store.audit_faults()) == 1


def test_a_chain_cut_by_retention_is_whole_from_its_cut_on(hand: Hand) -> None:
    for n in range(60):
        note(hand, f"fact {n}")
    since = hand.store.position()
    table, pk = _place(hand)
    entry = next(one for one in everything(table, pk, "A").values() if one["place"] == 2)
    _cut(hand, entry)

    assert hand.store.audit_faults() == [], "what lies below a cut may still lie there"
    table.drop([(pk, str(entry["sk"]))])
    assert hand.store.audit_faults() == []
    assert hand.store.changes(since) == (since, frozenset())
    before = Position(generation=since.generation, counts=(0,) * 16)
    assert hand.store.changes(before) is None


def _cut(hand: Hand, at: Item) -> None:
    number = int(at["chain"])
    key = (layout.partition(hand.name), layout.gate_name(number))
    gate = hand.table.get([key])[key]
    hand.table.load([{**gate, "cut_count": at["place"], "cut_hash": at["hash"]}])


def test_an_index_that_follows_the_changes_misses_nothing(hand: Hand) -> None:
    start = since = hand.store.position()
    assert hand.store.changes(since) == (since, frozenset())
    known: set[str] = set()
    for n in range(15):
        say(hand, f"fact {n}")
        if n % 7 == 0:
            found = hand.store.changes(since)
            assert found
            since, touched = found
            known |= touched
    old = hand.store.memories().items[0]
    new = say(hand, "instead", supersedes=old.id)

    assert {old.id, new.id} <= touched_since(hand, since)
    everyone = {memory.id for memory in hand.store.memories().items}
    assert known | touched_since(hand, since) == everyone
    assert touched_since(hand, start) == everyone


def test_a_moment_that_the_vault_has_not_had_means_reading_all_again(hand: Hand) -> None:
    say(hand, "tea")
    now = hand.store.position()

    assert hand.store.changes(replace(now, generation="gen_other")) is None
    assert hand.store.changes(replace(now, counts=(*now.counts[:-1], 99))) is None
    assert hand.store.changes(replace(now, counts=now.counts[:-1])) is None


def test_changes_are_found_when_a_clock_was_set_back(hand: Hand) -> None:
    for n in range(105):  # more than is read before an entry is thought late
        note(hand, str(n))
    since = hand.store.position()
    early = hand_on(hand.table, hand.name, clock=ticking(datetime(2001, 1, 1, tzinfo=UTC)))
    new = say(early, "tea")

    found = hand.store.changes(since)
    assert found == (hand.store.position(), frozenset({new.id}))


class Overtaken(Through):
    """Whenever the gates have been read, somebody commits."""

    act: Callable[[], object] | None = None

    def page(self, pk: str, prefix: str, *, after: str, limit: int, newest: bool = False) -> Page:
        page = self.table.page(pk, prefix, after=after, limit=limit, newest=newest)
        if prefix == "GATE#" and self.act:
            self.act()
        return page


def test_commits_while_the_audit_is_verified_are_no_faults(hand: Hand) -> None:
    door = Overtaken(hand.table)
    reader = ItemMemoryStore(door, hand.name, clock=hand.clock, settling=0.0)
    start = reader.position()

    door.act = lambda: note(hand, "", hand.audit("x", "").id)
    assert reader.audit_faults() == []
    found = reader.changes(start)
    assert found
    assert sum(found[0].counts) == 1, "what is younger than the gates comes next time"
    assert len(found[1]) == 1


class Late(Through):
    """One audit entry cannot be seen yet."""

    hidden: str = ""

    def page(self, pk: str, prefix: str, *, after: str, limit: int, newest: bool = False) -> Page:
        page = self.table.page(pk, prefix, after=after, limit=limit, newest=newest)
        items = [item for item in page.items if self.hidden not in str(item["sk"]).split("#")]
        return Page(items, page.more)


def test_a_change_that_cannot_be_seen_yet_comes_the_next_time(hand: Hand) -> None:
    late = Late(hand.table)
    reader = ItemMemoryStore(late, hand.name, clock=hand.clock, settling=0.0)
    start = reader.position()
    for n in range(40):
        note(hand, f"mem_{n}", f"mem_{n}")
    everyone = touched_since(hand, start)
    unseen = hand.store.audit(limit=20).items[-1]
    late.hidden = unseen.id

    found = reader.changes(start)
    assert found
    reached, first = found
    assert first == everyone - {unseen.subject}
    assert reached != reader.position()
    late.hidden = ""
    found = reader.changes(reached)
    assert found
    assert found[0] == reader.position()
    assert unseen.subject in found[1]


def test_what_has_just_happened_is_told_again_until_all_of_it_can_be_seen(hand: Hand) -> None:
    """An audit entry may be visible before the memory it names."""
    start = hand.store.position()
    new = say(hand, "tea")
    slow, reader = (
        ItemMemoryStore(hand.table, hand.name, clock=hand.clock, settling=seconds)
        for seconds in (3_600.0, 0.1)
    )
    at_once = slow.changes(start)
    assert at_once == (start, frozenset({new.id}))
    assert slow.changes(start) == at_once

    now = hand.store.position()
    told = next(told for _ in tries(60.0) if (told := reader.changes(start)) != at_once)
    assert told == (now, frozenset({new.id}))
    assert reader.changes(now) == (now, frozenset())


# ---- guide, settings, profiles


def test_settings_are_changed_over_what_was_seen(reviewing: Hand) -> None:
    hand = reviewing
    assert hand.store.settings() == Settings()
    auto = Settings(approval_mode=ApprovalMode.AUTO, revision=1)
    look = hand.store.look()
    change = Change(audit=hand.audit("settings", ""), settings=auto)
    hand.store.commit(change, seen=look)

    assert hand.store.settings() == auto
    assert hand.store.look().settings == auto
    with pytest.raises(Contended):
        hand.store.commit(replace(change, audit=hand.audit("settings", "")), seen=look)
    second = replace(auto, recall_limit=3, revision=2)
    hand.store.commit(Change(audit=hand.audit("settings", ""), settings=second), seen=look)
    assert hand.store.settings() == second
    change = Change(audit=hand.audit("settings", ""), settings=replace(second, revision=4))
    with pytest.raises(Contended):
        hand.store.commit(change, seen=look)


def test_guide_versions_come_newest_first_and_each_number_once(hand: Hand) -> None:
    for number in range(1, 12):
        guide = GuideVersion(number=number, content=f"v{number}", at=hand.clock(), actor="owner")
        change = Change(audit=hand.audit("guide", str(number)), guide=guide)
        hand.store.commit(change, seen=hand.store.look())

    found = listed(lambda cursor: hand.store.guide_versions(cursor=cursor, limit=4))
    assert [version.number for version in found] == list(range(11, 0, -1))
    taken = Change(audit=hand.audit("guide", "5"), guide=replace(found[0], number=5))
    with pytest.raises(Contended):
        hand.store.commit(taken, seen=hand.store.look())


def test_a_profile_comes_back_as_it_went_in(hand: Hand) -> None:
    profile = Profile(
        model="org/model#v1",
        dims=384,
        mu={"": 0.7125, "han": 0.5},
        query_mu=0.1 + 0.2,
        covers=frozenset({"latin", "han"}),
        calibrated=True,
        measured_at=hand.clock(),
    )
    assert hand.store.profile("org/model#v1") is None
    hand.store.keep_profile(profile)
    assert hand.store.profile("org/model#v1") == profile
    hand.store.keep_profile(replace(profile, dims=512))
    assert hand.store.profile("org/model#v1") == replace(profile, dims=512)
