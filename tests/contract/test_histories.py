"""Any sequence of the product's verbs, with a crash at any call of the table, against a model."""

import os
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta

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
from keeproom.errors import NotFound, Unavailable, VaultError, WrongState
from keeproom.vault import edit, forget, imports, jobs, review, undo
from keeproom.vault.batch import BatchState, ImportItem
from keeproom.vault.import_group import GROUP
from keeproom.vault.kin import is_current
from keeproom.vault.model import OWNER, Memory, Status, identity_of
from keeproom.vault.recall import CURRENT, EVER, Query, recall
from keeproom.vault.remember import Remembered, remember
from keeproom.vault.vault import Vault
from tests.contract.hands import AGENT, Hand, bring, hand_on, ticking
from tests.contract.model import Model, Told
from tests.contract.tables import Crash, Crashing, everything, fits
from tests.dynamo.paper import PaperClient
from tests.embedders import WordEmbedder

EXAMPLES = int(os.environ.get("EXAMPLES", "1")) * 10  # of up to 30 verbs

# No two of them are similar.
WORDS = ["tea", "Tea", "milk", "water", "wine", "beer", "rum", "gin", "cola", "juice", "soup"]
TEXTS = st.sampled_from(WORDS)
CRASH = st.tuples(st.one_of(st.just(0), st.integers(1, 14)), st.booleans())
LATE_CRASH = st.tuples(st.one_of(st.just(0), st.integers(1, 40)), st.booleans())
ANY = st.integers(0, 99)

type Verb = Callable[[Vault], object]


@dataclass(frozen=True, kw_only=True)
class Request:
    """A verb that was done under an idempotency key. `subject`: the memory it answers, if any;
    None when it died before it could."""

    verb: Verb
    subject: str | None


class Histories(RuleBasedStateMachine):
    raw: Table

    @initialize(auto=st.booleans())
    def begin(self, auto: bool) -> None:  # noqa: FBT001
        self.crashing, self.embedder = Crashing(self.raw), WordEmbedder()
        self.name, self.clock = uuid.uuid4().hex, ticking()
        hand_on(self.raw, self.name, auto=auto)
        self.hand, self.follower = self.process(), self.process()
        self.model = Model(auto=auto)
        self.brought: dict[str, Sequence[str]] = {}
        self.requests: list[Request] = []
        self.late, self.stumbles = timedelta(), 1

    def process(self) -> Hand:
        """One that has just started."""
        return hand_on(self.crashing, self.name, clock=self.clock, embedder=self.embedder)

    # ---- what happens

    @rule(text=TEXTS, n=ANY, propose=st.booleans(), crash=CRASH)
    def say(self, text: str, n: int, propose: bool, crash: tuple[int, bool]) -> None:  # noqa: FBT001
        supersedes = self.pick(n, Status.ACTIVE) if n % 3 == 0 else ""
        item, key = ImportItem(content=text), self.new_key()
        self.attempt(
            crash,
            lambda model: model.remember(self.new(text), supersedes=supersedes, propose=propose),
            lambda vault: remember(
                vault, item, by=AGENT, supersedes=supersedes, propose=propose, request_id=key
            ),
        )

    @rule(text=TEXTS, n=ANY, stale=st.integers(0, 3), crash=CRASH)
    def edit(self, text: str, n: int, stale: int, crash: tuple[int, bool]) -> None:
        one, key, wanted = self.pick(n), self.new_key(), edit.Edit(content=text)
        was = self.model.memories.get(one)
        seen = (was.revision if was else 1) - (stale == 3)
        self.attempt(
            crash,
            lambda model: model.edit(one, text, revision=seen),
            lambda vault: edit.edit(vault, one, wanted, revision=seen, by=OWNER, request_id=key),
        )

    @rule(n=ANY, crash=CRASH)
    def approve(self, n: int, crash: tuple[int, bool]) -> None:
        one, key = self.pick(n, Status.PROPOSED), self.new_key()
        self.attempt(
            crash,
            lambda model: model.approve(one),
            lambda vault: review.approve(vault, one, by=OWNER, request_id=key),
        )

    @rule(n=ANY, crash=CRASH)
    def reject(self, n: int, crash: tuple[int, bool]) -> None:
        one, key = self.pick(n, Status.PROPOSED), self.new_key()
        self.attempt(
            crash,
            lambda model: model.reject(one),
            lambda vault: review.reject(vault, one, by=OWNER, request_id=key),
        )

    @rule(n=ANY, crash=CRASH)
    def keep_both(self, n: int, crash: tuple[int, bool]) -> None:
        one, key = self.pick(n), self.new_key()
        self.attempt(
            crash,
            lambda model: model.keep_both(one),
            lambda vault: review.keep_both(vault, one, by=OWNER, request_id=key),
        )

    @rule(n=ANY, crash=CRASH)
    def undo(self, n: int, crash: tuple[int, bool]) -> None:
        changed = [one.id for one in self.model.memories.values() if one.review or one.history]
        one, key = changed[n % len(changed)] if changed else self.pick(n), self.new_key()
        self.attempt(
            crash,
            lambda model: model.undo(one),
            lambda vault: undo.undo(vault, one, by=OWNER, request_id=key),
        )

    @rule(n=ANY, crash=CRASH)
    def forget(self, n: int, crash: tuple[int, bool]) -> None:
        one, key = self.pick(n), self.new_key()
        self.attempt(
            crash,
            lambda model: model.forget(one),
            lambda vault: forget.forget(vault, one, by=OWNER, request_id=key),
        )

    @rule(n=ANY, text=TEXTS, crash=CRASH)
    def lift(self, n: int, text: str, crash: tuple[int, bool]) -> None:
        out, key = sorted(self.model.excluded), self.new_key()
        identity = out[n % len(out)] if out else identity_of(text)
        self.attempt(
            crash,
            lambda model: model.lift(identity),
            lambda vault: forget.lift(vault, identity, by=OWNER, request_id=key),
        )

    @rule(n=ANY, crash=CRASH)
    def repeat(self, n: int, crash: tuple[int, bool]) -> None:
        """Nothing happens, and the answer is the first one while its memory is kept."""
        if not self.requests:
            return
        self.repeat_one(self.requests[n % len(self.requests)], crash)

    def repeat_one(self, request: Request, crash: tuple[int, bool]) -> None:
        told, _ = self.told(crash, request.verb)
        gone = request.subject not in ("", None, *self.model.memories)
        unknown = request.subject is None and told is NotFound
        assert told in (NotFound if gone or unknown else None, Crash)
        self.compare(self.model)

    @rule(texts=st.lists(TEXTS, min_size=1, max_size=12), crash=LATE_CRASH, key=st.booleans())
    def bring(self, texts: list[str], crash: tuple[int, bool], key: bool) -> None:  # noqa: FBT001
        """A crash leaves whole groups of texts judged, and the rest to be gone on with."""
        items, request_id = [ImportItem(content=text) for text in texts], self.new_key()

        def verb(vault: Vault) -> object:
            batch = imports.begin(vault, items, by=OWNER, request_id=request_id if key else "")
            return imports.carry_on(vault, batch.id)

        known = {batch.id for batch in self.hand.store.batches().items}
        told, _ = self.told(crash, verb)
        new = [one.id for one in self.hand.store.batches().items if one.id not in known]
        self.brought |= dict.fromkeys(new, texts)
        parts = [texts[:n] for n in range(0, len(texts), GROUP)] if told else []
        self.compare(*(self.model.bring(some, self.new_in("bat")) for some in [*parts, texts]))

    @rule(crash=LATE_CRASH)
    def resume(self, crash: tuple[int, bool]) -> None:
        after = [self.model]
        for batch in self.hand.store.batches().items:
            if batch.state is BatchState.RUNNING:
                rest = self.brought[batch.id][batch.position :]
                stops = [*range(GROUP, len(rest), GROUP), len(rest)]
                last = after[-1]
                after += [last.bring(rest[:n], self.new_in(batch.id)) for n in stops]
        told, _ = self.told(crash, lambda vault: imports.resume(vault, seconds=3600.0))
        assert told in (None, Crash)
        self.compare(*(after if told else after[-1:]))
        if told is None:
            states = {batch.state for batch in self.hand.store.batches().items}
            assert states <= {*imports.ENDED, BatchState.RECEIVING}
            assert self.hand.store.head().hidden == ()

    @rule(n=ANY, crash=LATE_CRASH)
    def undo_import(self, n: int, crash: tuple[int, bool]) -> None:
        one = self.pick_import(n)

        def after(model: Model) -> Model:
            if one not in self.brought:
                raise Told(NotFound)
            return model.undo_import(one)

        self.attempt(crash, after, lambda vault: imports.undo(vault, one, by=OWNER))

    @rule(n=ANY, crash=CRASH)
    def cancel(self, n: int, crash: tuple[int, bool]) -> None:
        one = self.pick_import(n)
        batch = self.hand.store.look(batch=one).batch
        stopped = {BatchState.RUNNING, BatchState.RECEIVING, BatchState.CANCELLED}

        def after(model: Model) -> Model:
            if batch is None:
                raise Told(NotFound)
            if batch.state not in stopped:
                raise Told(WrongState)
            return model

        self.attempt(crash, after, lambda vault: imports.cancel(vault, one, by=OWNER))

    @rule(crash=LATE_CRASH)
    def work_off(self, crash: tuple[int, bool]) -> None:
        told, _ = self.told(crash, lambda vault: jobs.work_off(self.later(vault)))
        assert told in (None, Crash)
        self.compare(self.model)
        if told is None and not self.embedder.down:
            assert jobs.lag(self.hand.vault) == 0

    @rule()
    def switch_the_model(self) -> None:
        self.embedder.down = not self.embedder.down

    # ---- what must hold

    def attempt(self, crash: tuple[int, bool], after: Callable[[Model], Model], verb: Verb) -> None:
        """Afterwards the vault is as expected; after a crash, as before or as expected."""
        expected, refused = self.model, None
        try:
            expected = after(self.model)
        except Told as told:
            refused = told.error
        was = self.model
        told, answer = self.told(crash, verb)
        assert told in (refused, Crash), (told, refused)
        self.compare(*((was, expected) if told is Crash else (expected,)))
        if refused is None and not self.model.same(was, known=was.memories):
            subject = None if told is Crash else self.subject(answer)
            self.requests.append(Request(verb=verb, subject=subject))
            if len(self.requests) % 3 == 0:
                self.repeat_one(self.requests[-1], crash)

    def told(self, crash: tuple[int, bool], verb: Verb) -> tuple[type | None, object]:
        """The error or the answer. After a crash there is a new process."""
        self.crashing.left, self.crashing.after = crash
        try:
            return None, self.patiently(verb)
        except VaultError as error:
            return type(error), None
        except Crash:
            self.hand = self.restarted()
            return Crash, None
        finally:
            self.crashing.left = 0

    def restarted(self) -> Hand:
        self.crashing.left = 0
        return self.process()

    def patiently(self, verb: Verb) -> object:
        try:
            return verb(self.hand.vault)
        except Unavailable:
            hidden = self.hand.store.head().hidden
            assert hidden, "only an undo that has stopped may hold anything up"
            for one in hidden:
                imports.undo(self.hand.vault, one, by=OWNER)
            return verb(self.hand.vault)

    def compare(self, *options: Model) -> None:
        seen = self.observed()
        known = self.model.memories
        assert any(one.same(seen, known=known) for one in options), (seen, options)
        self.model = seen

    def observed(self) -> Model:
        store = self.hand.store
        page = store.memories(limit=3)
        found = list(page.items)
        while page.next:
            page = store.memories(limit=3, cursor=page.next)
            found += page.items
        return replace(
            self.model,
            memories={one.id: one for one in found},
            excluded={identity: out.of for identity, out in store.exclusions(limit=99).items},
        )

    @invariant()
    def everything_fits(self) -> None:
        if not hasattr(self, "hand"):
            return
        fits(self.raw, self.hand.partition)
        assert self.hand.store.audit_faults() == []
        queued = everything(self.raw, self.hand.partition, "J")
        assert self.crashing.due <= queued.keys(), "a job was lost"
        self.finds_the_same()

    def finds_the_same(self) -> None:
        """Who has followed all changes, stumbling now and then, and who has just read all."""
        self.crashing.left, self.stumbles = self.stumbles, (self.stumbles + 1) % 7
        with suppress(Crash):
            jobs.catch_up(self.follower.vault)
        self.crashing.left = 0
        word = WORDS[len(self.requests) % len(WORDS)]
        query = Query(text=f"{word} milk", limit=99, include_history=len(self.requests) % 2 == 0)
        fresh = recall(self.process().vault, query)
        follows = recall(self.follower.vault, query)
        assert [hit.memory for hit in follows.hits] == [hit.memory for hit in fresh.hits]
        shown = EVER if query.include_history else CURRENT
        said = [one for one in self.model.memories.values() if "milk" in one.content]
        found = {hit.memory.id for hit in fresh.hits}
        assert {one.id for one in said if one.status in shown} <= found

    def teardown(self) -> None:
        """Whatever has happened, everything can be finished."""
        if not hasattr(self, "hand"):
            return
        self.embedder.down = False
        vault = self.later(self.hand.vault)
        while imports.resume(vault, seconds=3600.0):
            pass
        jobs.work_off(self.later(vault))
        assert {batch.state for batch in self.hand.store.batches().items} <= imports.ENDED
        assert everything(self.raw, self.hand.partition, "BI") == {}, "texts are left behind"
        assert jobs.lag(vault) == 0
        everyone = self.hand.store.memories(limit=99).items
        made = self.hand.store.embeddings([memory.id for memory in everyone])
        assert all(is_current(vault, made[memory.id], memory) for memory in everyone)
        self.finds_the_same()

    # ---- choices

    def pick(self, n: int, status: Status | None = None) -> str:
        """Any memory, mostly one of the status."""
        everyone = sorted(self.model.memories)
        wanted = [one for one in everyone if self.model.memories[one].status is status]
        some = wanted if wanted and n % 5 else everyone
        return some[n % len(some)] if some else "mem_none"

    def pick_import(self, n: int) -> str:
        ids = sorted(self.brought)
        return ids[n % len(ids)] if ids and n % 7 else "bat_none"

    def new_key(self) -> str:
        return uuid.uuid4().hex

    def new(self, text: str) -> Memory:
        at = self.clock()
        return Memory(
            id=f"new {identity_of(text)}", content=text, status=Status.ACTIVE, created_at=at,
            updated_at=at, since=at, actor="owner",
        )  # fmt: skip

    def new_in(self, batch_id: str) -> Callable[[str], Memory]:
        return lambda text: replace(self.new(text), batch_id=batch_id)

    def subject(self, answer: object) -> str:
        match answer:
            case Remembered(memory=Memory(id=one)) | Memory(id=one):
                return one
            case _:
                return ""

    def later(self, vault: Vault) -> Vault:
        """When everything that waits is due."""
        self.late += 3 * jobs.LONGEST
        late = self.late
        return replace(vault, clock=lambda: self.clock() + late)


@pytest.mark.parametrize("place", ["sqlite", "paper", "dynamo"])
def test_any_history_with_crashes(place: str, request: pytest.FixtureRequest) -> None:
    table: Table = request.getfixturevalue(place)

    class Here(Histories):
        raw = table

    examples = EXAMPLES // 10 if place == "dynamo" else EXAMPLES
    run_state_machine_as_test(
        Here,
        settings=settings(
            max_examples=examples,
            stateful_step_count=30 if place != "dynamo" else 15,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )


@pytest.mark.parametrize("after", [True, False], ids=["after", "before"])
def test_an_undo_that_dies_shows_all_or_nothing(after: bool) -> None:  # noqa: FBT001
    for call in range(1, 40):
        crashing = Crashing(DynamoTable(PaperClient(), "vault"))
        hand = hand_on(crashing)
        batch = bring(hand, *(f"item{n}" for n in range(20)))
        assert batch.stored == 20
        crashing.left, crashing.after = call, after
        with suppress(Crash):
            imports.undo(hand.vault, batch.id, by=OWNER)
        over, crashing.left = crashing.left > 0, 0
        assert len(hand.store.memories(limit=99).items) in (0, 20)
        assert imports.undo(hand.vault, batch.id, by=OWNER).undone == 20
        assert hand.store.head().hidden == ()
        assert hand.store.audit_faults() == []
        if over:
            return


@pytest.mark.parametrize("verb", ["carry on", "cancel", "undo"])
def test_an_import_that_dies_at_its_end_leaves_no_texts_behind(verb: str) -> None:
    verbs: dict[str, Callable[[Vault, str], object]] = {
        "carry on": imports.carry_on,
        "cancel": lambda vault, one: imports.cancel(vault, one, by=OWNER),
        "undo": lambda vault, one: imports.undo(vault, one, by=OWNER),
    }
    for call in range(1, 40):
        crashing = Crashing(DynamoTable(PaperClient(), "vault"))
        hand = hand_on(crashing)
        batch = imports.begin(hand.vault, [ImportItem(content="tea")], by=OWNER)
        crashing.left = call
        with suppress(Crash):
            verbs[verb](hand.vault, batch.id)
        if crashing.left > 0:  # it has fewer calls
            return
        crashing.left = 0
        while imports.resume(hand.vault, seconds=60.0):
            pass
        assert everything(crashing, hand.partition, "BI") == {}
