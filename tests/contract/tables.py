"""Tables that misbehave, and what a table must look like."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from keeproom.clock import iso
from keeproom.engines.item_store import layout
from keeproom.engines.item_store.table import Check, Erase, Item, Key, Page, Step, Table, Write
from keeproom.vault.batch import Stored
from keeproom.vault.model import SHORT, Exclusion, Held, Status


@dataclass
class Through:
    """A table that does what another one does."""

    table: Table

    def get(self, keys: Sequence[Key]) -> dict[Key, Item]:
        return self.table.get(keys)

    def page(self, pk: str, prefix: str, *, after: str, limit: int, newest: bool = False) -> Page:
        return self.table.page(pk, prefix, after=after, limit=limit, newest=newest)

    def both[One, Other](
        self, one: Callable[[], One], other: Callable[[], Other]
    ) -> tuple[One, Other]:
        return one(), other()

    def transact(self, steps: Sequence[Step]) -> None:
        self.table.transact(steps)

    def load(self, items: Iterable[Item]) -> None:
        self.table.load(items)

    def drop(self, keys: Sequence[Key]) -> None:
        self.table.drop(keys)

    def close(self) -> None:
        self.table.close()


@dataclass
class Interrupted(Through):
    """Somebody else acts right before one of the calls: the first, or `skip` later. `only`: the
    name of the calls that count."""

    act: Callable[[], object] | None = None
    skip: int = 0
    only: str = ""
    calls: list[str] = field(default_factory=list[str])

    def _before(self, call: str) -> None:
        self.calls.append(call)
        if self.act is None or self.only not in ("", call):
            return
        if self.skip:
            self.skip -= 1
            return
        act, self.act = self.act, None
        act()

    def get(self, keys: Sequence[Key]) -> dict[Key, Item]:
        self._before("get")
        return self.table.get(keys)

    def page(self, pk: str, prefix: str, *, after: str, limit: int, newest: bool = False) -> Page:
        self._before("page")
        return self.table.page(pk, prefix, after=after, limit=limit, newest=newest)

    def transact(self, steps: Sequence[Step]) -> None:
        self._before("transact")
        self.table.transact(steps)

    def load(self, items: Iterable[Item]) -> None:
        self._before("load")
        self.table.load(items)

    def drop(self, keys: Sequence[Key]) -> None:
        self._before("drop")
        self.table.drop(keys)


class Crash(BaseException):
    """The process died."""


@dataclass
class Crashing(Through):
    """The process dies at the `left`th call from now, before or after it took effect. `due`: the
    memories whose index job must lie in the queue, since they were written and nobody has taken
    the job off."""

    left: int = 0
    after: bool = False
    due: set[str] = field(default_factory=set[str])

    def _call[T](self, call: Callable[[], T]) -> T:
        self.left -= 1
        if self.left == 0 and not self.after:
            raise Crash
        answer = call()
        if self.left == 0:
            raise Crash
        return answer

    def get(self, keys: Sequence[Key]) -> dict[Key, Item]:
        return self._call(lambda: self.table.get(keys))

    def page(self, pk: str, prefix: str, *, after: str, limit: int, newest: bool = False) -> Page:
        return self._call(
            lambda: self.table.page(pk, prefix, after=after, limit=limit, newest=newest)
        )

    def transact(self, steps: Sequence[Step]) -> None:
        self._call(lambda: self._transact(steps))

    def _transact(self, steps: Sequence[Step]) -> None:
        self.table.transact(steps)
        changed: set[str] = set()
        touched: set[str] = set()
        for step in steps:
            kind, _, one = step.key[1].partition("#")
            if kind == "M" and not isinstance(step, Check):
                changed.add(one)
            elif kind == "J" and isinstance(step, Erase):
                self.due.discard(one)
            elif kind == "A" and isinstance(step, Write):
                touched |= {*layout.entry(step.item).touched}
        self.due |= changed
        assert changed <= touched, "who follows the audit would not hear of it"

    def load(self, items: Iterable[Item]) -> None:
        self._call(lambda: self.table.load(items))

    def drop(self, keys: Sequence[Key]) -> None:
        self._call(lambda: self.table.drop(keys))


KINDS = ("M", "E", "H", "I", "L", "X", "B", "BM", "BO", "BI", "J", "D", "RB", "A", "R", "G")


def all_of(table: Table, name: str) -> list[Item]:
    """Everything of a vault."""
    own = layout.partition(name)
    head = table.get([(own, layout.HEAD)])[own, layout.HEAD]
    pk = layout.partition(name, layout.head(head).generation)
    items = [head, *table.page(own, "GATE#", after="", limit=layout.GATES).items]
    items += table.get([(pk, layout.SETTINGS)]).values()
    for kind in KINDS:
        items += everything(table, pk, kind).values()
    return items


def put_down(items: Iterable[Item], table: Table, name: str) -> None:
    """Everything of a vault, as another vault with the same ids."""
    renamed = re.compile("^V#[^#]+")
    table.load({**item, "pk": renamed.sub(f"V#{name}", str(item["pk"]))} for item in items)


def everything(table: Table, pk: str, kind: str) -> dict[str, Item]:
    """All items of a kind, by the rest of their sort key."""
    found: dict[str, Item] = {}
    after, more = "", True
    while more:
        page = table.page(pk, f"{kind}#", after=after, limit=500)
        found |= {str(item["sk"]).removeprefix(f"{kind}#"): item for item in page.items}
        after, more = (str(page.items[-1]["sk"]) if page.items else after), page.more
    return found


def fits(table: Table, pk: str) -> None:
    """Locks, markers, embeddings, jobs and counts say what the memories say."""
    memories = [layout.memory(item) for item in everything(table, pk, "M").values()]
    ids = {memory.id for memory in memories}

    members = {f"{memory.batch_id}#{memory.id}" for memory in memories if memory.batch_id}
    assert set(everything(table, pk, "BM")) == members
    listed = {
        f"{memory.status}#{iso(memory.since)}#{memory.id}"
        for memory in memories
        if memory.status is not Status.ACTIVE
    }
    assert set(everything(table, pk, "L")) == listed

    locks = {one: layout.holding(item) for one, item in everything(table, pk, "I").items()}
    held = {one: lock.by for one, lock in locks.items() if isinstance(lock, Held)}
    assert held == {one.identity: one.id for one in memories if one.holds_identity}
    out = {one: lock for one, lock in locks.items() if isinstance(lock, Exclusion)}
    assert {f"{iso(lock.at)}#{one}" for one, lock in out.items()} == set(everything(table, pk, "X"))
    rejected = {memory.id for memory in memories if memory.status is Status.REJECTED}
    assert {lock.of for lock in out.values() if lock.of} == rejected

    jobs = {one: layout.job(item) for one, item in everything(table, pk, "J").items()}
    revisions = {memory.id: memory.revision for memory in memories}
    assert all(revisions.get(one, job.revision) == job.revision for one, job in jobs.items())
    made = map(layout.embedding, everything(table, pk, "E").values())
    hashes = {one.memory_id: one.content_hash for one in made}
    had = dict(map(layout.history, everything(table, pk, "H").values()))
    assert had == {
        one.id: texts
        for one in memories
        if (texts := {was.identity[:SHORT] for was in one.history} - {one.identity[:SHORT]})
    }
    assert hashes.keys() <= ids
    behind = {one.id for one in memories if hashes.get(one.id) != one.content_hash}
    assert behind <= jobs.keys(), "nobody will ever embed some memories"
    _batches_fit(table, pk)


def _batches_fit(table: Table, pk: str) -> None:
    outcomes = everything(table, pk, "BO")
    told: Mapping[str, list[bool]] = {one: [] for one in everything(table, pk, "B")}
    for name, item in outcomes.items():
        told[name.partition("#")[0]].append(isinstance(layout.outcome(item), Stored))
    for one, item in everything(table, pk, "B").items():
        batch = layout.batch(item)
        assert (batch.stored, batch.position) == (sum(told[one]), len(told[one]))
