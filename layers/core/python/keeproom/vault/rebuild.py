"""Making the index anew while it goes on answering, and what is behind in it."""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from keeproom.errors import Unavailable
from keeproom.vault.change import Change, Look
from keeproom.vault.jobs import embed, lag, refresh
from keeproom.vault.kin import answers, is_current
from keeproom.vault.model import OWNER, Actor, Job, Memory
from keeproom.vault.publish import SHOWN, prepare, publish
from keeproom.vault.published import Published, Rebuild
from keeproom.vault.vault import Vault, decided

PAGE = 50  # memories in one step
SWEPT = 200  # documents looked at in one step
STRETCH = timedelta(seconds=60)  # a worker that has not gone on for so long is thought dead
_SWEEP = "documents "  # begins the cursor of the second part


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """`done` of about `total` memories. `waiting`: memories whose index entry is behind, counted
    up to 1,000. `finished_at`: None while it runs, and before the first time."""

    running: bool
    done: int
    total: int
    waiting: int
    started_at: datetime | None
    finished_at: datetime | None


def index_name(vault: Vault) -> str:
    """Of the index that is rebuilt: the shared one, or the ones inside the processes."""
    if vault.index.shared:
        return vault.index.shared.name
    return "own-" + hashlib.sha256(vault.embedder.model.encode()).hexdigest()[:16]


def begin(vault: Vault, *, reembed: bool, by: Actor = OWNER) -> Progress:
    """Have everything sent again, and with `reembed` embedded again. One that runs starts over.
    Recall goes on with what there is. Somebody must `carry_on`."""

    def note() -> Look:
        look = vault.memories.look()
        audit = vault.audit("reindex", "reembed" if reembed else "", by=by)
        vault.memories.commit(Change(audit=audit), seen=look)
        return look

    generation = decided(vault, note).head.generation
    for _ in vault.tries():
        was = vault.memories.rebuild(index_name(vault))
        now = _started(vault, was, generation=generation, reembed=reembed)
        if vault.memories.keep_rebuild(now):
            return _progress(vault, now)
    raise Unavailable("The index is being worked on. Try again.")


def _started(vault: Vault, was: Rebuild | None, *, generation: str, reembed: bool) -> Rebuild:
    now = vault.clock()
    return Rebuild(
        generation=generation,
        index=index_name(vault),
        started_at=now,
        until=now,
        total=vault.index.size,
        ready=was.ready if was else False,
        reembed=reembed,
        made=was.made if was else False,
        revision=was.revision + 1 if was else 1,
    )


def progress(vault: Vault) -> Progress:
    return _progress(vault, vault.memories.rebuild(index_name(vault)))


def _progress(vault: Vault, of: Rebuild | None) -> Progress:
    return Progress(
        running=of is not None and of.finished_at is None,
        done=of.done if of else 0,
        total=max(of.total, of.done) if of else 0,
        waiting=lag(vault),
        started_at=of.started_at if of else None,
        finished_at=of.finished_at if of else None,
    )


def carry_on(vault: Vault) -> int:
    """Take one step of the rebuild, if one is under way and nobody else is at it. Answers how many
    memories or documents were looked at; 0 when there is nothing to do now."""
    was = vault.memories.rebuild(index_name(vault)) or _first(vault)
    if was is None or was.finished_at or was.until > vault.clock():
        return 0
    if not was.cursor and vault.index.size:
        was = _prepared(vault, was)
    mine = replace(was, until=vault.clock() + STRETCH, revision=was.revision + 1)
    if not vault.memories.keep_rebuild(mine):
        return 0
    now, worked = _step(vault, replace(mine, until=vault.clock()))
    kept = vault.memories.keep_rebuild(replace(now, revision=mine.revision + 1))
    return worked if kept else 0


def _prepared(vault: Vault, was: Rebuild) -> Rebuild:
    """As it is once the shared index is there, which may have to be noted."""
    with suppress(Unavailable):
        prepare(vault)
    return vault.memories.rebuild(was.index) or was


def _first(vault: Vault) -> Rebuild | None:
    """A shared index that nobody has ever filled."""
    if vault.index.shared is None:
        return None
    generation = vault.memories.head().generation
    now = _started(vault, None, generation=generation, reembed=False)
    return now if vault.memories.keep_rebuild(now) else None


def _step(vault: Vault, was: Rebuild) -> tuple[Rebuild, int]:
    """First memory by memory; then, in a shared index, document by document."""
    try:
        if was.cursor.startswith(_SWEEP):
            return _swept(vault, was)
        return _sent(vault, was)
    except Unavailable:
        return was, 0


def _sent(vault: Vault, was: Rebuild) -> tuple[Rebuild, int]:
    page = vault.memories.memories(cursor=was.cursor, limit=PAGE)
    ids = [memory.id for memory in page.items]
    behind = _behind(vault, page.items, reembed=was.reembed)
    refresh(vault, ids)
    done = publish(vault, [one for one in ids if one not in behind])
    if ids and not done and not (len(behind) == len(ids) and answers(vault)):
        return was, 0
    vault.memories.queue([_job(vault, was, one) for one in page.items if one.id not in done])
    now = replace(was, done=was.done + len(page.items), cursor=page.next)
    if page.next:
        return now, len(page.items)
    if vault.index.shared is None or not now.done:
        return _finished(vault, now), len(page.items)
    shown = vault.clock() + SHOWN
    return replace(now, cursor=_SWEEP, until=shown), len(page.items)


def _behind(vault: Vault, memories: Sequence[Memory], *, reembed: bool) -> set[str]:
    """Those that have no embedding, or with `reembed` no new one."""
    made = vault.memories.embeddings([memory.id for memory in memories])
    wanted = [
        memory
        for memory in memories
        if reembed or memory.id not in made or not is_current(vault, made[memory.id], memory)
    ]
    return {memory.id for memory in wanted} - embed(vault, wanted)


def _job(vault: Vault, this: Rebuild, memory: Memory) -> Job:
    return Job(
        generation=this.generation,
        memory_id=memory.id,
        revision=memory.revision,
        due=vault.clock(),
    )


def _swept(vault: Vault, was: Rebuild) -> tuple[Rebuild, int]:
    """Drop the documents whose memory has others by now, or none."""
    shared = vault.index.shared
    assert shared is not None
    found, further = shared.documents(after=was.cursor.removeprefix(_SWEEP), limit=SWEPT)
    known = vault.memories.to_publish(list({memory_id for memory_id, _ in found})).published
    strays = [name for memory_id, name in found if _is_stray(known.get(memory_id), name)]
    if strays:
        shared.drop(strays)
    if further:
        return replace(was, cursor=_SWEEP + further), len(found)
    shared.tidy()
    return _finished(vault, was), len(found)


def _is_stray(known: Published | None, name: str) -> bool:
    return known is None or (name not in known.names and known.begun is None)


def _finished(vault: Vault, was: Rebuild) -> Rebuild:
    return replace(was, cursor="", finished_at=vault.clock(), ready=True)
