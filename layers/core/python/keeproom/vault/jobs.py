"""Keeping the searchable copy in step: it follows the audit, and a queue remembers what is due."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from keeproom.errors import Unavailable
from keeproom.vault.kin import embedding, encoded_each, indexed, is_current
from keeproom.vault.model import Job, Memory, Position, Settings
from keeproom.vault.publish import publish
from keeproom.vault.published import News
from keeproom.vault.vault import Vault

PAGE = 500  # memories read at once while everything is read again
TAKEN = 16  # jobs worked off together: one call of the embedder
TICK = timedelta(seconds=5)
LONGEST = timedelta(hours=1)


def catch_up(vault: Vault) -> Settings:
    """Bring the index to the store's newest moment, whoever changed it, and answer the settings,
    which lie beside it. Cheap when it is there."""
    with vault.underway.catching_up:
        since = vault.index.position
        if since is None:
            settings = vault.memories.settings()
            _read_everything(vault)
            return settings
        news = _news(vault, since)
        if news.changes is None:
            _read_everything(vault)
            return news.settings
        if news.backlog:  # first: what is put below may have come on the queue since
            vault.index.tell_backlog(news.backlog)
        moment, ids = news.changes
        late = [one for one in vault.index.lacking(limit=TAKEN) if one not in ids]
        _follow(vault, [*ids, *late])
        vault.index.position = moment
    return news.settings


def _news(vault: Vault, since: Position) -> News:
    done, index = vault.underway.take(), _behind(vault)
    try:
        return vault.memories.news(since, finished=done, index=index)
    except Unavailable:
        vault.underway.done(done)
        raise


def _behind(vault: Vault) -> str:
    """The shared index whose backlog should be looked at; empty when none should."""
    shared = vault.index.shared
    return shared.name if shared and vault.index.wants_backlog else ""


def take_off(vault: Vault) -> None:
    """Take off the queue what this process has done. Raises `Unavailable`, with nothing lost: what
    stays is done again."""
    if done := vault.underway.take():
        vault.memories.finish(done)


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
    if index := _behind(vault):
        vault.index.tell_backlog(vault.memories.backlog(index))


def _follow(vault: Vault, ids: Sequence[str]) -> None:
    if not ids:
        return
    read = vault.memories.whole(ids, hidden=True)
    found = {one: both for one, both in read.items() if both[0].withdrawn is None}
    vault.index.remove([one for one in ids if one not in found])
    vault.index.put([indexed(vault, *both) for both in found.values()])


def _put(vault: Vault, memories: Iterable[Memory]) -> None:
    rows = list(memories)
    embeddings = vault.memories.embeddings([memory.id for memory in rows])
    vault.index.put([indexed(vault, memory, embeddings.get(memory.id)) for memory in rows])


def work_off(vault: Vault, *, limit: int = 1000) -> int:
    """Embed what is still without, publish it, and take what is done off the queue. Answers how
    many jobs were finished. A job that cannot be done is due again after 5 s, doubling to an
    hour."""
    take_off(vault)
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
    lacking = [
        memory
        for memory, made in vault.memories.whole(ids, hidden=True).values()
        if made is None or not is_current(vault, made, memory)
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
    with vault.underway.catching_up:
        _follow(vault, sorted(ids))


def embed(vault: Vault, memories: Sequence[Memory]) -> set[str]:
    """Ids of those that now have their embedding."""
    made = encoded_each(vault, [memory.content for memory in memories])
    return {
        memory.id
        for memory, one in zip(memories, made, strict=True)
        if one
        and vault.memories.keep_embedding(
            embedding(vault, memory.id, memory.content, one), revision=memory.revision
        )
    }


def lag(vault: Vault, *, limit: int = 1000) -> int:
    """How many memories wait for their index entry, counted up to `limit`."""
    take_off(vault)
    return len(vault.memories.jobs(due=vault.clock() + 2 * LONGEST, limit=limit))


def embed_lacking(vault: Vault) -> int:
    """Embed some of what the model in use has not embedded yet: after a change of models, or when
    none could be had before. Keyword recall goes on meanwhile. Answers how many were done."""
    catch_up(vault)
    ids = vault.index.lacking(limit=TAKEN)
    kept = embed(vault, list(vault.memories.read(ids, hidden=True).values()))
    refresh(vault, kept)
    return len(kept)
