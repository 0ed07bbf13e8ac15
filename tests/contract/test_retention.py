"""What is older than the owner keeps it goes, and nothing else, on every store."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from keeproom.clock import utc_now
from keeproom.errors import Excluded, NotFound
from keeproom.vault import listing, review
from keeproom.vault.batch import ImportItem
from keeproom.vault.edit import Edit, edit
from keeproom.vault.forget import forget
from keeproom.vault.imports import begin, carry_on
from keeproom.vault.jobs import catch_up
from keeproom.vault.listing import Listed
from keeproom.vault.model import OWNER, Actor, Memory, Status
from keeproom.vault.recall import Query, recall
from keeproom.vault.remember import remember
from keeproom.vault.retention import CleanedUp, clean_up
from keeproom.vault.settings import Wanted, change_settings
from keeproom.vault.vault import Vault

CLAUDE = Actor("mcp:Claude")


def later(vault: Vault, *, days: float) -> Vault:
    return replace(vault, clock=lambda: utc_now() + timedelta(days=days))


def told(vault: Vault, text: str, *, supersedes: str = "") -> Memory:
    return remember(vault, ImportItem(content=text), by=CLAUDE, supersedes=supersedes).memory


def rejected(vault: Vault, text: str) -> Memory:
    memory = remember(vault, ImportItem(content=text), by=CLAUDE, propose=True).memory
    return review.reject(vault, memory.id, by=OWNER)


def gone(vault: Vault, memory: Memory) -> bool:
    return memory.id not in vault.memories.read([memory.id])


def test_what_was_replaced_is_kept_for_a_year(auto: Vault) -> None:
    old = told(auto, "Anna lives in Graz")
    new = told(auto, "Anna lives in Linz", supersedes=old.id)
    assert clean_up(later(auto, days=364)).superseded == 0
    assert clean_up(later(auto, days=366)).superseded == 1
    assert gone(auto, old)
    assert not gone(auto, new)
    found = recall(auto, Query(text="where Anna lives", include_history=True))
    assert [hit.memory.id for hit in found.hits] == [new.id]


def test_its_text_may_be_said_again(auto: Vault) -> None:
    old = told(auto, "Anna lives in Graz")
    told(auto, "Anna lives in Linz", supersedes=old.id)
    clean_up(later(auto, days=366))
    assert told(auto, "Anna lives in Graz").status is Status.ACTIVE


def test_what_was_turned_down_goes_after_a_month_and_stays_out(auto: Vault) -> None:
    memory = rejected(auto, "Anna drinks gin")
    assert clean_up(later(auto, days=29)).rejected == 0
    assert clean_up(later(auto, days=31)).rejected == 1
    assert gone(auto, memory)
    with pytest.raises(Excluded):
        told(auto, "anna drinks GIN")
    ((identity, exclusion),) = listing.exclusions(auto).items
    assert (identity, exclusion.by, exclusion.of) == (memory.identity, "owner", "")


def test_what_is_active_proposed_or_withdrawn_is_never_removed(auto: Vault, review: Vault) -> None:
    active = told(auto, "Anna lives in Graz")
    proposed = remember(auto, ImportItem(content="Anna sings"), by=CLAUDE, propose=True).memory
    withdrawn = told(review, "Anna has a cat")
    forget(review, withdrawn.id, by=CLAUDE)
    for vault in (auto, review):
        ended = clean_up(later(vault, days=9_000))
        assert (ended.superseded, ended.rejected) == (0, 0)
    assert not gone(auto, active)
    assert not gone(auto, proposed)
    (waiting,) = listing.memories(review, Listed(withdrawn=True)).items
    assert waiting.id == withdrawn.id


def test_a_superseded_memory_that_an_agent_has_withdrawn_waits_for_the_owner(review: Vault) -> None:
    old = remember(review, ImportItem(content="Anna lives in Graz"), by=OWNER).memory
    remember(review, ImportItem(content="Anna lives in Linz"), by=OWNER, supersedes=old.id)
    forget(review, old.id, by=CLAUDE)
    assert clean_up(later(review, days=9_000)).superseded == 0
    (waiting,) = listing.memories(review, Listed(withdrawn=True)).items
    assert waiting.id == old.id


def test_an_earlier_text_is_kept_as_long_as_a_superseded_memory(auto: Vault) -> None:
    memory = told(auto, "Age 41")
    edit(auto, memory.id, Edit(content="Age 42"), revision=None, by=OWNER)
    edit(later(auto, days=100), memory.id, Edit(content="Age 43"), revision=None, by=OWNER)
    assert clean_up(later(auto, days=364)).earlier_texts == 0
    assert clean_up(later(auto, days=366)).earlier_texts == 1
    now = listing.memory(auto, memory.id)
    assert (now.content, [one.content for one in now.history]) == ("Age 43", ["Age 42"])
    assert clean_up(later(auto, days=466)).earlier_texts == 1
    assert recall(auto, Query(text="Age 43")).hits[0].memory.history == ()


def test_nought_days_are_for_ever(auto: Vault) -> None:
    old = told(auto, "Anna lives in Graz")
    told(auto, "Anna lives in Linz", supersedes=old.id)
    memory = rejected(auto, "Anna drinks gin")
    wanted = Wanted(keep_superseded_days=0, keep_rejected_days=0, keep_audit_days=0)
    change_settings(auto, wanted, expected=None, by=OWNER)
    entries = len(auto.memories.audit(limit=200).items)
    assert clean_up(later(auto, days=9_000)) == CleanedUp()
    assert not gone(auto, old)
    assert not gone(auto, memory)
    assert len(auto.memories.audit(limit=200).items) == entries


def test_many_go_in_whole_steps_each_audited_without_content(auto: Vault) -> None:
    items = [ImportItem(content=f"Anna has read book number {n}") for n in range(40)]
    batch = begin(auto, items, by=OWNER, propose=True)
    carry_on(auto, batch.id)
    for memory in listing.memories(auto, Listed(status=Status.PROPOSED), limit=200).items:
        review.reject(auto, memory.id, by=OWNER)
    assert clean_up(later(auto, days=31)).rejected == 40
    entries = [one for one in auto.memories.audit().items if one.verb == "clean_up"]
    assert [len(one.touched) for one in entries] == [12, 14, 14]
    assert {(one.actor, one.subject) for one in entries} == {("cleanup", "rejected")}
    assert auto.memories.audit_faults() == []
    assert clean_up(later(auto, days=31)).rejected == 0


def test_the_beginning_of_the_audit_goes_and_the_rest_still_leads_on(auto: Vault) -> None:
    for n in range(40):
        told(auto, f"Anna has read book number {n}")
    before = len(auto.memories.audit(limit=200).items)
    ended = clean_up(later(auto, days=366))
    assert ended.audit == before
    (entry,) = auto.memories.audit(limit=200).items
    assert (entry.verb, entry.actor) == ("cut_audit", "cleanup")
    assert auto.memories.audit_faults() == []
    told(auto, "Anna sings")
    assert auto.memories.audit_faults() == []
    assert clean_up(later(auto, days=300)).audit == 0


def test_an_index_older_than_the_cut_is_read_anew(auto: Vault, another: Vault) -> None:
    memory = told(auto, "Anna plays the violin")
    catch_up(another)
    forget(auto, memory.id, by=OWNER)
    kept = told(auto, "Anna plays the harp")
    clean_up(later(auto, days=366))
    found = recall(another, Query(text="what does Anna play"))
    assert [hit.memory.id for hit in found.hits] == [kept.id]


def test_cleaning_up_while_others_write_loses_nothing(auto: Vault, another: Vault) -> None:
    for n in range(10):
        rejected(auto, f"Anna has read book number {n}")

    def write(n: int) -> Memory:
        return told(another, f"Boris has seen film number {n}")

    with ThreadPoolExecutor(4) as workers:
        ends = [workers.submit(clean_up, later(auto, days=366)) for _ in range(2)]
        written = list(workers.map(write, range(10)))
    assert sum(end.result().rejected for end in ends) == 10
    assert auto.memories.read([one.id for one in written]).keys() == {one.id for one in written}
    assert auto.memories.audit_faults() == []


def test_a_decision_about_what_has_gone_says_so(auto: Vault) -> None:
    memory = rejected(auto, "Anna drinks gin")
    clean_up(later(auto, days=31))
    verbs: list[Callable[[], object]] = [
        lambda: edit(auto, memory.id, Edit(content="Anna drinks"), revision=None, by=OWNER),
        lambda: forget(auto, memory.id, by=OWNER),
    ]
    for verb in verbs:
        with pytest.raises(NotFound):
            verb()


def test_without_time_it_stops_and_says_that_more_is_left(auto: Vault) -> None:
    rejected(auto, "Anna drinks gin")
    assert clean_up(later(auto, days=31), seconds=0) == CleanedUp(more=True)
    assert clean_up(later(auto, days=31), seconds=60).rejected == 1
