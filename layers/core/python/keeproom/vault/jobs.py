"""Keeping the searchable copy in step: it follows the audit, and a queue remembers what is due."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from keeproom.errors import Unavailable
from keeproom.vault.kin import embedding, indexed, is_current
from keeproom.vault.model import Job, Memory
from keeproom.vault.publish import publish
from keeproom.vault.vault import Vault

PAGE = 500  # memories read at once while everything is read again
TAKEN = 16  # jobs worked off together: one call of the embedder
TICK = timedelta(seconds=5)
LONGEST = timedelta(hours=1)


def catch_up(vault: Vault) -> None:
    """Bring the index to the store's newest moment, whoever changed it. Cheap when it is there."""
    with vault.catching_up:
        since = vault.index.position
        news = vault.memories.changes(since) if since else None
        if news is None:
            _read_everything(vault)
            return
        moment, ids = news
        late = [one for one in vault.index.lacking(limit=TAKEN) if one not in ids]
        _follow(vault, [*ids, *late])
        vault.index.position = moment


def _read_everything(vault: Vault) -> None:
    moment, cursor = vault.memories.position(), ""
    vault.index.clear()
    while True:
        page = vault.memories.memories(cursor=cursor, limit=PAGE)
        _put(vault, (memory for memory in page.items if memory.withdrawn is None))
        cursor = page.next
        if not cursor:
            break
    vault.index.position = moment


def _follow(vault: Vault, ids: Sequence[str]) -> None:
    if not ids:
        return
    read = vault.memories.read(ids, hidden=True)
    found = {one: memory for one, memory in read.items() if memory.withdrawn is None}
    vault.index.remove([one for one in ids if one not in found])
    _put(vault, found.values())


def _put(vault: Vault, memories: Iterable[Memory]) -> None:
    rows = list(memories)
    embeddings = vault.memories.embeddings([memory.id for memory in rows])
    vault.index.put([indexed(vault, memory, embeddings.get(memory.id)) for memory in rows])


def settle(vault: Vault, written: Sequence[Memory], *, embedded: bool = False) -> None:
    """Try at once what the write has queued. What cannot be done now stays queued: the write
    itself is safe already, so nothing is raised. `embedded`: the same write has brought the
    embeddings; else a memory without its own stays queued for one."""
    try:
        catch_up(vault)
        ready = written if embedded else _embedded(vault, written)
        done = publish(vault, [one.id for one in ready])
        _finish(vault, {one.id: one.revision for one in ready if one.id in done})
    except Unavailable:
        return


def _embedded(vault: Vault, memories: Sequence[Memory]) -> list[Memory]:
    found = vault.memories.embeddings([memory.id for memory in memories])
    return [one for one in memories if one.id in found and is_current(vault, found[one.id], one)]


def settle_removed(vault: Vault, removed: Iterable[Memory]) -> None:
    """As `settle`, for memories that are gone."""
    try:
        catch_up(vault)
        revisions = {gone.id: gone.revision + 1 for gone in removed}
        done = publish(vault, revisions)
        _finish(vault, {one: revisions[one] for one in done})
    except Unavailable:
        return


def _finish(vault: Vault, revisions: Mapping[str, int]) -> None:
    """The jobs that a commit has just queued: by memory and the revision it reached. The index has
    followed that commit, so it knows its generation."""
    if revisions and vault.index.position:
        generation, at = vault.index.position.generation, vault.clock()
        vault.memories.finish(
            [
                Job(generation=generation, memory_id=one, revision=revision, due=at)
                for one, revision in revisions.items()
            ]
        )


def work_off(vault: Vault, *, limit: int = 1000) -> int:
    """Embed what is still without, publish it, and take what is done off the queue. Answers how
    many jobs were finished. A job that cannot be done is due again after 5 s, doubling to an
    hour."""
    done = 0
    while done < limit:
        taken = _take(vault)
        finished = _work(vault, taken)
        done += finished
        if not finished:
            return done
    return done


def _take(vault: Vault) -> list[Job]:
    due = vault.memories.jobs(due=vault.clock(), limit=TAKEN)
    taken = (vault.memories.take(job, until=_again_at(vault, job)) for job in due)
    return [job for job in taken if job is not None]


def _again_at(vault: Vault, job: Job) -> datetime:
    return vault.clock() + min(TICK * 2 ** min(job.attempt, 16), LONGEST)


def _work(vault: Vault, jobs: Sequence[Job]) -> int:
    ids = [job.memory_id for job in jobs]
    memories = vault.memories.read(ids, hidden=True)
    embeddings = vault.memories.embeddings(list(memories))
    lacking = [
        memory
        for one, memory in memories.items()
        if one not in embeddings or not is_current(vault, embeddings[one], memory)
    ]
    kept = embed(vault, lacking)
    catch_up(vault)
    refresh(vault, kept)
    behind = {memory.id for memory in lacking} - kept
    done = publish(vault, [one for one in ids if one not in behind])
    finished = [job for job in jobs if job.memory_id in done]
    vault.memories.finish(finished)
    return len(finished)


def refresh(vault: Vault, ids: Iterable[str]) -> None:
    """Put these memories into the index as they are now."""
    with vault.catching_up:
        _follow(vault, sorted(ids))


def embed(vault: Vault, memories: Sequence[Memory]) -> set[str]:
    """Ids of those that now have their embedding."""
    if not memories:
        return set()
    try:
        made = vault.embedder.passages([memory.content for memory in memories])
    except Unavailable:
        return set()
    return {
        memory.id
        for memory, one in zip(memories, made, strict=True)
        if vault.memories.keep_embedding(
            embedding(vault, memory.id, memory.content, one), revision=memory.revision
        )
    }


def lag(vault: Vault, *, limit: int = 1000) -> int:
    """How many memories wait for their index entry, counted up to `limit`."""
    return len(vault.memories.jobs(due=vault.clock() + 2 * LONGEST, limit=limit))


def embed_lacking(vault: Vault) -> int:
    """Embed some of what the model in use has not embedded yet: after a change of models, or when
    none could be had before. Keyword recall goes on meanwhile. Answers how many were done."""
    catch_up(vault)
    ids = vault.index.lacking(limit=TAKEN)
    kept = embed(vault, list(vault.memories.read(ids, hidden=True).values()))
    refresh(vault, kept)
    return len(kept)
