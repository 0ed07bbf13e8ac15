"""The memory store on any table."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial

from keeproom.clock import Clock
from keeproom.engines.item_store import (
    deciding,
    history,
    imports,
    layout,
    memories,
    published,
    queue,
    retention,
)
from keeproom.engines.item_store.listing import each, paged
from keeproom.engines.item_store.shelf import (
    Shelf,
    create,
    generation_of,
    read_gates,
    read_head,
    read_under,
)
from keeproom.engines.item_store.table import Table
from keeproom.errors import Unavailable
from keeproom.vault.batch import Batch, ImportItem, Outcome
from keeproom.vault.change import Change, Look, Place
from keeproom.vault.model import (
    AuditEntry,
    Embedding,
    Exclusion,
    GuideVersion,
    Head,
    Job,
    Memory,
    Page,
    Position,
    Profile,
    Settings,
    Status,
)
from keeproom.vault.published import (
    BACKLOG_LOOKED,
    Backlog,
    News,
    Published,
    Rebuild,
    ToPublish,
)


class ItemMemoryStore:
    """`MemoryStore` for one vault; makes the vault when there is none. Safe for threads when the
    table is. `patience` and `settling`: see `Shelf`."""

    def __init__(
        self,
        table: Table,
        vault: str,
        *,
        clock: Clock,
        patience: float = 10.0,
        settling: float = 0.05,
    ) -> None:
        self._table = table
        self._shelf = Shelf(
            table=table, vault=vault, clock=clock, patience=patience, settling=settling
        )
        create(self._shelf)

    def close(self) -> None:
        self._table.close()

    # ---- deciding

    def look(
        self,
        *,
        memories: Iterable[str] = (),
        identities: Iterable[str] = (),
        batch: str = "",
        receipt: str = "",
        tally: str = "",
        embeddings: Iterable[str] = (),
        histories: bool = False,
    ) -> Look:
        return deciding.look(
            self._shelf,
            memories=memories,
            identities=identities,
            batch=batch,
            receipt=receipt,
            tally=tally,
            embeddings=embeddings,
            histories=histories,
        )

    def commit(self, change: Change, *, seen: Look) -> Place:
        return deciding.commit(self._shelf, change, seen=seen)

    # ---- reading memories

    def read(self, ids: Sequence[str], *, hidden: bool = False) -> Mapping[str, Memory]:
        return memories.read(self._shelf, ids, hidden=hidden)

    def memories(
        self,
        *,
        status: Status | None = None,
        batch: str = "",
        withdrawn: bool = False,
        cursor: str = "",
        limit: int = 50,
    ) -> Page[Memory]:
        which = memories.Which(status=status, batch=batch, withdrawn=withdrawn)
        return memories.memories(self._shelf, which, cursor=cursor, limit=limit)

    def members(self, batch: str, *, after: str, limit: int) -> tuple[list[str], bool]:
        return imports.members(self._shelf, batch, after=after, limit=limit)

    def embeddings(self, ids: Sequence[str]) -> Mapping[str, Embedding]:
        return memories.embeddings(self._shelf, ids)

    def whole(
        self, ids: Sequence[str], *, hidden: bool = False
    ) -> Mapping[str, tuple[Memory, Embedding | None]]:
        return memories.whole(self._shelf, ids, hidden=hidden)

    def keep_embedding(self, embedding: Embedding, *, revision: int) -> bool:
        return memories.keep_embedding(self._shelf, embedding, revision=revision)

    # ---- what has happened

    def position(self) -> Position:
        return history.position(self._shelf)

    def changes(self, since: Position) -> tuple[Position, frozenset[str]] | None:
        return history.changes(self._shelf, since, gates=read_gates(self._shelf))

    def news(self, since: Position, *, finished: Sequence[Job] = (), index: str = "") -> News:
        """All readings at once."""
        both, shelf = self._table.both, self._shelf
        entries = partial(both, self.settings, partial(history.newest, shelf))
        queue = partial(both, partial(self._off_the_queue, finished), partial(self._behind, index))
        gates, ((settings, newest), (_, backlog)) = both(
            partial(read_gates, shelf), partial(both, entries, queue)
        )
        changes = history.changes(shelf, since, gates=gates, newest=newest)
        return News(settings=settings, changes=changes, backlog=backlog)

    def _off_the_queue(self, finished: Sequence[Job]) -> None:
        with suppress(Unavailable):
            queue.finish(self._shelf, finished)

    def _behind(self, index: str) -> Backlog | None:
        return self.backlog(index) if index else None

    def audit(self, *, cursor: str = "", limit: int = 50) -> Page[AuditEntry]:
        return history.audit(self._shelf, cursor=cursor, limit=limit)

    def audit_faults(self) -> Sequence[str]:
        return history.audit_faults(self._shelf)

    def cut_audit(self, before: datetime, entry: AuditEntry) -> int:
        return retention.cut_audit(self._shelf, before, entry)

    def exclusions(self, *, cursor: str = "", limit: int = 50) -> Page[tuple[str, Exclusion]]:
        return memories.exclusions(self._shelf, cursor=cursor, limit=limit)

    def head(self) -> Head:
        return read_head(self._shelf)

    # ---- the index queue

    def jobs(self, *, due: datetime, limit: int) -> Sequence[Job]:
        return queue.jobs(self._shelf, due=due, limit=limit)

    def take(self, job: Job, *, until: datetime) -> Job | None:
        return queue.take(self._shelf, job, until=until)

    def queue(self, jobs: Sequence[Job]) -> None:
        queue.put(self._shelf, jobs)

    def finish(self, jobs: Sequence[Job]) -> None:
        queue.finish(self._shelf, jobs)

    # ---- the shared index

    def to_publish(self, ids: Sequence[str]) -> ToPublish:
        return published.to_publish(self._shelf, ids)

    def keep_published(self, rows: Sequence[Published]) -> frozenset[str]:
        return published.keep_published(self._shelf, rows)

    def backlog(self, index: str) -> Backlog:
        rebuild, waiting = self._table.both(
            partial(self.rebuild, index), partial(queue.waiting, self._shelf, limit=BACKLOG_LOOKED)
        )
        return Backlog(ready=rebuild is not None and rebuild.ready, waiting=waiting)

    def rebuild(self, index: str) -> Rebuild | None:
        return published.rebuild(self._shelf, index)

    def keep_rebuild(self, rebuild: Rebuild) -> bool:
        return published.keep_rebuild(self._shelf, rebuild)

    # ---- what was brought in

    def batches(self, *, cursor: str = "", limit: int = 50) -> Page[Batch]:
        return imports.batches(self._shelf, cursor=cursor, limit=limit)

    def outcomes(
        self, batch: str, *, cursor: str = "", limit: int = 50
    ) -> Page[tuple[int, Outcome]]:
        return imports.outcomes(self._shelf, batch, cursor=cursor, limit=limit)

    def put_items(self, batch: str, *, start: int, items: Sequence[ImportItem]) -> None:
        imports.put_items(self._shelf, batch, start=start, items=items)

    def items(self, batch: str, *, start: int, limit: int) -> Sequence[ImportItem]:
        return imports.items(self._shelf, batch, start=start, limit=limit)

    def drop_items(self, batch: str) -> None:
        imports.drop_items(self._shelf, batch)

    # ---- guide, settings, profiles

    def settings(self) -> Settings:
        _, found = read_under(self._shelf, [layout.SETTINGS])
        return layout.settings(found.get(layout.SETTINGS))

    def guide_versions(self, *, cursor: str = "", limit: int = 50) -> Page[GuideVersion]:
        pk, read = generation_of(self._shelf), each(layout.guide)
        return paged(self._shelf, pk, "G#", read=read, cursor=cursor, limit=limit, newest=True)

    def drop_expired(self) -> int:
        return queue.drop_expired(self._shelf)

    def profile(self, model: str) -> Profile | None:
        key = layout.profile_key(self._shelf.vault, model)
        found = self._table.get([key])
        return layout.profile(found[key]) if key in found else None

    def keep_profile(self, profile: Profile) -> None:
        self._table.load([layout.profile_item(self._shelf.vault, profile)])
