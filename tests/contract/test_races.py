"""Somebody else comes between the calls of a verb: there was one order, and everything fits."""

import os
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import NamedTuple
from zlib import crc32

import pytest

from keeproom.aws.memory_store import DynamoTable
from keeproom.engines.item_store.table import Item, Table
from keeproom.errors import Unavailable, VaultError, WrongState
from keeproom.vault import edit, forget, imports, listing, review, undo
from keeproom.vault.batch import Batch, BatchState, ImportItem, Skipped
from keeproom.vault.model import OWNER, Memory, identity_of
from keeproom.vault.remember import Remembered, remember
from keeproom.vault.vault import Vault
from tests.contract.hands import AGENT, Hand, bring, hand_on, reword, say, ticking
from tests.contract.tables import Interrupted, all_of, fits, put_down
from tests.dynamo.paper import PaperClient

EXAMPLES = int(os.environ.get("EXAMPLES", "1"))  # more: each call of the verbs is interrupted

AFTERWARDS = datetime(2026, 2, 1, tzinfo=UTC)  # when the verbs are done: later than the scene

type Ids = Mapping[str, str]  # of memories and imports, by what they are called below
type Verb = Callable[[Vault, Ids], object]


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A vault, written down."""

    items: list[Item]
    ids: Ids


@cache
def scene() -> Scene:
    """`tea` is a proposal to replace `rum`; `cider` was approved and has replaced `perry`; `gin`
    is rejected and `mead` forgotten; `milk` was `whey` before an edit; `wine` and `port` were
    imported, and an import of `beer`, `rum` and `stout` waits."""
    hand = hand_on(DynamoTable(PaperClient(), "vault"))
    vault, ids = hand.vault, {one: say(hand, one).id for one in ("rum", "perry", "mead", "whey")}
    for new, old in (("tea", "rum"), ("cider", "perry"), ("gin", "")):
        item, old = ImportItem(content=new), ids.get(old, "")
        ids[new] = remember(vault, item, by=AGENT, supersedes=old, propose=True).memory.id
    review.approve(vault, ids["cider"], by=OWNER)
    review.reject(vault, ids["gin"], by=OWNER)
    forget.forget(vault, ids["mead"], by=OWNER)
    ids["milk"] = reword(hand, ids.pop("whey"), "milk").id
    ids["old import"] = bring(hand, "wine", "port").id
    for one in listing.memories(vault, listing.Listed(batch_id=ids["old import"])).items:
        ids[one.content] = one.id
    texts = [ImportItem(content=text) for text in ("beer", "rum", "stout")]
    ids["new import"] = imports.begin(vault, texts, by=OWNER).id
    return Scene(items=all_of(hand.table, hand.name), ids=ids)


def saying(text: str, *, supersedes: str = "") -> Verb:
    return lambda vault, ids: remember(
        vault, ImportItem(content=text), by=AGENT, supersedes=ids.get(supersedes, "")
    )


def rewording(which: str, text: str, *, revision: int | None = None) -> Verb:
    wanted = edit.Edit(content=text)
    return lambda vault, ids: edit.edit(vault, ids[which], wanted, revision=revision, by=OWNER)


def deciding(verb: Callable[..., object], which: str) -> Verb:
    return lambda vault, ids: verb(vault, ids[which], by=OWNER)


def lifting(text: str) -> Verb:
    return lambda vault, ids: forget.lift(vault, identity_of(text), by=OWNER)


def bringing(*texts: str) -> Verb:
    def verb(vault: Vault, ids: Ids) -> object:
        batch = imports.begin(vault, [ImportItem(content=text) for text in texts], by=OWNER)
        return imports.carry_on(vault, batch.id)

    return verb


VERBS: dict[str, Verb] = {
    "say beer": saying("beer"),
    "say beer for rum": saying("Beer", supersedes="rum"),
    "say tea": saying("tea"),
    "say perry": saying("perry"),
    "say gin": saying("gin"),
    "say wine": saying("wine"),
    "edit tea": rewording("tea", "beer", revision=1),
    "edit perry": rewording("perry", "pear"),
    "edit wine": rewording("wine", "claret"),
    "approve tea": deciding(review.approve, "tea"),
    "reject tea": deciding(review.reject, "tea"),
    "keep tea and rum": deciding(review.keep_both, "tea"),
    "undo cider": deciding(undo.undo, "cider"),
    "undo gin": deciding(undo.undo, "gin"),
    "undo milk": deciding(undo.undo, "milk"),
    "edit cider": rewording("cider", "calvados"),
    "forget tea": deciding(forget.forget, "tea"),
    "forget rum": deciding(forget.forget, "rum"),
    "forget perry": deciding(forget.forget, "perry"),
    "forget gin": deciding(forget.forget, "gin"),
    "forget milk": deciding(forget.forget, "milk"),
    "lift gin": lifting("gin"),
    "bring beer": bringing("beer", "perry", "mead"),
    "carry on": lambda vault, ids: imports.carry_on(vault, ids["new import"]),
    "cancel": deciding(imports.cancel, "new import"),
    "undo the old import": deciding(imports.undo, "old import"),
    "undo the new import": deciding(imports.undo, "new import"),
}


def told(vault: Vault, verb: str) -> str:
    """What the caller is told, without ids that differ from run to run."""
    try:
        answer = VERBS[verb](vault, scene().ids)
    except VaultError as error:
        return type(error).__name__
    match answer:
        case Remembered(outcome=Skipped(reason=reason)):
            return reason
        case Remembered(memory=Memory(status=status)) | Memory(status=status):
            return status
        case Batch(state=BatchState.UNDOING | BatchState.UNDONE):
            return "is undone or being undone"
        case Batch(state=state, stored=stored, skipped=skipped):
            return f"{state}: {stored} + {skipped}"
        case _:
            return "done"


def picture(hand: Hand) -> object:
    """All that can be seen of the vault, without times and with words for ids."""
    names = {one: name for name, one in scene().ids.items()}
    everyone = hand.store.memories(limit=99).items
    names |= {one.id: f"new {one.identity}" for one in everyone if one.id not in names}
    batches = hand.store.batches().items
    names |= {one.id: "new" for one in batches if one.id not in names}

    def named(*ids: str) -> list[str]:
        return [names.get(one, "gone") for one in ids]

    memories = [
        (
            *named(one.id, one.supersedes, one.superseded_by, *one.conflicts_with),
            one.content, one.status, names.get(one.batch_id), one.owned,
            tuple(earlier.content for earlier in one.history),
            one.review and (one.review.decision, one.review.was, *named(*one.review.replaced)),
        )
        for one in everyone
    ]  # fmt: skip
    out = [(identity, *named(one.of)) for identity, one in hand.store.exclusions().items]
    told = [(*named(b.id), b.state, b.stored, b.skipped, b.undone) for b in batches]
    return sorted(memories, key=repr), sorted(out), sorted(told), hand.store.head().hidden


class Seen(NamedTuple):
    first: str
    second: str
    after: object


def copy_of_scene(table: Table) -> tuple[Hand, Hand, Interrupted]:
    """Two people at a new copy of the scene; the first of them can be interrupted."""
    name, clock, door = uuid.uuid4().hex, ticking(AFTERWARDS), Interrupted(table)
    put_down(scene().items, table, name)
    return hand_on(door, name, clock=clock), hand_on(table, name, clock=clock), door


@cache
def in_order(first: str, second: str) -> Seen:
    """One after the other."""
    one, _, _ = copy_of_scene(paper_table())
    answers = told(one.vault, first), told(one.vault, second)
    return Seen(*answers, picture(one))


@cache
def alone(verb: str) -> tuple[str, object, list[str]]:
    """What it does, and its calls."""
    one, _, door = copy_of_scene(paper_table())
    door.calls.clear()
    return told(one.vault, verb), picture(one), door.calls


@cache
def paper_table() -> Table:
    return DynamoTable(PaperClient(), "vault")


def interrupted(table: Table, first: str, second: str, *, skip: int, only: str) -> Seen:
    mine, here, door = copy_of_scene(table)
    answers: list[str] = []
    door.skip, door.only = skip, only
    door.act = lambda: answers.append(told(here.vault, second))
    mine_told = told(mine.vault, first)
    if not answers:
        answers.append(told(here.vault, second))
    fits(table, here.partition)
    assert here.store.audit_faults() == []
    return Seen(mine_told, answers[0], picture(here))


def possible(first: str, second: str) -> Iterator[Seen]:
    """Either came first. An undo may also say that there is something else to undo now, and what
    an undo under way holds back is to be tried again."""
    yield in_order(first, second)
    other = in_order(second, first)
    yield Seen(other.second, other.first, other.after)
    if first in ("undo cider", "undo gin", "undo milk"):
        answer, after, _ = alone(second)
        yield Seen(WrongState.__name__, answer, after)
    if "undo the old import" in (first, second):
        for answer, after, _ in (alone(first), alone(second)):
            yield Seen(answer, Unavailable.__name__, after)
            yield Seen(Unavailable.__name__, answer, after)


def matters(first: str, second: str) -> bool:
    """Whether it makes a difference who comes first."""
    other = in_order(second, first)
    return in_order(first, second) != Seen(other.second, other.first, other.after)


def check(table: Table, first: str, second: str, *, skip: int, only: str = "") -> None:
    seen = interrupted(table, first, second, skip=skip, only=only)
    assert seen in possible(first, second), (first, second, skip, seen)


# Of the pairs that do not touch each other each place takes every so many, and all with EXAMPLES.
SAMPLE = {"paper": 3, "sqlite": 15, "dynamo": 40}


@pytest.mark.parametrize("place", SAMPLE)
@pytest.mark.parametrize("first", VERBS)
def test_whoever_comes_before_a_commit_there_was_one_order(
    request: pytest.FixtureRequest, first: str, place: str
) -> None:
    """The last transaction takes finished jobs off the queue: nothing is decided by it."""
    table: Table = request.getfixturevalue(place)
    for second in VERBS:
        if chosen(first, second, place):
            for n in range(max(alone(first)[2].count("transact") - 1, 1)):
                check(table, first, second, skip=n, only="transact")


def chosen(first: str, second: str, place: str) -> bool:
    nth, sample = crc32(f"{first} {second}".encode()), SAMPLE[place]
    if EXAMPLES > 1:
        return place != "dynamo" or nth % sample < EXAMPLES
    return nth % sample == 0 or (place != "dynamo" and matters(first, second))


@pytest.mark.parametrize("first", VERBS)
def test_whoever_comes_before_any_call_there_was_one_order(first: str) -> None:
    """Where it matters who comes first, every third call; with EXAMPLES, each of every pair."""
    calls, step = _until_settled(first), 1 if EXAMPLES > 1 else 3
    for pair, second in enumerate(VERBS):
        if EXAMPLES > 1 or matters(first, second):
            for n in range(pair % step, calls, step):
                check(paper_table(), first, second, skip=n)


def _until_settled(verb: str) -> int:
    """Its calls up to the one that decides, and two more."""
    calls = alone(verb)[2]
    if EXAMPLES > 1 or "transact" not in calls:
        return len(calls)
    last = max(n for n, call in enumerate(calls) if call == "transact")
    before = [n for n, call in enumerate(calls[:last]) if call == "transact"]
    return max(before, default=last) + 3
