"""Tables that misbehave, and what a table must look like."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from keeproom.clock import iso
from keeproom.engines.item_store import layout
from keeproom.engines.item_store.table import Item, Key, Page, Step, Table
from keeproom.vault.model import Exclusion, Held, Status, Stored


@dataclass
class Through:
    """A table that does what another one does."""

    table: Table

    def get(self, keys: Sequence[Key]) -> dict[Key, Item]:
        return self.table.get(keys)

    def page(self, pk: str, prefix: str, *, after: str, limit: int, newest: bool = False) -> Page:
        return self.table.page(pk, prefix, after=after, limit=limit, newest=newest)

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
    """Somebody else acts right before the next transaction."""

    act: Callable[[], object] | None = None

    def transact(self, steps: Sequence[Step]) -> None:
        act, self.act = self.act, None
        if act:
            act()
        self.table.transact(steps)


class Crash(BaseException):
    """The process died."""


@dataclass
class Crashing(Through):
    """The process dies at the `left`th call from now, before or after it took effect."""

    left: int = 0
    after: bool = False

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
        self._call(lambda: self.table.transact(steps))

    def load(self, items: Iterable[Item]) -> None:
        self._call(lambda: self.table.load(items))

    def drop(self, keys: Sequence[Key]) -> None:
        self._call(lambda: self.table.drop(keys))


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

    made = {layout.embedding(item) for item in everything(table, pk, "E").values()}
    assert {one.memory_id: one.content_hash for one in made} == {
        memory.id: memory.content_hash for memory in memories
    }
    jobs = {layout.job(item).memory_id: item for item in everything(table, pk, "J").values()}
    assert ids <= jobs.keys()
    assert all(jobs[memory.id]["revision"] == memory.revision for memory in memories)
    _batches_fit(table, pk)


def _batches_fit(table: Table, pk: str) -> None:
    outcomes = everything(table, pk, "BO")
    told: Mapping[str, list[bool]] = {one: [] for one in everything(table, pk, "B")}
    for name, item in outcomes.items():
        told[name.partition("#")[0]].append(isinstance(layout.outcome(item), Stored))
    for one, item in everything(table, pk, "B").items():
        batch = layout.batch(item)
        assert (batch.stored, batch.position) == (sum(told[one]), len(told[one]))
