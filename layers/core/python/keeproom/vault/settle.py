"""Committing a change and bringing the index along at once."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from keeproom.errors import Unavailable
from keeproom.vault.change import Change, Look, Place
from keeproom.vault.jobs import catch_up, take_off
from keeproom.vault.kin import indexed, is_current
from keeproom.vault.model import Embedding, Job, Memory
from keeproom.vault.publish import publish
from keeproom.vault.vault import Vault


def commit(vault: Vault, change: Change, *, seen: Look) -> None:
    """As the store's `commit`, and what the change has queued for the index is tried at once. What
    cannot be done now stays queued: the change is safe already, so nothing more is raised. A
    memory without an embedding stays queued for one."""
    made = {one.memory_id: one for one in change.embeddings}
    known = {**seen.embeddings, **made}
    written = [put.memory for put in change.put]
    whole = [one for one in written if one.id in known and is_current(vault, known[one.id], one)]
    touched = [*(one.id for one in written), *(gone.id for gone in change.removed)]
    with vault.underway.writing(touched) as alone:
        place = vault.memories.commit(change, seen=seen)
        try:
            direct = alone and len(whole) == len(written)
            if not (direct and _along(vault, change, place, known)) and touched:
                catch_up(vault)
                whole = _with_embedding(vault, written)
        except Unavailable:
            return
    if vault.index.shared and vault.publish_later:
        if touched:
            vault.publish_later()
        return
    reached = {one.id: one.revision for one in whole}
    reached |= {one.id: one.revision + 1 for one in change.removed}
    done = publish(vault, reached)
    vault.underway.done(
        [
            Job(generation=place.generation, memory_id=id, revision=revision, due=change.audit.at)
            for id, revision in reached.items()
            if id in done
        ]
    )
    if vault.index.shared:  # else the schedule would find the jobs, and publish all of it again
        with suppress(Unavailable):
            take_off(vault)


def _along(vault: Vault, change: Change, place: Place, known: Mapping[str, Embedding]) -> bool:
    """Put into the index what was written, without reading it again. False when the index must be
    caught up instead: it is empty or of another generation.

    Who comes later to one of these memories is not alone and catches up: it then reads past this
    place, so that what it finds is not put back to what stands here."""
    with vault.underway.catching_up:
        moment = vault.index.position
        if moment is None or moment.generation != place.generation:
            return False
        reached = moment.counts[place.chain]
        if reached >= place.count:
            return True
        gone = [one.id for one in change.removed]
        hidden = [put.memory.id for put in change.put if put.memory.withdrawn]
        shown = [put.memory for put in change.put if not put.memory.withdrawn]
        vault.index.remove([*gone, *hidden])
        vault.index.put([indexed(vault, one, known[one.id]) for one in shown])
        if reached == place.count - 1:
            counts = list(moment.counts)
            counts[place.chain] = place.count
            vault.index.position = replace(moment, counts=tuple(counts))
    return True


def _with_embedding(vault: Vault, memories: list[Memory]) -> list[Memory]:
    if not memories:
        return []
    found = vault.memories.embeddings([memory.id for memory in memories])
    return [one for one in memories if one.id in found and is_current(vault, found[one.id], one)]
