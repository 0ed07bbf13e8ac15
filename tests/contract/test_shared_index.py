"""What the index jobs do to an index that all processes share, on every store."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from keeproom.engines.item_store.table import Table
from keeproom.errors import Unavailable
from keeproom.vault import forget as forgetting
from keeproom.vault import imports, jobs, rebuild, review
from keeproom.vault.batch import ImportItem
from keeproom.vault.model import OWNER, Status
from keeproom.vault.publish import SHOWN
from keeproom.vault.published import Backlog
from keeproom.vault.recall import Query, Recalled, recall
from keeproom.vault.remember import remember
from keeproom.vault.work import index_step
from tests.contract.hands import AGENT, Hand, bring, forget, hand_on, reword, say
from tests.contract.tables import Crash
from tests.embedders import WordEmbedder
from tests.search_engine.paper import PaperIndex
from tests.search_engine.places import Watch, asking

LATER = timedelta(minutes=10)


@dataclass
class Place:
    """One vault, its shared index, and hands of several processes at it."""

    table: Table
    embedder: WordEmbedder = field(default_factory=WordEmbedder)
    watch: Watch = field(default_factory=Watch)
    shared: PaperIndex = field(init=False)
    name: str = ""

    def __post_init__(self) -> None:
        self.shared = PaperIndex(self.embedder.model, self.embedder.dims)

    def hand(self, *, auto: bool = True) -> Hand:
        """Of another process."""
        hand = hand_on(
            self.table,
            self.name,
            auto=auto and not self.name,
            clock=self.watch,
            embedder=self.embedder,
            index=lambda: asking(self.shared, self.embedder, self.watch),
        )
        self.name = hand.name
        return hand

    def texts(self, hand: Hand) -> list[str]:
        """What the documents stand for, in order; each must be known to the store."""
        for name, (generation, row) in self.shared.holds.items():
            known = hand.store.to_publish([row.id]).published[row.id]
            assert (name in known.names, known.begun) == (True, None)
            assert generation == hand.store.head().generation
        ids = [row.id for _, row in self.shared.holds.values()]
        memories = hand.store.read(ids)
        assert len(memories) == len(set(ids))
        return sorted(memories[one].content for one in ids)


@pytest.fixture
def place(table: Table) -> Place:
    return Place(table)


@pytest.fixture
def hand(place: Place) -> Hand:
    """At a vault whose shared index has once been complete."""
    hand = place.hand()
    assert rebuild.carry_on(hand.vault) == 0
    return hand


def ask(hand: Hand, text: str) -> Recalled:
    return recall(hand.vault, Query(text=text))


def found(hand: Hand, text: str) -> list[str]:
    return [hit.memory.content for hit in ask(hand, text).hits]


def work_off(place: Place, hand: Hand) -> int:
    place.watch.wait(LATER)
    return jobs.work_off(hand.vault)


def test_what_is_remembered_is_published_at_once_and_off_the_queue(
    place: Place, hand: Hand
) -> None:
    say(hand, "Anna plays the violin")
    assert place.texts(hand) == ["Anna plays the violin"]
    assert jobs.lag(hand.vault) == 0


def test_where_a_worker_is_told_it_publishes_and_nobody_waits_for_the_index(
    place: Place, hand: Hand
) -> None:
    told: list[str] = []
    waiting = replace(hand.vault, publish_later=lambda: told.append("index"))
    remember(waiting, ImportItem(content="Anna plays the violin"), by=AGENT)
    assert (told, place.texts(hand)) == (["index"], [])
    assert [one.memory.content for one in recall(waiting, Query(text="violin")).hits] == [
        "Anna plays the violin"
    ]
    worker = place.hand()
    assert jobs.lag(worker.vault) == 1
    assert work_off(place, worker) == 1
    assert place.texts(worker) == ["Anna plays the violin"]
    assert jobs.lag(worker.vault) == 0


def test_an_edit_leaves_one_document_and_it_is_the_new_one(place: Place, hand: Hand) -> None:
    memory = say(hand, "Anna plays the violin")
    reword(hand, memory.id, "Anna plays the viola")
    ((_, row),) = place.shared.holds.values()
    assert "viola" in row.terms
    assert place.texts(hand) == ["Anna plays the viola"]


def test_a_forgotten_memory_leaves_nothing_behind(place: Place, hand: Hand) -> None:
    memory = say(hand, "Anna plays the violin")
    forget(hand, memory.id)
    assert place.shared.holds == {}
    assert hand.store.to_publish([memory.id]).published == {}
    assert jobs.lag(hand.vault) == 0


def test_a_decision_is_published_without_another_embedding(place: Place, hand: Hand) -> None:
    item = ImportItem(content="Anna plays the violin")
    memory = remember(hand.vault, item, by=AGENT, propose=True).memory
    calls = place.embedder.calls
    review.approve(hand.vault, memory.id, by=OWNER)
    ((_, row),) = place.shared.holds.values()
    assert (row.status, place.embedder.calls) == (Status.ACTIVE, calls)


def test_an_import_and_its_undo_reach_the_shared_index(place: Place, hand: Hand) -> None:
    batch = bring(hand, "Anna plays the violin", "Ben rides a horse", "Kim bakes bread")
    assert len(place.texts(hand)) == 3
    imports.undo(hand.vault, batch.id, by=OWNER)
    assert place.shared.holds == {}


def test_what_an_agent_has_withdrawn_is_not_held(place: Place) -> None:
    hand = place.hand(auto=False)
    memory = say(hand, "Anna plays the violin")
    review.approve(hand.vault, memory.id, by=OWNER)
    assert place.texts(hand) == ["Anna plays the violin"]
    assert forgetting.forget(hand.vault, memory.id, by=AGENT)
    assert place.shared.holds == {}
    assert found(hand, "violin") == []


def test_writes_succeed_while_it_is_down_and_reach_it_later(place: Place, hand: Hand) -> None:
    place.shared.down = True
    say(hand, "Anna plays the violin")
    told = ask(hand, "violin")
    assert [hit.memory.content for hit in told.hits] == ["Anna plays the violin"]
    assert (told.mode, told.stand_in) == ("hybrid", True)
    assert jobs.lag(hand.vault) == 1
    place.shared.down = False
    assert work_off(place, hand) == 1
    assert place.texts(hand) == ["Anna plays the violin"]
    assert not ask(hand, "violin").stand_in


def test_a_memory_without_embedding_waits_and_is_found_by_its_words(
    place: Place, hand: Hand
) -> None:
    place.embedder.down = True
    say(hand, "Anna plays the violin")
    assert (place.shared.holds, found(hand, "violin")) == ({}, ["Anna plays the violin"])
    place.embedder.down = False
    assert work_off(place, hand) == 1
    assert place.texts(hand) == ["Anna plays the violin"]


def test_what_others_wrote_is_found_before_the_shared_index_shows_it(
    place: Place, hand: Hand
) -> None:
    place.watch.wait(LATER)
    place.shared.late = True
    other = place.hand()
    place.watch.wait(LATER)
    assert found(other, "violin") == []
    say(hand, "Anna plays the violin")
    assert found(other, "violin") == found(hand, "violin") == ["Anna plays the violin"]


def test_what_waits_on_the_queue_is_found_however_long_it_waits(place: Place, hand: Hand) -> None:
    say(hand, "Ben rides a horse")
    place.shared.refused.add(say_while_down(place, hand, "Anna plays the violin"))
    for _ in range(4):
        place.watch.wait(LATER)
        assert found(hand, "violin") == ["Anna plays the violin"]
        assert not ask(hand, "violin").stand_in


def say_while_down(place: Place, hand: Hand, text: str) -> str:
    place.shared.down = True
    memory = say(hand, text)
    place.shared.down = False
    return memory.id


def test_a_partial_refusal_keeps_only_the_refused_waiting(place: Place, hand: Hand) -> None:
    first = say(hand, "Ben rides a horse")
    place.shared.refused.add(first.id)
    reword(hand, first.id, "Ben rides a pony")
    say(hand, "Anna plays the violin")
    assert jobs.lag(hand.vault) == 1
    assert sorted(found(hand, "who rides or plays")) == [
        "Anna plays the violin",
        "Ben rides a pony",
    ]
    place.shared.refused.clear()
    assert work_off(place, hand) == 1
    assert place.texts(hand) == ["Anna plays the violin", "Ben rides a pony"]


def lose() -> None:
    raise Unavailable("The answer is lost.")


def die() -> None:
    raise Crash


@pytest.mark.parametrize("done", [True, False])
@pytest.mark.parametrize("fault", [lose, die])
def test_a_broken_write_leaves_at_most_a_ghost_that_goes_with_the_next(
    place: Place, hand: Hand, fault: Callable[[], None], *, done: bool
) -> None:
    place.shared.after, place.shared.before = (fault, None) if done else (None, fault)
    try:
        say(hand, "Anna plays the violin")
    except Crash:
        hand = place.hand()
    assert len(place.shared.holds) == done
    assert found(hand, "violin") == ["Anna plays the violin"]
    assert jobs.work_off(hand.vault) == 0  # somebody may still be at it
    place.watch.wait(SHOWN)
    assert jobs.work_off(hand.vault) == 1
    assert place.texts(hand) == ["Anna plays the violin"]


@pytest.mark.parametrize("fault", [lose, die])
def test_forgetting_also_removes_the_documents_nobody_knows(
    place: Place, hand: Hand, fault: Callable[[], None]
) -> None:
    place.shared.after = fault
    try:
        say(hand, "Anna plays the violin")
    except Crash:
        hand = place.hand()
    (memory,) = hand.store.memories().items
    forget(hand, memory.id)
    assert found(hand, "violin") == []
    assert work_off(place, hand) == 1
    assert (place.shared.holds, hand.store.to_publish([memory.id]).published) == ({}, {})


def test_killed_between_commit_and_index_write_it_is_made_up_for(place: Place, hand: Hand) -> None:
    memory = say(hand, "Anna plays the violin")
    place.shared.before = die
    with pytest.raises(Crash):
        reword(hand, memory.id, "Anna plays the viola")
    other = place.hand()
    assert found(other, "viola") == ["Anna plays the viola"]
    assert work_off(place, other) == 1
    assert place.texts(other) == ["Anna plays the viola"]


def test_an_older_write_that_comes_late_never_stays(place: Place, hand: Hand) -> None:
    """While one process writes the first text, another has edited it."""
    other = place.hand()

    def edit() -> None:
        (memory,) = other.store.memories().items
        reword(other, memory.id, "Anna plays the viola")

    place.shared.before = edit
    say(hand, "Anna plays the violin")
    assert found(hand, "viola") == found(other, "viola") == ["Anna plays the viola"]
    assert jobs.lag(hand.vault) == 1
    work_off(place, other)
    ((_, row),) = place.shared.holds.values()
    assert "viola" in row.terms
    assert place.texts(other) == ["Anna plays the viola"]


def test_a_writer_that_was_thought_dead_takes_its_documents_back(place: Place, hand: Hand) -> None:
    other = place.hand()

    def dawdle() -> None:
        work_off(place, other)

    place.shared.after = dawdle
    say(hand, "Anna plays the violin")
    assert place.texts(hand) == ["Anna plays the violin"]
    assert jobs.lag(hand.vault) == 0


def test_ghosts_and_doubles_cost_nothing(place: Place, hand: Hand) -> None:
    memory = say(hand, "Anna plays the violin")
    say(hand, "Ben rides a horse")
    ((generation, row), *_) = place.shared.holds.values()
    for _ in range(3):
        place.shared.add([row], generation=generation)
    place.watch.wait(LATER)
    assert found(hand, "violin or horse") == found(place.hand(), "violin or horse")
    assert len(found(hand, "violin or horse")) == 2
    forget(hand, memory.id)
    place.watch.wait(LATER)
    assert found(hand, "violin or horse") == ["Ben rides a horse"]


def settled(place: Place, hand: Hand) -> None:
    """Nothing is fresh any more, as far as the process knows."""
    for _ in range(3):
        place.watch.wait(LATER)
        ask(hand, "anything")


@pytest.mark.parametrize("deed", ["undone", "reworded"])
def test_any_number_of_ghosts_hides_nothing(sqlite: Table, deed: str) -> None:
    """More of them than a search asks for, all of them better than what is left."""
    place = Place(sqlite)
    hand = place.hand()
    assert rebuild.carry_on(hand.vault) == 0
    say(hand, "Apple pie with cinnamon, sugar and cream")
    batch = bring(hand, *(f"apple number{n}x" for n in range(220)))
    place.shared.deaf = True
    if deed == "undone":
        imports.undo(hand.vault, batch.id, by=OWNER)
    else:
        for memory in hand.store.memories(batch=batch.id, limit=500).items:
            reword(hand, memory.id, f"pear of {memory.id}")
    settled(place, hand)
    for one in (hand, place.hand()):
        told = ask(one, "apple")
        assert [hit.memory.content for hit in told.hits] == [
            "Apple pie with cinnamon, sugar and cream"
        ]
        assert not told.stand_in


# ---- making it anew


def all_steps(place: Place, hand: Hand) -> int:
    """How many there were, until nothing is left to do for a long time."""
    steps = 0
    for _ in range(4):
        while index_step(hand.vault):
            steps += 1
        place.watch.wait(LATER)
    return steps


def test_an_empty_vault_is_complete_without_a_call(place: Place) -> None:
    hand = place.hand()
    assert not index_step(hand.vault)
    assert hand.store.backlog(place.shared.name) == Backlog(ready=True, waiting=frozenset())
    assert place.shared.touched == 0


def test_until_it_is_complete_the_process_answers_by_itself(place: Place, table: Table) -> None:
    before = hand_on(table, clock=place.watch, embedder=place.embedder)
    place.name = before.name
    bring(before, *(f"Apple tree number{number}" for number in range(52)))
    hand = place.hand()
    place.watch.wait(LATER)
    told = ask(hand, "apple number7")
    assert (place.shared.touched, told.stand_in) == (0, False)
    assert told.hits[0].memory.content == "Apple tree number7"
    assert all_steps(place, hand) > 0
    assert len(place.texts(hand)) == 52
    assert rebuild.progress(hand.vault).done == 52
    touched = place.shared.touched
    assert found(hand, "apple number7")[0] == "Apple tree number7"
    assert place.shared.touched == touched + 1


def test_a_rebuild_shows_its_progress_and_never_makes_recall_worse(
    place: Place, hand: Hand
) -> None:
    bring(hand, *(f"Apple tree number{number}" for number in range(52)))
    place.watch.wait(LATER)
    ((generation, row), *_) = place.shared.holds.values()
    place.shared.add([row], generation="gen_before_the_restore")
    place.shared.add([row], generation=generation)
    began = rebuild.begin(hand.vault, reembed=False)
    assert (began.running, began.done, began.total) == (True, 0, 52)
    best = found(hand, "apple number7")
    seen: list[int] = []
    while rebuild.progress(hand.vault).running:
        rebuild.carry_on(hand.vault)
        seen.append(rebuild.progress(hand.vault).done)
        assert found(hand, "apple number7") == best
        place.watch.wait(timedelta(seconds=40))
    assert seen[:2] == [50, 52]
    assert len(place.texts(hand)) == 52
    assert place.shared.tidied == 1


def test_a_rebuild_with_embeddings_makes_each_anew(place: Place, hand: Hand) -> None:
    say(hand, "Anna plays the violin")
    calls = place.embedder.calls
    rebuild.begin(hand.vault, reembed=True)
    all_steps(place, hand)
    assert place.embedder.calls == calls + 1
    assert not rebuild.progress(hand.vault).running


def test_a_rebuild_waits_for_an_index_or_a_model_that_is_down(place: Place, hand: Hand) -> None:
    say(hand, "Anna plays the violin")
    rebuild.begin(hand.vault, reembed=True)
    place.shared.down = True
    assert all_steps(place, hand) == 0
    place.shared.down, place.embedder.down = False, True
    assert all_steps(place, hand) == 0
    assert rebuild.progress(hand.vault).running
    place.embedder.down = False
    assert all_steps(place, hand) > 0
    assert not rebuild.progress(hand.vault).running
    assert place.texts(hand) == ["Anna plays the violin"]


def test_what_a_rebuild_cannot_send_waits_on_the_queue(place: Place, hand: Hand) -> None:
    memory = say(hand, "Anna plays the violin")
    say(hand, "Ben rides a horse")
    place.shared.refused.add(memory.id)
    rebuild.begin(hand.vault, reembed=False)
    rebuild.carry_on(hand.vault)
    assert jobs.lag(hand.vault) == 1
    place.shared.refused.clear()
    all_steps(place, hand)
    assert place.texts(hand) == ["Anna plays the violin", "Ben rides a horse"]


def test_another_process_goes_on_with_a_rebuild_whose_worker_died(place: Place, hand: Hand) -> None:
    say(hand, "Anna plays the violin")
    rebuild.begin(hand.vault, reembed=False)
    place.shared.after = die
    with pytest.raises(Crash):
        rebuild.carry_on(hand.vault)
    other = place.hand()
    assert rebuild.carry_on(other.vault) == 0  # it may be alive
    all_steps(place, other)
    assert not rebuild.progress(other.vault).running
    assert place.texts(other) == ["Anna plays the violin"]


def test_an_index_that_is_gone_is_filled_again_before_it_is_asked(place: Place, hand: Hand) -> None:
    bring(hand, "Anna plays the violin", "Ben rides a horse")
    place.watch.wait(LATER)
    place.shared.burn()
    assert found(hand, "violin") == ["Anna plays the violin"]
    say(hand, "Kim bakes bread")
    other = place.hand()
    for one in (hand, other):
        assert found(one, "violin") == ["Anna plays the violin"]
    all_steps(place, hand)
    assert len(place.texts(hand)) == 3
    assert found(other, "violin") == ["Anna plays the violin"]


def test_with_nothing_due_the_schedule_touches_nothing(place: Place, hand: Hand) -> None:
    say(hand, "Anna plays the violin")
    touched = place.shared.touched
    place.watch.wait(LATER)
    assert not index_step(hand.vault)
    assert not index_step(place.hand().vault)
    assert place.shared.touched == touched


def test_a_rebuild_is_in_the_audit(hand: Hand) -> None:
    rebuild.begin(hand.vault, reembed=True)
    (entry, *_) = hand.store.audit().items
    assert (entry.verb, entry.subject, entry.actor) == ("reindex", "reembed", "owner")
