"""The owner's decisions about memories. Each can be taken back: see `undo`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from keeproom.errors import Contended, NotFound, VaultError, WrongState
from keeproom.vault import receipts
from keeproom.vault.change import Change, Look, Put
from keeproom.vault.edit import (
    Edit,
    edited,
    made_for,
    refuse_hidden,
    refuse_stale,
    refuse_withdrawn,
    rewritten,
)
from keeproom.vault.forget import let_go
from keeproom.vault.model import Actor, Decision, Exclusion, Memory, Review, Status, identity_of
from keeproom.vault.receipts import Request
from keeproom.vault.remember import superseded
from keeproom.vault.settle import commit
from keeproom.vault.vault import Vault, decided

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
    revision: int | None = None,
    request_id: str = "",
) -> Memory:
    """Make a proposal active, edited first if `wanted` says so. What it supersedes becomes
    history in the same step; with `replacing_similar` also the active memories it is flagged
    with, or else its nearest similar one. `revision` as for an edit. Raises `NotFound`,
    `WrongState`, and what an edit raises."""
    asked = receipts.request("approve", request_id, memory_id, replacing_similar, wanted, revision)
    made = made_for(vault, wanted) if wanted else None

    def change(look: Look, was: Memory) -> Change:
        refuse_stale(was, revision)
        at = vault.clock()
        now = edited(_proposal(was), wanted, by=by, at=at) if wanted else _proposal(was)
        old = _replaced(vault, look, was, replacing_similar=replacing_similar)
        now = _approved(now, was, at=at, replaced=tuple(put.memory.id for put in old))
        told = rewritten(vault, was, now, free=look.holdings, made=made, by=by, verb="approve")
        touched = (memory_id, *(put.memory.id for put in old))
        audit = replace(told.audit, touched=touched)
        return replace(told, put=(*told.put, *old), audit=audit)

    return settled(
        vault,
        memory_id,
        asked,
        change,
        also=lambda was: _targets(was, replacing_similar=replacing_similar),
        text=wanted.content if wanted else None,
    )


def settled(
    vault: Vault,
    memory_id: str,
    asked: Request,
    change: Callable[[Look, Memory], Change],
    *,
    also: Callable[[Memory], Sequence[str]] = lambda _: (),
    text: str | None = None,
) -> Memory:
    """Commit what `change` makes of the memory, as often as it takes, and answer the memory as it
    is then. `also`: ids of other memories the change needs to see; `text`: one whose identity it
    needs to see. A request that was answered before changes nothing. Raises `NotFound`."""
    identities = () if text is None else (identity_of(text),)

    def attempt() -> Memory:
        look = vault.memories.look(
            memories=[memory_id],
            identities=identities,
            receipt=asked.key,
            embeddings=[memory_id],
        )
        if receipts.replayed(look, asked) is not None:
            return present(look, memory_id)
        others = also(present(look, memory_id))
        if others:
            look = vault.memories.look(
                memories=[memory_id, *others],
                identities=identities,
                receipt=asked.key,
                embeddings=[memory_id, *others],
            )
            if also(present(look, memory_id)) != others:
                raise Contended
        refuse_hidden(vault, look)
        told = change(look, present(look, memory_id))
        told = replace(told, receipt=receipts.receipt(vault, asked, result=memory_id))
        commit(vault, told, seen=look)
        return told.put[0].memory

    return decided(vault, attempt)


def present(look: Look, memory_id: str) -> Memory:
    """Raises `NotFound`."""
    if memory_id not in look.memories:
        raise NotFound(f"There is no memory {memory_id}.", param="id")
    return look.memories[memory_id]


def _proposal(memory: Memory) -> Memory:
    refuse_withdrawn(memory)
    if memory.status is not Status.PROPOSED:
        raise WrongState(f"Memory {memory.id} is {memory.status}: it does not wait for review.")
    return memory


def _targets(was: Memory, *, replacing_similar: bool) -> list[str]:
    found = [was.supersedes] if was.supersedes else []
    if replacing_similar:
        found += was.conflicts_with or was.similar_to[:1]
    return list(dict.fromkeys(found))[:MOST_REPLACED]


def _replaced(vault: Vault, look: Look, was: Memory, *, replacing_similar: bool) -> tuple[Put, ...]:
    """What of the targets is still active becomes history."""
    targets = _targets(was, replacing_similar=replacing_similar)
    found = [look.memories[one] for one in targets if one in look.memories]
    return tuple(
        superseded(vault, memory, by=was.id) for memory in found if memory.status is Status.ACTIVE
    )


def _approved(now: Memory, was: Memory, *, at: datetime, replaced: tuple[str, ...]) -> Memory:
    return replace(
        now,
        status=Status.ACTIVE,
        since=at,
        updated_at=at,
        revision=was.revision + 1,
        owned=True,
        supersedes=was.supersedes or next(iter(replaced), ""),
        conflicts_with=tuple(one for one in was.conflicts_with if one not in replaced),
        review=Review(
            decision=Decision.APPROVED,
            at=_decided_at(now, at),
            was=was.status,
            replaced=replaced,
            supersedes=was.supersedes,
            conflicts_with=was.conflicts_with,
        ),
    )


def _decided_at(memory: Memory, at: datetime) -> datetime:
    """Not before its last edit: an undo goes by these times, and clocks differ."""
    return max([at, *(one.replaced_at for one in memory.history[-1:])])


def reject(vault: Vault, memory_id: str, *, by: Actor, request_id: str = "") -> Memory:
    """Turn a proposal down; its text stays out. Raises `NotFound`, `WrongState`."""

    def change(_: Look, was: Memory) -> Change:
        at = vault.clock()
        now = replace(
            _proposal(was),
            status=Status.REJECTED,
            since=at,
            updated_at=at,
            revision=was.revision + 1,
            owned=True,
            review=Review(
                decision=Decision.REJECTED,
                at=_decided_at(was, at),
                was=was.status,
                supersedes=was.supersedes,
            ),
        )
        excluded = Exclusion(at=at, by=by.name, of=memory_id)
        return Change(
            audit=vault.audit("reject", memory_id, by=by, touched=(memory_id,)),
            put=(Put(memory=now, was=was),),
            claims=(let_go(was, excluded),),
        )

    return settled(vault, memory_id, receipts.request("reject", request_id, memory_id), change)


def keep_both(vault: Vault, memory_id: str, *, by: Actor, request_id: str = "") -> Memory:
    """Say that the memory does not contradict what it is flagged with; a proposal becomes active.
    Raises `NotFound`, `WrongState` when there is nothing to settle."""

    def change(_: Look, was: Memory) -> Change:
        refuse_withdrawn(was)
        waits, at = was.status is Status.PROPOSED, vault.clock()
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
                at=_decided_at(was, at),
                was=was.status,
                supersedes=was.supersedes,
                conflicts_with=was.conflicts_with,
            ),
        )
        return Change(
            audit=vault.audit("keep_both", memory_id, by=by, touched=(memory_id,)),
            put=(Put(memory=now, was=was),),
        )

    asked = receipts.request("keep_both", request_id, memory_id)
    return settled(vault, memory_id, asked, change)


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
