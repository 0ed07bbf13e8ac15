"""Changing a memory's text or what is known about it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from keeproom.errors import (
    Conflict,
    Duplicate,
    Excluded,
    NotFound,
    Refused,
    Unavailable,
    WrongState,
)
from keeproom.vault import receipts
from keeproom.vault.admit import admitted
from keeproom.vault.batch import ImportItem
from keeproom.vault.change import Change, Claim, Look, Put
from keeproom.vault.forget import let_go
from keeproom.vault.kin import embedding, encoded
from keeproom.vault.model import (
    Actor,
    Earlier,
    Exclusion,
    Held,
    Memory,
    MemoryType,
    Status,
    identity_of,
)
from keeproom.vault.ports import Encoded
from keeproom.vault.settle import commit
from keeproom.vault.vault import Vault, decided

TICK = timedelta(milliseconds=1)  # the finest difference between two times

# A memory with its history is one record of at most 400 kB in DynamoDB; this leaves room for the
# rest of it, also for what is decided about it afterwards.
LONGEST_HISTORY = 300_000
AROUND = 100  # bytes of an earlier text besides its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """What to change; None leaves a field as it is. `no_source_date` takes the date away."""

    content: str | None = None
    type: MemoryType | None = None
    source: str | None = None
    source_date: date | None = None
    no_source_date: bool = False
    tags: tuple[str, ...] | None = None


def edit(
    vault: Vault,
    memory_id: str,
    wanted: Edit,
    *,
    revision: int | None,
    by: Actor,
    request_id: str = "",
) -> Memory:
    """Change the memory the owner has seen at `revision` (None: whatever it is now). Its earlier
    text is kept in the history. Raises `Conflict` when it has changed since, `Duplicate` or
    `Excluded` when the new text is another memory's or kept out, `WrongState` for a rejected
    memory, `Invalid`, `SecretLike`, `NotFound`, `RequestIdReused`, `Unavailable`."""
    asked = receipts.request("edit", request_id, memory_id, wanted, revision)
    made = made_for(vault, wanted)
    hashes = [] if wanted.content is None else [identity_of(wanted.content)]

    def decide() -> Memory:
        look = vault.memories.look(
            memories=[memory_id], identities=hashes, receipt=asked.key, embeddings=[memory_id]
        )
        if memory_id not in look.memories:
            raise NotFound(f"There is no memory {memory_id}.", param="id")
        was = look.memories[memory_id]
        if receipts.replayed(look, asked) is not None:
            return was
        refuse_hidden(vault, look)
        refuse_stale(was, revision)
        now = edited(was, wanted, by=by, at=vault.clock())
        change = rewritten(vault, was, now, free=look.holdings, made=made, by=by, verb="edit")
        told = receipts.receipt(vault, asked, result=memory_id)
        commit(vault, replace(change, receipt=told), seen=look)
        return now

    return decided(vault, decide)


def made_for(vault: Vault, wanted: Edit) -> Encoded | None:
    """The embedding of the new text, checked before anything else is done. None without a new
    text, and when no embedding can be had now."""
    if wanted.content is None:
        return None
    clean = admitted(ImportItem(content=wanted.content)).content
    found = encoded(vault, [clean])
    return found[0] if found else None


def refuse_stale(was: Memory, revision: int | None) -> None:
    """Raises `Conflict` when the memory is not at the revision the owner has seen."""
    if revision is not None and was.revision != revision:
        raise Conflict(
            f"Memory {was.id} has changed since (now revision {was.revision}). Look at it again "
            "and repeat the edit on what it says now.",
            current=was,
        )


def refuse_hidden(vault: Vault, look: Look) -> None:
    """An identity held by what an undo has hidden is neither free nor taken. Raises
    `Unavailable`."""
    held = [found.by for found in look.holdings.values() if isinstance(found, Held)]
    if look.head.hidden and held and len(vault.memories.read(held)) < len(set(held)):
        raise Unavailable("An import that holds this text is being undone. Try again.")


def refuse_withdrawn(was: Memory) -> None:
    """Raises `WrongState`."""
    if was.withdrawn:
        raise WrongState(
            f"An app has asked to forget memory {was.id}. Decide about that first: forget it, or "
            "bring it back by undo."
        )


def edited(was: Memory, wanted: Edit, *, by: Actor, at: datetime) -> Memory:
    """The memory with the wanted fields, cleaned. Raises `WrongState` for a rejected or withdrawn
    one."""
    refuse_withdrawn(was)
    if was.status is Status.REJECTED:
        raise WrongState("A rejected memory cannot be edited. Undo the rejection first.")
    clean = admitted(
        ImportItem(
            content=was.content if wanted.content is None else wanted.content,
            source=was.source if wanted.source is None else wanted.source,
            tags=was.tags if wanted.tags is None else wanted.tags,
        )
    )
    return replace(
        was,
        content=clean.content,
        type=wanted.type or was.type,
        source=clean.source,
        source_date=None if wanted.no_source_date else wanted.source_date or was.source_date,
        tags=clean.tags,
        updated_at=at,
        revision=was.revision + 1,
        owned=True,
        history=longer_history(was, clean.content, by=by, at=at),
    )


def longer_history(was: Memory, content: str, *, by: Actor, at: datetime) -> tuple[Earlier, ...]:
    """The memory's, once it says `content`. Raises `Refused` when it has no room."""
    if content == was.content:
        return was.history
    earlier = Earlier(content=was.content, replaced_by=by.name, replaced_at=_replaced_at(was, at))
    history = (*was.history, earlier)
    if sum(_weight(one.content) + AROUND for one in history) > LONGEST_HISTORY:
        raise Refused(
            "This memory has been edited so often that its history is full. Save the new text as "
            "a memory of its own that supersedes this one."
        )
    return history


def _weight(text: str) -> int:
    """As JSON, which spells some characters with two."""
    return len(json.dumps(text, ensure_ascii=False).encode())


def _replaced_at(was: Memory, at: datetime) -> datetime:
    """After what was decided before: an undo goes by these times, and clocks differ."""
    return max(at, was.review.at + TICK) if was.review else at


def rewritten(
    vault: Vault,
    was: Memory,
    now: Memory,
    *,
    free: Mapping[str, Held | Exclusion | None],
    made: Encoded | None,
    by: Actor,
    verb: str,
) -> Change:
    """The change from one text to another. `free`: who holds the new text's identity. Raises
    `Duplicate` and `Excluded`."""
    claims: tuple[Claim, ...] = ()
    if now.identity != was.identity:
        holding = free.get(now.identity)
        _refuse_taken(holding)
        claims = (Claim(identity=now.identity, seen=holding, now=Held(was.id)), let_go(was))
    return Change(
        audit=vault.audit(verb, was.id, by=by, touched=(was.id,)),
        put=(Put(memory=now, was=was),),
        claims=claims,
        embeddings=(embedding(vault, was.id, now.content, made),) if made else (),
    )


def _refuse_taken(holding: Held | Exclusion | None) -> None:
    match holding:
        case None:
            return
        case Held(by):
            raise Duplicate(f"Memory {by} already says this.", memory_id=by)
        case Exclusion():
            raise Excluded(
                "This text was forgotten or rejected, so it is kept out. Lift its exclusion first."
            )
