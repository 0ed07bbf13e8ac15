"""Recall, on every store."""

from dataclasses import replace
from datetime import date

import pytest

from keeproom.errors import Invalid
from keeproom.vault import imports, jobs
from keeproom.vault.batch import ImportItem
from keeproom.vault.edit import Edit, edit
from keeproom.vault.forget import forget
from keeproom.vault.model import OWNER, Actor, Memory, MemoryType, Preset
from keeproom.vault.recall import Query, Recalled, RecallMode, recall
from keeproom.vault.remember import remember
from keeproom.vault.review import reject
from keeproom.vault.vault import Vault
from tests.embedders import WordEmbedder

CLAUDE = Actor("mcp:Claude")


def said(vault: Vault, text: str, *, supersedes: str = "", **more: object) -> Memory:
    item = ImportItem(content=text, **more)  # pyright: ignore[reportArgumentType]
    return remember(vault, item, by=CLAUDE, supersedes=supersedes).memory


def ask(vault: Vault, text: str, **how: object) -> Recalled:
    return recall(vault, Query(text=text, **how))  # pyright: ignore[reportArgumentType]


def found(vault: Vault, text: str, **how: object) -> list[str]:
    return [hit.memory.content for hit in ask(vault, text, **how).hits]


def test_what_fits_best_comes_first_and_explains_itself(auto: Vault) -> None:
    said(auto, "Anna plays the violin in an orchestra")
    said(auto, "The car is parked in the garage")
    told = ask(auto, "who plays violin")
    assert told.mode is RecallMode.HYBRID
    (hit,) = told.hits
    assert hit.memory.content == "Anna plays the violin in an orchestra"
    assert hit.signals.keyword == 1.0
    assert hit.signals.similarity is not None
    assert 0.2 <= hit.signals.similarity <= 1.0


def test_every_change_is_right_in_the_very_next_recall(auto: Vault) -> None:
    memory = said(auto, "The code of the alarm is on the red card")
    assert found(auto, "alarm card") == ["The code of the alarm is on the red card"]
    edit(
        auto,
        memory.id,
        Edit(content="The code of the alarm is on the blue sheet"),
        revision=None,
        by=OWNER,
    )
    assert found(auto, "alarm card") == ["The code of the alarm is on the blue sheet"]
    assert found(auto, "red card") == []
    forget(auto, memory.id, by=OWNER)
    assert found(auto, "alarm code sheet") == []


def test_another_clients_changes_are_seen_too(auto: Vault, another: Vault) -> None:
    memory = said(auto, "Anna plays the violin")
    assert found(another, "violin") == ["Anna plays the violin"]
    forget(another, memory.id, by=OWNER)
    said(another, "Ben plays the piano")
    assert found(auto, "violin") == []
    assert found(auto, "piano") == ["Ben plays the piano"]


def test_superseded_and_rejected_only_when_asked_for(auto: Vault) -> None:
    old = said(auto, "Lives in Berlin near the park")
    said(auto, "Lives in Munich near the lake", supersedes=old.id)
    other = remember(auto, ImportItem(content="Lives in Paris"), by=CLAUDE, propose=True).memory
    reject(auto, other.id, by=OWNER)
    assert found(auto, "lives where") == ["Lives in Munich near the lake"]
    assert len(found(auto, "lives where", include_history=True)) == 3


def test_proposals_are_found_and_only_lose_near_ties(auto: Vault) -> None:
    remember(auto, ImportItem(content="Anna plays the violin"), by=CLAUDE, propose=True)
    said(auto, "Anna once saw a violin")
    assert found(auto, "Anna plays the violin")[0] == "Anna plays the violin"
    said(auto, "Ben rides a grey horse")
    remember(auto, ImportItem(content="Tom rides a grey horse"), by=CLAUDE, propose=True)
    assert found(auto, "rides a grey horse")[0] == "Ben rides a grey horse"


def test_filters_hold(auto: Vault) -> None:
    said(
        auto, "Trip to Rome", type=MemoryType.EVENT, tags=("travel",), source_date=date(2024, 5, 1)
    )
    said(
        auto,
        "Trip to Oslo",
        type=MemoryType.FACT,
        tags=("travel", "north"),
        source_date=date(2025, 5, 1),
    )
    assert found(auto, "trip", types=frozenset({MemoryType.EVENT})) == ["Trip to Rome"]
    assert found(auto, "trip", tags=frozenset({"travel", "north"})) == ["Trip to Oslo"]
    assert found(auto, "trip", until=date(2024, 5, 1)) == ["Trip to Rome"]
    assert found(auto, "trip", since=date(2024, 5, 2)) == ["Trip to Oslo"]
    told = ask(auto, "trip", tags=frozenset({"nothing"}))
    assert (told.hits, bool(told.reason)) == ((), True)


def test_a_date_in_the_query_counts_against_the_date_of_the_memory(auto: Vault) -> None:
    said(auto, "Dinner with Kim", source_date=date(2024, 5, 8))
    said(auto, "Dinner with Tom", source_date=date(2024, 9, 1))
    assert found(auto, "dinner on 7 May 2024")[0] == "Dinner with Kim"
    assert found(auto, "dinner in September 2024")[0] == "Dinner with Tom"


def test_a_possible_conflict_is_shown_on_both_sides_while_both_are_active(auto: Vault) -> None:
    old = said(auto, "The meeting room opens at 9 in the morning")
    new = said(auto, "The meeting room opens at 8 in the morning")
    flags = {h.memory.id: h.may_conflict_with for h in ask(auto, "when opens the room").hits}
    assert flags == {old.id: (new.id,), new.id: (old.id,)}
    said(auto, "The meeting room opens at 7 in the morning", supersedes=old.id)
    flags = {h.memory.id: h.may_conflict_with for h in ask(auto, "when opens the room").hits}
    assert old.id not in flags[new.id]


def test_without_a_model_words_still_find_and_it_says_so(
    auto: Vault, embedder: WordEmbedder
) -> None:
    embedder.down = True
    said(auto, "Anna plays the violin")
    told = ask(auto, "violin")
    assert (told.mode, len(told.hits)) == (RecallMode.KEYWORD_ONLY, 1)
    embedder.down = False
    later = replace(auto, clock=lambda: auto.clock() + jobs.LONGEST)
    jobs.work_off(later)
    assert ask(auto, "violin").mode is RecallMode.HYBRID
    assert ask(auto, "violin").hits[0].signals.similarity is not None


def test_vectors_of_another_model_are_never_compared(auto: Vault, embedder: WordEmbedder) -> None:
    said(auto, "Anna plays the violin")
    embedder.model = "words/2"
    assert ask(auto, "violin").hits[0].signals.similarity is None


def test_nonsense_finds_nothing_and_says_why(auto: Vault) -> None:
    assert ask(auto, "anything").reason == "The vault is empty."
    said(auto, "Anna plays the violin")
    told = ask(auto, "xqzt wvut")
    assert (told.hits, bool(told.reason)) == ((), True)


@pytest.mark.parametrize(
    "query",
    ['"', "a AND (b", "-", ":", "/", "*", "'; drop table item; --", "\\", "%_", "{}", "NEAR(", "🙂",
     "x" * 8000],
)  # fmt: skip
def test_any_text_is_a_safe_query(auto: Vault, query: str) -> None:
    said(auto, "Anna plays the violin")
    assert ask(auto, query).mode is RecallMode.HYBRID


@pytest.mark.parametrize("limit", [0, -1, 101, 10**9])
def test_a_limit_out_of_bounds_is_refused(auto: Vault, limit: int) -> None:
    with pytest.raises(Invalid):
        ask(auto, "violin", limit=limit)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("東京タワーの近くに住んでいる", "東京"),
        ("猫を二匹飼っている", "猫"),
        ("她喜欢喝乌龙茶", "乌龙茶"),
        ("서울에서 일한다", "서울"),
        ("Prefers the café in Orléans", "cafe orleans"),
        ("Uses foo_bar-baz v1.2.3 on 10.0.0.12", "v1.2.3"),
        ("Uses foo_bar-baz v1.2.3 on 10.0.0.12", "10.0.0.12"),
        ("Uses foo_bar-baz v1.2.3 on 10.0.0.12", "foo_bar"),
        ("Writes to kim@example.org from https://example.org/docs", "kim@example.org"),
        ("Ｆｕｌｌ ｗｉｄｔｈ letters", "full width"),
    ],
)
def test_words_of_every_kind_are_found(
    auto: Vault, embedder: WordEmbedder, text: str, query: str
) -> None:
    embedder.down = True
    said(auto, "Something else entirely")
    said(auto, text)
    assert found(auto, query) == [text]


def test_classic_ranks_by_the_plain_sum(auto: Vault) -> None:
    said(auto, "Anna plays the violin")
    (hit,) = ask(auto, "Anna plays the violin", preset=Preset.CLASSIC).hits
    assert hit.score == pytest.approx(1.0, abs=1e-3)


def test_an_import_being_undone_is_in_no_answer(auto: Vault) -> None:
    batch = imports.begin(auto, [ImportItem(content="Anna plays the violin")], by=CLAUDE)
    imports.carry_on(auto, batch.id)
    assert found(auto, "violin") == ["Anna plays the violin"]
    imports.undo(auto, batch.id, by=OWNER)
    assert found(auto, "violin") == []
