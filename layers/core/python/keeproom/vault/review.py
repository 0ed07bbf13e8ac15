"""The owner's decisions about memories, each of which can be taken back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from keeproom.errors import NotFound, VaultError, WrongState
from keeproom.vault import listing
from keeproom.vault.change import Change, Claim, Look, Put
from keeproom.vault.edit import Edit, edited, refuse_hidden, rewritten
from keeproom.vault.forget import let_go, rejection
from keeproom.vault.jobs import settle
from keeproom.vault.kin import encoded
from keeproom.vault.model import (
    Actor,
    Decision,
    Exclusion,
    Held,
    Memory,
    Review,
    Status,
    identity_of,
)
from keeproom.vault.remember import superseded
from keeproom.vault.vault import Vault, decided

MOST_AT_ONCE = 1_000
MOST_REPLACED = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of one memory in a review of many: `error` is None when it was done."""

    memory_id: str
    memory: Memory | None = None
    error: VaultError | None = None


def approve(
    vault: Vault,
    memory_id: str,
    *,
    by: Actor,
    replacing_similar: bool = False,
    wanted: Edit | None = None,
) -> Memory:
    """Make a proposal active, edited first if `wanted` says so. What it supersedes becomes
    history in the same step; with `replacing_similar` also the active memories it is flagged
    with, or else its nearest similar one. Raises `NotFound`, `WrongState`, and what an edit
    raises."""
    made = encoded(vault, [wanted.content]) if wanted and wanted.content is not None else None

    def decide() -> Memory:
        was = _proposal(listing.memory(vault, memory_id))
        targets = _targets(was, replacing_similar=replacing_similar)
        text = wanted.content if wanted and wanted.content is not None else was.content
        look = vault.memories.look(memories=[memory_id, *targets], identities=[identity_of(text)])
        refuse_hidden(vault, look)
        was = _proposal(_present(look, memory_id))
        at = vault.clock()
        now = edited(was, wanted, by=by, at=at) if wanted else was
        old = _replaced(vault, look, was, targets)
        names = tuple(put.memory.id for put in old)
        now = replace(
            now,
            status=Status.ACTIVE,
            since=at,
            updated_at=at,
            revision=was.revision + 1,
            owned=True,
            supersedes=was.supersedes or (names[0] if names else ""),
            conflicts_with=tuple(one for one in was.conflicts_with if one not in names),
            review=Review(
                decision=Decision.APPROVED,
                at=at,
                was=was.status,
                replaced=names,
                conflicts_with=was.conflicts_with,
            ),
        )
        change = rewritten(
            vault, was, now, free=look.holdings, made=made[0] if made else None, by=by,
            verb="approve",
        )  # fmt: skip
        touched = (memory_id, *names)
        change = replace(
            change, put=(*change.put, *old), audit=replace(change.audit, touched=touched)
        )
        vault.memories.commit(change, seen=look)
        return now

    memory = decided(vault, decide)
    settle(vault, [memory], embedded=made is None or bool(made))
    return memory


def _present(look: Look, memory_id: str) -> Memory:
    if memory_id not in look.memories:
        raise NotFound(f"There is no memory {memory_id}.", param="id")
    return look.memories[memory_id]


def _proposal(memory: Memory) -> Memory:
    if memory.status is not Status.PROPOSED:
        raise WrongState(f"Memory {memory.id} is {memory.status}: it does not wait for review.")
    return memory


def _targets(was: Memory, *, replacing_similar: bool) -> list[str]:
    found = [was.supersedes] if was.supersedes else []
    if replacing_similar:
        found += was.conflicts_with or was.similar_to[:1]
    return list(dict.fromkeys(found))[:MOST_REPLACED]


def _replaced(vault: Vault, look: Look, was: Memory, targets: Sequence[str]) -> tuple[Put, ...]:
    """What of the targets is still active becomes history. What the proposal names itself must
    be; the rest was only similar."""
    found = [look.memories[one] for one in targets if one in look.memories]
    return tuple(
        superseded(vault, memory, by=was.id) for memory in found if memory.status is Status.ACTIVE
    )


def reject(vault: Vault, memory_id: str, *, by: Actor) -> Memory:
    """Turn a proposal down; its text stays out. Raises `NotFound`, `WrongState`."""

    def decide() -> tuple[Look, Change]:
        look = vault.memories.look(memories=[memory_id])
        was, at = _proposal(_present(look, memory_id)), vault.clock()
        now = replace(
            was,
            status=Status.REJECTED,
            since=at,
            updated_at=at,
            revision=was.revision + 1,
            owned=True,
            review=Review(decision=Decision.REJECTED, at=at, was=was.status),
        )
        excluded = Exclusion(at=at, by=by.name, of=memory_id)
        return look, Change(
            audit=vault.audit("reject", memory_id, by=by, touched=(memory_id,)),
            put=(Put(memory=now, was=was),),
            claims=(let_go(was, excluded),),
        )

    return _done(vault, decide)


def keep_both(vault: Vault, memory_id: str, *, by: Actor) -> Memory:
    """Say that the memory does not contradict what it is flagged with; a proposal becomes active.
    Raises `NotFound`, `WrongState` when there is nothing to settle."""

    def decide() -> tuple[Look, Change]:
        look = vault.memories.look(memories=[memory_id])
        was, at = _present(look, memory_id), vault.clock()
        waits = was.status is Status.PROPOSED
        if not waits and not (was.status is Status.ACTIVE and was.conflicts_with):
            raise WrongState(f"Memory {memory_id} has nothing to settle.")
        now = replace(
            was,
            status=Status.ACTIVE,
            since=at if waits else was.since,
            updated_at=at,
            revision=was.revision + 1,
            owned=True,
            supersedes="" if waits else was.supersedes,
            conflicts_with=(),
            review=Review(
                decision=Decision.KEPT_BOTH,
                at=at,
                was=was.status,
                conflicts_with=was.conflicts_with,
            ),
        )
        return look, Change(
            audit=vault.audit("keep_both", memory_id, by=by, touched=(memory_id,)),
            put=(Put(memory=now, was=was),),
        )

    return _done(vault, decide)


def _done(vault: Vault, decide: Callable[[], tuple[Look, Change]]) -> Memory:
    """Commit what is decided, as often as it takes."""

    def attempt() -> Memory:
        look, change = decide()
        vault.memories.commit(change, seen=look)
        return change.put[0].memory

    memory = decided(vault, attempt)
    settle(vault, [memory], embedded=True)
    return memory


def undo(vault: Vault, memory_id: str, *, by: Actor) -> Memory:
    """Take back the last thing the owner did to the memory: a decision, or an edit while its
    history is kept. Raises `NotFound`, `WrongState` when there is nothing to take back, and
    `Duplicate` when the text has become another memory's since."""
    memory = listing.memory(vault, memory_id)
    edited_last = memory.history and (
        memory.review is None or memory.history[-1].replaced_at > memory.review.at
    )
    return (
        _undo_edit(vault, memory_id, by=by)
        if edited_last
        else _undo_review(vault, memory_id, by=by)
    )


def _undo_edit(vault: Vault, memory_id: str, *, by: Actor) -> Memory:
    text = listing.memory(vault, memory_id).history[-1].content
    made = encoded(vault, [text])

    def decide() -> Memory:
        look = vault.memories.look(memories=[memory_id], identities=[identity_of(text)])
        refuse_hidden(vault, look)
        was = _present(look, memory_id)
        if not was.history or was.history[-1].content != text:
            raise WrongState(f"Memory {memory_id} has been changed meanwhile. Look at it again.")
        now = replace(
            was,
            content=text,
            updated_at=vault.clock(),
            revision=was.revision + 1,
            history=was.history[:-1],
        )
        change = rewritten(
            vault, was, now, free=look.holdings, made=made[0] if made else None, by=by, verb="undo"
        )
        vault.memories.commit(change, seen=look)
        return now

    memory = decided(vault, decide)
    settle(vault, [memory], embedded=bool(made))
    return memory


def _undo_review(vault: Vault, memory_id: str, *, by: Actor) -> Memory:
    def decide() -> tuple[Look, Change]:
        was = listing.memory(vault, memory_id)
        if was.review is None:
            raise WrongState(f"Memory {memory_id} has no decision to take back.")
        look = vault.memories.look(memories=[memory_id, *was.review.replaced])
        if _present(look, memory_id) != was:
            was = look.memories[memory_id]
        review, at = was.review, vault.clock()
        if review is None or was.status is Status.SUPERSEDED:
            raise WrongState(f"Memory {memory_id} has been replaced since.")
        now = replace(
            was,
            status=review.was,
            since=at if review.was is not was.status else was.since,
            updated_at=at,
            revision=was.revision + 1,
            conflicts_with=review.conflicts_with or was.conflicts_with,
            review=None,
        )
        back = _brought_back(vault, look, was, review)
        rejected = review.decision is Decision.REJECTED
        claim = Claim(identity=was.identity, seen=rejection(was), now=Held(memory_id))
        names = tuple(put.memory.id for put in back)
        return look, Change(
            audit=vault.audit("undo", memory_id, by=by, touched=(memory_id, *names)),
            put=(Put(memory=now, was=was), *back),
            claims=(claim,) if rejected else (),
        )

    return _done(vault, decide)


def _brought_back(vault: Vault, look: Look, was: Memory, review: Review) -> tuple[Put, ...]:
    """What the approval had made history, as far as it still is."""
    at = vault.clock()
    gone = [look.memories[one] for one in review.replaced if one in look.memories]
    return tuple(
        Put(
            memory=replace(
                memory,
                status=Status.ACTIVE,
                since=at,
                updated_at=at,
                superseded_by="",
                revision=memory.revision + 1,
            ),
            was=memory,
        )
        for memory in gone
        if memory.status is Status.SUPERSEDED and memory.superseded_by == was.id
    )


def each(
    vault: Vault, ids: Sequence[str], verb: Callable[[Vault, str], Memory | None]
) -> list[Verdict]:
    """Do the same to many, each by itself: what fails for one is told beside it."""
    return [_verdict(vault, one, verb) for one in ids]


def _verdict(vault: Vault, memory_id: str, verb: Callable[[Vault, str], Memory | None]) -> Verdict:
    try:
        return Verdict(memory_id=memory_id, memory=verb(vault, memory_id))
    except VaultError as error:
        return Verdict(memory_id=memory_id, error=error)
