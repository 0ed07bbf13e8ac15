"""Removing a memory for good, and lifting what keeps its text out."""

from keeproom.errors import Contended, NotFound
from keeproom.vault import receipts
from keeproom.vault.change import Change, Claim
from keeproom.vault.jobs import settle_removed
from keeproom.vault.model import Actor, Exclusion, Held, Memory
from keeproom.vault.vault import Vault, decided


def forget(vault: Vault, memory_id: str, *, by: Actor, request_id: str = "") -> None:
    """Remove the memory with its history and keep its text from coming back by any path. Once
    this returns, no answer contains it. Raises `NotFound`, `RequestIdReused`, `Unavailable`."""
    asked = receipts.request("forget", request_id, memory_id)

    def decide() -> Memory | None:
        look = vault.memories.look(memories=[memory_id], receipt=asked.key)
        if receipts.replayed(look, asked) is not None:
            return None
        if memory_id not in look.memories:
            raise NotFound(f"There is no memory {memory_id}.", param="id")
        was = look.memories[memory_id]
        change = Change(
            audit=vault.audit("forget", memory_id, by=by, touched=(memory_id,)),
            removed=(was,),
            claims=(let_go(was, Exclusion(at=vault.clock(), by=by.name)),),
            receipt=receipts.receipt(vault, asked, result=memory_id),
        )
        vault.memories.commit(change, seen=look)
        return was

    gone = decided(vault, decide)
    if gone is not None:
        settle_removed(vault, [gone])


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
        vault.memories.commit(change, seen=look)

    decided(vault, decide)
