"""Taking back what the owner did to a memory last."""

from dataclasses import replace

from keeproom.errors import WrongState
from keeproom.vault import listing, receipts
from keeproom.vault.change import Change, Claim, Look, Put
from keeproom.vault.edit import Edit, made_for, rewritten
from keeproom.vault.forget import rejection
from keeproom.vault.model import Actor, Decision, Held, Memory, Review, Status
from keeproom.vault.receipts import Request
from keeproom.vault.review import settled
from keeproom.vault.vault import Vault


def undo(vault: Vault, memory_id: str, *, by: Actor, request_id: str = "") -> Memory:
    """Bring back what an agent has withdrawn; else take back the last decision, or the last edit
    while its history is kept, whichever came later. Raises `NotFound`, `WrongState` when there is
    nothing to take back, and `Duplicate` or `Excluded` when the earlier text has become another
    memory's or is kept out since."""
    asked = receipts.request("undo", request_id, memory_id)
    memory = listing.memory(vault, memory_id)
    if memory.withdrawn:
        return _undo_withdrawal(vault, memory_id, asked, by=by)
    if _edited_last(memory):
        return _undo_edit(vault, memory, asked, by=by)
    return _undo_decision(vault, memory_id, asked, by=by)


def _undo_withdrawal(vault: Vault, memory_id: str, asked: Request, *, by: Actor) -> Memory:
    """Where it was before; from now on the undo of its import leaves it alone."""

    def change(_: Look, was: Memory) -> Change:
        if was.withdrawn is None:
            raise _changed(memory_id)
        now = replace(
            was,
            withdrawn=None,
            updated_at=vault.clock(),
            revision=was.revision + 1,
            owned=True,
        )
        return Change(
            audit=vault.audit("undo", memory_id, by=by, touched=(memory_id,)),
            put=(Put(memory=now, was=was),),
        )

    return settled(vault, memory_id, asked, change)


def _edited_last(memory: Memory) -> bool:
    if not memory.history:
        return False
    return memory.review is None or memory.history[-1].replaced_at > memory.review.at


def _undo_edit(vault: Vault, memory: Memory, asked: Request, *, by: Actor) -> Memory:
    text = memory.history[-1].content
    made = made_for(vault, Edit(content=text))

    def change(look: Look, was: Memory) -> Change:
        if was.withdrawn or not _edited_last(was) or was.history[-1].content != text:
            raise _changed(memory.id)
        now = replace(
            was,
            content=text,
            updated_at=vault.clock(),
            revision=was.revision + 1,
            history=was.history[:-1],
        )
        return rewritten(vault, was, now, free=look.holdings, made=made, by=by, verb="undo")

    return settled(vault, memory.id, asked, change, text=text)


def _changed(memory_id: str) -> WrongState:
    return WrongState(f"Memory {memory_id} has changed meanwhile. Look at it again.")


def _undo_decision(vault: Vault, memory_id: str, asked: Request, *, by: Actor) -> Memory:
    def change(look: Look, was: Memory) -> Change:
        review, at = was.review, vault.clock()
        if was.withdrawn or _edited_last(was):
            raise _changed(memory_id)
        if review is None or was.status is Status.SUPERSEDED:
            raise WrongState(f"Memory {memory_id} has no decision that could be taken back.")
        now = replace(
            was,
            status=review.was,
            since=at if review.was is not was.status else was.since,
            updated_at=at,
            revision=was.revision + 1,
            supersedes=review.supersedes,
            conflicts_with=review.conflicts_with or was.conflicts_with,
            review=None,
        )
        back = _brought_back(vault, look, was, review)
        held = Claim(identity=was.identity, seen=rejection(was), now=Held(memory_id))
        touched = (memory_id, *(put.memory.id for put in back))
        return Change(
            audit=vault.audit("undo", memory_id, by=by, touched=touched),
            put=(Put(memory=now, was=was), *back),
            claims=(held,) if review.decision is Decision.REJECTED else (),
        )

    return settled(
        vault,
        memory_id,
        asked,
        change,
        also=lambda was: was.review.replaced if was.review else (),
    )


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
