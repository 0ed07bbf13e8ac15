"""The index queue, and what else is taken away once it is done with."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import batched

from keeproom.engines.item_store import layout
from keeproom.engines.item_store.listing import check_limit
from keeproom.engines.item_store.shelf import (
    Shelf,
    generation_of,
    read_head,
    transact_some,
    walk,
)
from keeproom.engines.item_store.steps import job_condition
from keeproom.engines.item_store.table import (
    LIMIT,
    Absent,
    Busy,
    Erase,
    Failed,
    Same,
    Write,
    key_of,
)
from keeproom.vault.model import Job


def jobs(shelf: Shelf, *, due: datetime, limit: int) -> Sequence[Job]:
    """A job is keyed by its memory, so that a commit can overwrite one it has not seen."""
    found: list[Job] = []
    for item in walk(shelf, generation_of(shelf), "J#", first=check_limit(limit)):
        job = layout.job(item)
        if job.due <= due:
            found.append(job)
        if len(found) >= limit:
            break
    return found


def waiting(shelf: Shelf, *, limit: int) -> frozenset[str]:
    """Memories that have a job; perhaps of a generation that has been replaced."""
    pk = layout.partition(shelf.vault, (shelf.known or read_head(shelf)).generation)
    page = shelf.table.page(pk, "J#", after="", limit=limit)
    return frozenset(layout.job(item).memory_id for item in page.items)


def take(shelf: Shelf, job: Job, *, until: datetime) -> Job | None:
    taken = replace(job, attempt=job.attempt + 1, due=until)
    try:
        shelf.table.transact([Write(layout.job_item(shelf.vault, taken), job_condition(job))])
    except (Failed, Busy):
        return None
    return taken


def put(shelf: Shelf, jobs: Sequence[Job]) -> None:
    steps = [Write(layout.job_item(shelf.vault, job), Absent()) for job in jobs]
    for part in batched(steps, LIMIT):
        transact_some(shelf, part)


def finish(shelf: Shelf, jobs: Sequence[Job]) -> None:
    """Many in one transaction: those that have changed are let go, the others tried again."""
    newest = sorted(jobs, key=lambda job: (job.revision, job.attempt))
    by_key = {key_of(layout.job_item(shelf.vault, job)): job for job in newest}
    waiting = [Erase(key, job_condition(job)) for key, job in by_key.items()]
    for part in batched(waiting, LIMIT):
        transact_some(shelf, part)


def drop_expired(shelf: Shelf) -> int:
    now = shelf.clock()
    old = [
        Erase(key_of(item), Same({"expires": item["expires"]}))
        for item in walk(shelf, generation_of(shelf), "R#")
        if layout.expired(item, now)
    ]
    return sum(len(transact_some(shelf, part)) for part in batched(old, LIMIT, strict=False))
