"""Removing a memory for good, and lifting what keeps its text out."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import batched

from keeproom.errors import Contended, LimitReached, NotFound
from keeproom.vault import receipts
from keeproom.vault.admit import refuse_secrets
from keeproom.vault.change import Change, Claim, Look, Put
from keeproom.vault.model import (
    SHORT,
    Actor,
    ApprovalMode,
    Exclusion,
    Held,
    Memory,
    Tally,
    Withdrawn,
)
from keeproom.vault.settle import commit
from keeproom.vault.tally import key_of, once_more
from keeproom.vault.text import cleaned
from keeproom.vault.vault import Vault, decided

LONGEST_REASON = 500
AT_ONCE = 4  # histories in one commit: at most 0.4 MB each, in JSON up to three times that


def forget(
    vault: Vault, memory_id: str, *, by: Actor, reason: str = "", request_id: str = ""
) -> Memory | None:
    """Remove the memory with its history, and its text from the histories of others, and keep it
    from coming back by any path. Once this returns, no answer contains it. What an agent forgets in
    review mode is withdrawn instead: gone from every answer too, but the owner decides; then it is
    answered as it waits. `reason`, at most 500 characters, is for the owner and kept only while it
    waits. Raises `NotFound`, `LimitReached`, `RequestIdReused`, `Unavailable`; for the reason
    `Invalid`, `SecretLike`."""
    why = _reason(reason)
    asked = receipts.request("forget", request_id, memory_id, why)
    tally = "" if by.is_owner else key_of("forget", by)

    def decide() -> Memory | None:
        """What was withdrawn."""
        look = vault.memories.look(
            memories=[memory_id],
            receipt=asked.key,
            tally=tally,
            embeddings=[memory_id],
            histories=True,
        )
        was = look.memories.get(memory_id)
        if receipts.replayed(look, asked) is not None:
            return was if was and was.withdrawn else None
        if was is None or (was.withdrawn and not by.is_owner):
            raise NotFound(f"There is no memory {memory_id}.", param="id")
        told = receipts.receipt(vault, asked, result=memory_id)
        counted = _counted(vault, look, memory_id, by, tally) if tally else None
        if not by.is_owner and look.settings.approval_mode is ApprovalMode.REVIEW:
            change = _withdrawal(vault, was, by=by, reason=why)
        else:
            _take_from_others(vault, look, was, by=by)
            change = _removal(vault, was, by=by)
        commit(vault, replace(change, receipt=told, tally=counted), seen=look)
        return change.put[0].memory if change.put else None

    return decided(vault, decide)


def _reason(reason: str) -> str:
    if not reason.strip():
        return ""
    why = cleaned(reason, param="reason", limit=LONGEST_REASON)
    refuse_secrets(reason=why)
    return why


def _counted(vault: Vault, look: Look, memory_id: str, by: Actor, key: str) -> Tally:
    """Raises `LimitReached`, which the owner sees in the audit."""
    limit = look.settings.forget_limit
    counted = once_more(vault, look, key, limit=limit)
    if counted is None:
        refused = Change(audit=vault.audit("refuse_forget", memory_id, by=by))
        commit(vault, refused, seen=look)
        raise LimitReached(
            f"The owner lets an app forget at most {limit} memories an hour. Tell the owner which "
            "others should go."
        )
    return counted


def _take_from_others(vault: Vault, look: Look, was: Memory, *, by: Actor) -> None:
    """Other memories may have said this before an edit. That goes first: after a crash in between
    the memory is still there to be forgotten."""
    others = [one for one, had in look.histories.items() if was.identity[:SHORT] in had]
    for some in batched((one for one in others if one != was.id), AT_ONCE, strict=False):
        decided(vault, lambda some=some: _take_from(vault, some, was, by=by))


def _take_from(vault: Vault, ids: Sequence[str], gone: Memory, *, by: Actor) -> None:
    look = vault.memories.look(memories=ids, embeddings=ids)
    puts = [Put(memory=_without(one, gone), was=one) for one in look.memories.values()]
    puts = [put for put in puts if put.was and put.memory.history != put.was.history]
    if puts:
        touched = tuple(put.memory.id for put in puts)
        audit = vault.audit("forget_history", gone.id, by=by, touched=touched)
        commit(vault, Change(audit=audit, put=tuple(puts)), seen=look)


def _without(memory: Memory, gone: Memory) -> Memory:
    kept = tuple(one for one in memory.history if one.identity != gone.identity)
    return replace(memory, history=kept, revision=memory.revision + 1)


def _removal(vault: Vault, was: Memory, *, by: Actor) -> Change:
    return Change(
        audit=vault.audit("forget", was.id, by=by, touched=(was.id,)),
        removed=(was,),
        claims=(let_go(was, Exclusion(at=vault.clock(), by=by.name)),),
    )


def _withdrawal(vault: Vault, was: Memory, *, by: Actor, reason: str) -> Change:
    at = vault.clock()
    now = replace(
        was,
        withdrawn=Withdrawn(by=by.name, at=at, reason=reason),
        updated_at=at,
        revision=was.revision + 1,
    )
    return Change(
        audit=vault.audit("withdraw", was.id, by=by, touched=(was.id,)),
        put=(Put(memory=now, was=was),),
    )


def let_go(was: Memory, now: Exclusion | None = None) -> Claim:
    """Free or exclude the memory's identity. That of a rejected one is already excluded, naming
    it, so the old holding follows from the memory and need not be looked at."""
    seen = Held(was.id) if was.holds_identity else rejection(was)
    return Claim(identity=was.identity, seen=seen, now=now)


def rejection(was: Memory) -> Exclusion:
    """The exclusion that stands beside a rejected memory."""
    return Exclusion(at=was.since, by="", of=was.id)


def lift(vault: Vault, identity: str, *, by: Actor, request_id: str = "") -> None:
    """Let an excluded text in again. The rejected memory behind it, if it is still kept, goes.
    Raises `NotFound`."""

    asked = receipts.request("lift", request_id, identity)

    def decide() -> None:
        look = vault.memories.look(identities=[identity], receipt=asked.key)
        if receipts.replayed(look, asked) is not None:
            return
        seen = look.holdings[identity]
        if not isinstance(seen, Exclusion):
            raise NotFound("There is no such exclusion.", param="identity")
        rejected: tuple[Memory, ...] = ()
        if seen.of:
            look = vault.memories.look(memories=[seen.of], identities=[identity], receipt=asked.key)
            if look.holdings[identity] != seen:
                raise Contended
            rejected = tuple(look.memories.values())
        change = Change(
            audit=vault.audit(
                "lift", identity, by=by, touched=tuple(memory.id for memory in rejected)
            ),
            removed=rejected,
            claims=(Claim(identity=identity, seen=seen, now=None),),
            receipt=receipts.receipt(vault, asked, result=identity),
        )
        commit(vault, change, seen=look)

    decided(vault, decide)
