"""Remembering, on every store."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from keeproom.errors import (
    Excluded,
    Invalid,
    NotFound,
    Refused,
    RequestIdReused,
    SecretLike,
    TooLarge,
    VaultError,
    WrongState,
)
from keeproom.vault import listing
from keeproom.vault.batch import ImportItem, Skipped, SkipReason, Stored
from keeproom.vault.edit import Edit, edit
from keeproom.vault.forget import forget
from keeproom.vault.model import OWNER, Actor, ApprovalMode, MemoryType, Status
from keeproom.vault.remember import Remembered, remember
from keeproom.vault.review import approve, reject
from keeproom.vault.settings import Wanted, change_settings
from keeproom.vault.vault import Vault

CLAUDE = Actor("mcp:Claude", grant="grt_1")


def say(vault: Vault, text: str, **how: object) -> Remembered:
    return remember(vault, ImportItem(content=text), by=CLAUDE, **how)  # pyright: ignore[reportArgumentType]


def contents(vault: Vault, status: Status | None = None) -> list[str]:
    page = listing.memories(vault, listing.Listed(status=status))
    return [memory.content for memory in page.items]


def test_a_proposal_waits_in_review_mode_and_is_active_in_auto_mode(
    review: Vault, auto: Vault
) -> None:
    assert say(review, "Drinks tea").memory.status is Status.PROPOSED
    assert say(auto, "Drinks tea").memory.status is Status.ACTIVE
    assert say(auto, "Drinks milk", propose=True).memory.status is Status.PROPOSED


def test_text_is_kept_exactly_and_everything_said_with_it(auto: Vault) -> None:
    item = ImportItem(
        content="  Grüße aus 東京 👩‍👩‍👧\n\tzweite Zeile  ",
        type=MemoryType.EVENT,
        source="chat",
        tags=("Reise", "japan", "reise"),
    )
    told = remember(auto, item, by=CLAUDE).memory
    kept = listing.memory(auto, told.id)
    assert kept == told
    assert kept.content == "Grüße aus 東京 👩‍👩‍👧\n\tzweite Zeile"
    assert (kept.type, kept.source, kept.tags) == (MemoryType.EVENT, "chat", ("reise", "japan"))
    assert (kept.actor, kept.revision) == ("mcp:Claude", 1)


def test_a_text_is_one_memory_however_it_is_spelled(auto: Vault) -> None:
    first = say(auto, "Tea, not coffee").memory
    again = say(auto, "ＴＥＡ,  not\u200b COFFEE")
    assert again.outcome == Skipped(reason=SkipReason.DUPLICATE, by=first.id)
    assert again.memory == first
    assert contents(auto) == ["Tea, not coffee"]


def test_superseding_is_one_step(auto: Vault) -> None:
    old = say(auto, "Lives in Berlin").memory
    new = say(auto, "Lives in Munich", supersedes=old.id).memory
    assert contents(auto, Status.ACTIVE) == ["Lives in Munich"]
    was = listing.memory(auto, old.id)
    assert (was.status, was.superseded_by, was.superseded_at) == (
        Status.SUPERSEDED,
        new.id,
        was.since,
    )


def test_in_review_mode_a_replacement_waits_for_the_owner(review: Vault) -> None:
    old = approve(review, say(review, "Lives in Berlin").memory.id, by=OWNER)
    new = say(review, "Lives in Munich", supersedes=old.id).memory
    assert contents(review, Status.ACTIVE) == ["Lives in Berlin"]
    approve(review, new.id, by=OWNER)
    assert contents(review, Status.ACTIVE) == ["Lives in Munich"]
    assert contents(review, Status.SUPERSEDED) == ["Lives in Berlin"]


def test_what_was_true_once_may_be_true_again(auto: Vault) -> None:
    berlin = say(auto, "Lives in Berlin").memory
    munich = say(auto, "Lives in Munich", supersedes=berlin.id).memory
    again = say(auto, "lives in Berlin").memory
    assert again.id == berlin.id
    assert (again.status, again.superseded_by) == (Status.ACTIVE, "")
    assert again.conflicts_with[0] == munich.id
    assert [earlier.content for earlier in again.history] == ["Lives in Berlin"]


def test_a_memory_spelled_anew_too_often_can_still_be_decided_about(auto: Vault) -> None:
    memory, room = say(auto, "Drinks tea").memory, 7_000
    while room:
        spelled = f"Drinks{' ' * (room - len(memory.history) % 2)} tea"
        try:
            memory = say(auto, spelled, supersedes=memory.id).memory
        except (Refused, TooLarge):
            room //= 2

    say(auto, "Drinks milk", supersedes=memory.id)
    wanted = Wanted(approval_mode=ApprovalMode.REVIEW)
    change_settings(auto, wanted, expected=None, by=OWNER)
    assert forget(auto, memory.id, by=CLAUDE, reason="Said it was a joke" * 20)
    assert listing.memory(auto, memory.id).withdrawn


def test_a_superseded_text_is_proposed_again_in_review_mode(review: Vault) -> None:
    berlin = approve(review, say(review, "Lives in Berlin").memory.id, by=OWNER)
    munich = say(review, "Lives in Munich", supersedes=berlin.id).memory
    approve(review, munich.id, by=OWNER)
    again = say(review, "Lives in Berlin")
    assert isinstance(again.outcome, Stored)
    assert (again.memory.id, again.memory.status) == (berlin.id, Status.PROPOSED)


def test_only_an_active_memory_can_be_superseded(auto: Vault) -> None:
    old = say(auto, "Age 41").memory
    say(auto, "Age 42", supersedes=old.id)
    with pytest.raises(WrongState):
        say(auto, "Age 43", supersedes=old.id)
    with pytest.raises(NotFound):
        say(auto, "Age 44", supersedes="mem_nothing")
    assert contents(auto, Status.ACTIVE) == ["Age 42"]


def test_forgotten_and_rejected_text_stays_out(review: Vault) -> None:
    forget(review, say(review, "ex: Kim").memory.id, by=OWNER)
    reject(review, say(review, "likes gin").memory.id, by=OWNER)
    for text in ("EX: kim", "Likes GIN"):
        with pytest.raises(Excluded):
            say(review, text)
    assert contents(review, Status.PROPOSED) == []


def test_secrets_are_refused_in_any_field_and_not_repeated(auto: Vault) -> None:
    secret = "hunter" + "2-correct-horse"
    for item in (
        ImportItem(content=f"The password is: {secret}"),
        ImportItem(content="A fact", source=f"password={secret}"),
        ImportItem(content="A fact", tags=(f"password={secret}",)),
    ):
        with pytest.raises(SecretLike) as told:
            remember(auto, item, by=CLAUDE)
        assert secret not in str(told.value)
    assert contents(auto) == []


@pytest.mark.parametrize("text", ["", " \n ", "a\0b", "x" * 8001, "e" + "\u0301" * 1000, "\u200b"])
def test_text_that_cannot_be_kept_is_refused(auto: Vault, text: str) -> None:
    with pytest.raises(Invalid):
        say(auto, text)
    assert contents(auto) == []


def test_a_lone_surrogate_is_cleaned(auto: Vault) -> None:
    assert say(auto, "half \ud83d of it").memory.content == "half \ufffd of it"


def test_a_request_id_answers_as_the_first_time(auto: Vault) -> None:
    first = say(auto, "Drinks tea", request_id="r1").memory
    edit(auto, first.id, Edit(content="Drinks green tea"), revision=1, by=OWNER)
    again = say(auto, "Drinks tea", request_id="r1")
    assert isinstance(again.outcome, Stored)
    assert again.memory.id == first.id
    with pytest.raises(RequestIdReused):
        say(auto, "Drinks milk", request_id="r1")
    assert contents(auto) == ["Drinks green tea"]


def test_parallel_writers_lose_and_double_nothing(auto: Vault) -> None:
    texts = [f"fact number {n}" for n in range(16)] + ["the same fact"] * 8

    def outcome(text: str) -> object:
        try:
            return type(say(auto, text).outcome)
        except VaultError as error:
            return error

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(outcome, texts))
    assert told.count(Stored) == 17
    assert told.count(Skipped) == 7
    assert sorted(contents(auto)) == sorted(set(texts))
    assert auto.memories.audit_faults() == []


def test_what_is_similar_is_linked_and_a_difference_is_flagged(auto: Vault) -> None:
    old = say(auto, "The staging database runs PostgreSQL 15 in the office").memory
    new = say(auto, "The staging database runs PostgreSQL 16 in the office").memory
    other = say(auto, "Anna was born in March").memory
    assert new.similar_to == new.conflicts_with == (old.id,)
    assert other.similar_to == ()
