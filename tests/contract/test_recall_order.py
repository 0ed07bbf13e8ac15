"""The order of hits where more are found than are read, on every store."""

from datetime import date
from itertools import pairwise

import pytest

from keeproom.engines.item_store.table import Table
from keeproom.vault.batch import ImportItem
from keeproom.vault.model import Actor
from keeproom.vault.recall import FOR_ACTIVE, FOR_RECENT, READ_AT_ONCE, Hit, Query, recall
from keeproom.vault.remember import remember
from keeproom.vault.vault import Vault
from tests.contract.hands import hand_on

CLAUDE = Actor("mcp:Claude")
NEAR_TIE = FOR_ACTIVE + FOR_RECENT
MANY = 3 * READ_AT_ONCE


@pytest.fixture(scope="module")
def orchard(table: Table) -> Vault:
    """Many memories of one apple tree each, longer and longer, each third one still proposed; and
    the neighbours' tree. All tests leave it as it is."""
    vault = hand_on(table).vault
    for number in range(MANY):
        words = " ".join(f"leaf{n}" for n in range(number // 4))
        item = ImportItem(content=f"Apple tree number{number} {words}")
        remember(vault, item, by=CLAUDE, propose=number % 3 == 0)
    item = ImportItem(content="Apple tree of the neighbours", tags=("neighbours",))
    remember(vault, item, by=CLAUDE)
    return vault


@pytest.mark.parametrize("limit", [1, 5, READ_AT_ONCE, READ_AT_ONCE + 1, 70])
def test_a_shorter_answer_is_the_beginning_of_a_longer_one(orchard: Vault, limit: int) -> None:
    every = recall(orchard, Query(text="apple tree", limit=100)).hits
    assert len(every) == MANY + 1

    some = recall(orchard, Query(text="apple tree", limit=limit)).hits

    assert [hit.memory for hit in some] == [hit.memory for hit in every[:limit]]


def test_active_memories_come_before_proposals_only_in_near_ties(orchard: Vault) -> None:
    hits = recall(orchard, Query(text="apple tree number90", limit=100)).hits

    assert hits[0].memory.content.startswith("Apple tree number90 ")
    assert hits[0].memory.status == "proposed"
    assert all(one.score > other.score - NEAR_TIE for one, other in pairwise(hits))


def test_filtered_memories_do_not_take_the_place_of_others(orchard: Vault) -> None:
    hits = recall(orchard, Query(text="apple tree", limit=5, tags=frozenset({"neighbours"}))).hits

    assert [hit.memory.content for hit in hits] == ["Apple tree of the neighbours"]


def test_a_date_in_the_question_counts_for_every_candidate(auto: Vault) -> None:
    for day in range(1, 29):
        for place in ("north", "south"):
            item = ImportItem(
                content=f"Apple harvest {place} row{day}", source_date=date(2025, 9, day)
            )
            remember(auto, item, by=CLAUDE)

    hits = recall(auto, Query(text="apple harvest on 17 September 2025", limit=6)).hits

    assert {_day(hit) for hit in hits} == {16, 17, 18}
    assert all(hit.signals.date == 1.0 for hit in hits)


def _day(hit: Hit) -> int:
    assert hit.memory.source_date
    return hit.memory.source_date.day
