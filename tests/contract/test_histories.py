"""Any sequence of deeds, with a crash at any call of the table, against a model."""

import os
import uuid
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from keeproom.aws.memory_store import DynamoTable
from keeproom.engines.item_store.table import Table
from keeproom.errors import (
    Conflict,
    Duplicate,
    Excluded,
    NotFound,
    Unavailable,
    VaultError,
    WrongState,
)
from keeproom.vault.model import BatchState, Memory, Status, Stored, identity_of
from tests.contract import deeds
from tests.contract.deeds import hand_on, partition_of
from tests.contract.tables import Crash, Crashing, fits
from tests.dynamo.paper import PaperClient

EXAMPLES = int(os.environ.get("HISTORIES", "12"))  # of up to 30 deeds


@dataclass(frozen=True)
class Known:
    content: str
    status: Status
    revision: int
    batch: str = ""
    owned: bool = False


@dataclass
class Model:
    """What a vault is to those who use it. A memory that is new has the id `new` at first."""

    memories: dict[str, Known] = field(default_factory=dict[str, Known])
    excluded: set[str] = field(default_factory=set[str])

    def holder(self, text: str) -> str:
        for one, known in self.memories.items():
            holds = known.status is not Status.REJECTED
            if holds and identity_of(known.content) == identity_of(text):
                return one
        return ""

    def same(self, other: "Model") -> bool:
        mine, others = (sorted(map(repr, one.memories.values())) for one in (self, other))
        return mine == others and self.excluded == other.excluded


TEXTS = st.sampled_from(["tea", "Tea", "milk", "water", "wine"])
CRASH = st.tuples(st.one_of(st.just(0), st.integers(1, 9)), st.booleans())
ANY = st.integers(0, 99)
BATCHES = st.sampled_from(["bat_1", "bat_2"])

type After = Model | type[VaultError]


class Histories(RuleBasedStateMachine):
    raw: Table

    @initialize(auto=st.booleans())
    def begin(self, auto: bool) -> None:  # noqa: FBT001
        self.crashing, vault = Crashing(self.raw), uuid.uuid4().hex
        hand = hand_on(self.crashing, vault, auto=auto)
        self.hand = replace(hand, chunk=1)  # so that a crash can fall between two chunks
        self.model = Model()
        self.mirror: dict[str, Memory] = {}
        self.moment = self.hand.store.position()

    def attempt(self, crash: tuple[int, bool], after: After, call: Callable[[], object]) -> None:
        """Afterwards the vault is as expected; after a crash, as before or as expected."""
        self.crashing.left, self.crashing.after = crash
        told = self._told(call)
        self.crashing.left = 0
        seen = self.observed()
        if told is Crash:
            options = [self.model, *([after] if isinstance(after, Model) else [])]
            assert any(one.same(seen) for one in options), (seen, options)
        elif isinstance(after, Model):
            assert told is None, told
            assert after.same(seen), (seen, after)
        else:
            assert told is after, (told, after)
            assert self.model.same(seen)
        self.model = seen

    def _told(self, call: Callable[[], object]) -> type[BaseException] | None:
        try:
            try:
                call()
            except Unavailable:  # an undo is under way
                deeds.settle(self.hand)
                call()
        except (VaultError, Crash) as error:
            return type(error)
        return None

    def observed(self) -> Model:
        store = self.hand.store
        page = store.memories(limit=3)
        found = list(page.items)
        while page.next:
            page = store.memories(limit=3, cursor=page.next)
            found += page.items
        return Model(
            memories={
                one.id: Known(one.content, one.status, one.revision, one.batch_id, one.owned)
                for one in found
            },
            excluded={identity for identity, _ in store.exclusions(limit=99).items},
        )

    def pick(self, n: int, status: Status | None = None) -> str:
        ids = [
            one
            for one, known in sorted(self.model.memories.items())
            if status in (None, known.status)
        ]
        return ids[n % len(ids)] if ids else "mem_none"

    @rule(text=TEXTS, n=ANY, supersede=st.booleans(), crash=CRASH)
    def remember(self, text: str, n: int, supersede: bool, crash: tuple[int, bool]) -> None:  # noqa: FBT001
        old = self.pick(n, Status.ACTIVE) if supersede else ""
        after = self.remembered(text, old)
        self.attempt(crash, after, lambda: deeds.remember(self.hand, text, supersedes=old))

    def remembered(self, text: str, old: str) -> After:
        after, holder = deepcopy(self.model), self.model.holder(text)
        held, was = after.memories.get(holder), after.memories.get(old)
        if identity_of(text) in after.excluded:
            return Excluded
        if held and held.status is not Status.SUPERSEDED and holder != old:
            return Duplicate
        if old and old != holder:
            if was is None:
                return NotFound
            after.memories[old] = _moved(was, Status.SUPERSEDED)
        status = Status.ACTIVE if self.hand.auto else Status.PROPOSED
        if held:
            after.memories[holder] = replace(_moved(held, status), content=text)
        else:
            after.memories["new"] = Known(text, status, 1)
        return after

    @rule(text=TEXTS, n=ANY, stale=st.integers(0, 3), crash=CRASH)
    def edit(self, text: str, n: int, stale: int, crash: tuple[int, bool]) -> None:
        one, after = self.pick(n), deepcopy(self.model)
        was, holder = after.memories.get(one), self.model.holder(text)
        revision = (was.revision if was else 1) - (stale == 3)
        expected: After = after
        if was is None:
            expected = NotFound
        elif revision != was.revision:
            expected = Conflict
        elif was.status is Status.REJECTED:
            expected = WrongState
        elif identity_of(text) in after.excluded:
            expected = Excluded
        elif holder not in ("", one):
            expected = Duplicate
        else:
            after.memories[one] = replace(_moved(was, was.status), content=text, owned=True)
        self.attempt(crash, expected, lambda: deeds.edit(self.hand, one, text, revision=revision))

    @rule(n=ANY, crash=CRASH)
    def approve(self, n: int, crash: tuple[int, bool]) -> None:
        one, after = self.pick(n, Status.PROPOSED), deepcopy(self.model)
        was, expected = after.memories.get(one), NotFound if one == "mem_none" else after
        if was:
            after.memories[one] = replace(_moved(was, Status.ACTIVE), owned=True)
            old = self.hand.store.read([one])[one].supersedes
            replaced = after.memories.get(old)
            if old and replaced is None:
                expected = NotFound
            elif replaced and replaced.status is not Status.ACTIVE:
                expected = WrongState
            elif replaced:
                after.memories[old] = _moved(replaced, Status.SUPERSEDED)
        self.attempt(crash, expected, lambda: deeds.approve(self.hand, one))

    @rule(n=ANY, crash=CRASH)
    def reject(self, n: int, crash: tuple[int, bool]) -> None:
        one, after = self.pick(n, Status.PROPOSED), deepcopy(self.model)
        was = after.memories.get(one)
        if was:
            after.memories[one] = replace(_moved(was, Status.REJECTED), owned=True)
            after.excluded |= {identity_of(was.content)}
        self.attempt(crash, after if was else NotFound, lambda: deeds.reject(self.hand, one))

    @rule(n=ANY, crash=CRASH)
    def forget(self, n: int, crash: tuple[int, bool]) -> None:
        one, after = self.pick(n), deepcopy(self.model)
        was = after.memories.pop(one, None)
        after.excluded |= {identity_of(was.content)} if was else set()
        self.attempt(crash, after if was else NotFound, lambda: deeds.forget(self.hand, one))

    @rule(text=TEXTS, batch=BATCHES, crash=CRASH)
    def bring(self, text: str, batch: str, crash: tuple[int, bool]) -> None:
        look, after = self.hand.store.look(batch=batch).batch, deepcopy(self.model)
        running = look is None or look.state is BatchState.RUNNING
        free = identity_of(text) not in after.excluded and not self.model.holder(text)
        if running and free:
            status = Status.ACTIVE if self.hand.auto else Status.PROPOSED
            after.memories["new"] = Known(text, status, 1, batch)
        position = look.position if look else 0
        self.attempt(crash, after, lambda: deeds.import_one(self.hand, batch, position, text))

    @rule(batch=BATCHES, crash=CRASH)
    def undo(self, batch: str, crash: tuple[int, bool]) -> None:
        look, after = self.hand.store.look(batch=batch).batch, deepcopy(self.model)
        if look and look.state is BatchState.RUNNING:
            after.memories = {
                one: known
                for one, known in after.memories.items()
                if known.batch != batch or known.owned
            }
        self.attempt(crash, after if look else NotFound, lambda: deeds.undo(self.hand, batch))

    @invariant()
    def everything_fits(self) -> None:
        if hasattr(self, "hand"):
            assert self.hand.store.audit_faults() == []
            fits(self.raw, partition_of(self.hand))
            self.follow()

    def follow(self) -> None:
        """Who reads what was touched has what there is."""
        store = self.hand.store
        found = store.changes(self.moment)
        assert found
        self.moment, touched = found
        for one in touched:
            self.mirror.pop(one, None)
        self.mirror |= store.read(sorted(touched), hidden=True)
        shown = store.read(sorted(self.mirror))
        assert {one.id: one for one in store.memories(limit=99).items} == shown


def _moved(was: Known, status: Status) -> Known:
    return replace(was, status=status, revision=was.revision + 1)


@pytest.mark.parametrize("place", ["sqlite", "paper", "dynamo"])
def test_any_history_with_crashes(place: str, request: pytest.FixtureRequest) -> None:
    table: Table = request.getfixturevalue(place)

    class Here(Histories):
        raw = table

    examples = EXAMPLES // 6 if place == "dynamo" else EXAMPLES
    run_state_machine_as_test(
        Here,
        settings=settings(
            max_examples=max(examples, 1),
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )


@pytest.mark.parametrize("after", [True, False], ids=["after", "before"])
def test_an_undo_that_dies_shows_all_or_nothing(after: bool) -> None:  # noqa: FBT001
    for call in range(1, 22):
        crashing = Crashing(DynamoTable(PaperClient(), "vault"))
        hand = hand_on(crashing)
        for n in range(20):
            assert isinstance(deeds.import_one(hand, "bat_1", n, f"fact {n}"), Stored)
        crashing.left, crashing.after = call, after
        try:
            deeds.undo(hand, "bat_1")
        except Crash:
            assert len(hand.store.memories(limit=99).items) in (0, 20)
        crashing.left = 0
        assert deeds.undo(hand, "bat_1") == 20
        assert hand.store.head().hidden == ()
        assert hand.store.audit_faults() == []
