"""Small decisions over a memory store, made as the product's own verbs do: look, decide, commit."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count

from keeproom.clock import tries
from keeproom.engines.item_store import layout
from keeproom.engines.item_store.store import ItemMemoryStore
from keeproom.engines.item_store.table import Table
from keeproom.errors import (
    Conflict,
    Contended,
    Duplicate,
    Excluded,
    NotFound,
    RequestIdReused,
    Unavailable,
    WrongState,
)
from keeproom.ids import new_id
from keeproom.vault.change import Change, Claim, Look, Put
from keeproom.vault.model import (
    AuditEntry,
    Batch,
    BatchState,
    Earlier,
    Embedding,
    Exclusion,
    Held,
    Holding,
    Memory,
    Outcome,
    Receipt,
    Skipped,
    SkipReason,
    Status,
    Stored,
    content_hash,
    identity_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """Somebody who does things to a vault. `auto`: what is remembered needs no approval.
    `chunk`: memories that an undo takes out at once."""

    store: ItemMemoryStore
    table: Table
    vault: str
    clock: Callable[[], datetime]
    auto: bool = True
    chunk: int = 16
    patience: float = 10.0

    def audit(self, verb: str, subject: str, *touched: str) -> AuditEntry:
        return AuditEntry(
            id=new_id("aud", self.clock()),
            at=self.clock(),
            actor="owner",
            verb=verb,
            subject=subject,
            touched=touched,
        )


def hand_on(table: Table, vault: str = "", *, auto: bool = True) -> Hand:
    """Somebody at an empty vault, or at the one that is named."""
    clock, vault = ticking(), vault or uuid.uuid4().hex
    store = ItemMemoryStore(table, vault, clock=clock)
    return Hand(store=store, table=table, vault=vault, clock=clock, auto=auto)


def partition_of(hand: Hand) -> str:
    """Where the vault's things lie in the table."""
    return layout.partition(hand.vault, hand.store.head().generation)


def ticking() -> Callable[[], datetime]:
    """A clock that goes on by a millisecond whenever it is read."""
    start, ticks = datetime(2026, 1, 1, tzinfo=UTC), count()
    return lambda: start + timedelta(milliseconds=next(ticks))


def embedding(memory_id: str, content: str) -> Embedding:
    return Embedding(
        memory_id=memory_id,
        model="test",
        content_hash=content_hash(content),
        dims=4,
        vectors=content.encode()[:16].ljust(16, b"."),
        bits=b"\x05\x00",
    )


def decided[T](hand: Hand, decide: Callable[[], T]) -> T:
    for _ in tries(hand.patience):
        try:
            return decide()
        except Contended:
            continue
    raise Unavailable("too many changes at once")


def remember(hand: Hand, content: str, *, supersedes: str = "", request: str = "") -> Memory:
    """A superseded text is revived; a replacement takes effect at once."""
    mine = identity_of(content)

    def decide() -> Memory:
        ids = [supersedes] if supersedes else []
        look = hand.store.look(memories=ids, identities=[mine], receipt=request)
        if look.receipt is not None:
            return _first(hand, look.receipt, content)
        held = look.holdings[mine]
        if isinstance(held, Held):
            look = hand.store.look(memories=[*ids, held.by], identities=[mine], receipt=request)
        put = _remembered(hand, look, content, supersedes=supersedes)
        new, at = put.memory, put.memory.since
        others = _superseded(look, supersedes, by=new.id, at=at) if supersedes != new.id else ()
        told = Receipt(
            key=request, fingerprint=content, result=new.id, expires=at + timedelta(days=1)
        )
        change = Change(
            audit=hand.audit("remember", new.id, new.id, *(one.memory.id for one in others)),
            put=(put, *others),
            claims=(Claim(identity=mine, seen=look.holdings[mine], now=Held(new.id)),),
            embeddings=(embedding(new.id, content),),
            receipt=told if request else None,
        )
        hand.store.commit(change, seen=look)
        return new

    return decided(hand, decide)


def _first(hand: Hand, receipt: Receipt, fingerprint: str) -> Memory:
    if receipt.fingerprint != fingerprint:
        raise RequestIdReused("another request")
    return hand.store.read([receipt.result])[receipt.result]


def _remembered(hand: Hand, look: Look, content: str, *, supersedes: str) -> Put:
    at, status = hand.clock(), Status.ACTIVE if hand.auto else Status.PROPOSED
    match look.holdings[identity_of(content)]:
        case Exclusion():
            raise Excluded("kept out")
        case Held(holder):
            was = _shown(look, holder)
            if was.status is not Status.SUPERSEDED and holder != supersedes:
                raise Duplicate("known", memory_id=holder)
            now = replace(
                was,
                content=content,
                status=status,
                since=at,
                updated_at=at,
                revision=was.revision + 1,
                superseded_by="",
                history=(*was.history, _earlier(was, at)),
            )
            return Put(memory=now, was=was)
        case None:
            new = Memory(
                id=new_id("mem", at),
                content=content,
                status=status,
                created_at=at,
                updated_at=at,
                since=at,
                actor="agent",
                supersedes=supersedes,
            )
            return Put(memory=new)


def _earlier(was: Memory, at: datetime) -> Earlier:
    return Earlier(content=was.content, replaced_by="owner", replaced_at=at)


def _shown(look: Look, holder: str) -> Memory:
    """What an undo hides is neither there nor gone."""
    if holder not in look.memories:
        raise (Unavailable if look.head.hidden else Contended)("an undo is under way")
    return look.memories[holder]


def _superseded(look: Look, old: str, *, by: str, at: datetime) -> tuple[Put, ...]:
    if not old:
        return ()
    was = _found(look, old)
    if was.status is not Status.ACTIVE:
        raise WrongState("not active")
    now = replace(
        was,
        status=Status.SUPERSEDED,
        since=at,
        updated_at=at,
        superseded_by=by,
        revision=was.revision + 1,
    )
    return (Put(memory=now, was=was),)


def _found(look: Look, memory_id: str) -> Memory:
    if memory_id not in look.memories:
        raise NotFound("no such memory")
    return look.memories[memory_id]


def edit(hand: Hand, memory_id: str, content: str, *, revision: int) -> Memory:
    def decide() -> Memory:
        new = identity_of(content)
        look = hand.store.look(memories=[memory_id], identities=[new])
        was, at = _found(look, memory_id), hand.clock()
        if was.revision != revision:
            raise Conflict("changed since", current=was)
        if was.status is Status.REJECTED:
            raise WrongState("rejected")
        free = look.holdings[new]
        _check_free(hand, look, free, memory_id)
        now = replace(
            was,
            content=content,
            updated_at=at,
            revision=was.revision + 1,
            owned=True,
            history=(*was.history, _earlier(was, at)),
        )
        moved = (Claim(identity=new, seen=free, now=Held(memory_id)), let_go(was, None))
        change = Change(
            audit=hand.audit("edit", memory_id, memory_id),
            put=(Put(memory=now, was=was),),
            claims=() if new == was.identity else moved,
            embeddings=(embedding(memory_id, content),),
        )
        hand.store.commit(change, seen=look)
        return now

    return decided(hand, decide)


def _check_free(hand: Hand, look: Look, holding: Holding, memory_id: str) -> None:
    match holding:
        case Exclusion():
            raise Excluded("kept out")
        case Held(by) if by != memory_id:
            if look.head.hidden and by not in hand.store.read([by]):
                raise Unavailable("an undo is under way")
            raise Duplicate("known", memory_id=by)
        case _:
            return


def let_go(was: Memory, now: Exclusion | None) -> Claim:
    """A rejected memory is named by its exclusion; who rejected it is not known here."""
    rejection = Exclusion(at=was.since, by="", of=was.id)
    seen = Held(was.id) if was.holds_identity else rejection
    return Claim(identity=was.identity, seen=seen, now=now)


def approve(hand: Hand, memory_id: str) -> Memory:
    """With what it supersedes."""

    def decide() -> Memory:
        look = hand.store.look(memories=[memory_id])
        was = _proposal(look, memory_id)
        if was.supersedes:
            look = hand.store.look(memories=[memory_id, was.supersedes])
            was = _proposal(look, memory_id)
        at = hand.clock()
        now = replace(
            was,
            status=Status.ACTIVE,
            since=at,
            updated_at=at,
            revision=was.revision + 1,
            owned=True,
        )
        old = _superseded(look, was.supersedes, by=memory_id, at=at)
        touched = (memory_id, *(one.memory.id for one in old))
        change = Change(
            audit=hand.audit("approve", memory_id, *touched), put=(Put(memory=now, was=was), *old)
        )
        hand.store.commit(change, seen=look)
        return now

    return decided(hand, decide)


def _proposal(look: Look, memory_id: str) -> Memory:
    found = _found(look, memory_id)
    if found.status is not Status.PROPOSED:
        raise WrongState("no proposal")
    return found


def reject(hand: Hand, memory_id: str) -> Memory:
    def decide() -> Memory:
        look = hand.store.look(memories=[memory_id])
        was, at = _proposal(look, memory_id), hand.clock()
        now = replace(
            was,
            status=Status.REJECTED,
            since=at,
            updated_at=at,
            revision=was.revision + 1,
            owned=True,
        )
        change = Change(
            audit=hand.audit("reject", memory_id, memory_id),
            put=(Put(memory=now, was=was),),
            claims=(let_go(was, Exclusion(at=at, by="owner", of=memory_id)),),
        )
        hand.store.commit(change, seen=look)
        return now

    return decided(hand, decide)


def forget(hand: Hand, memory_id: str) -> Memory:
    def decide() -> Memory:
        look = hand.store.look(memories=[memory_id])
        was = _found(look, memory_id)
        change = Change(
            audit=hand.audit("forget", memory_id, memory_id),
            removed=(was,),
            claims=(let_go(was, Exclusion(at=hand.clock(), by="owner")),),
        )
        hand.store.commit(change, seen=look)
        return was

    return decided(hand, decide)


def import_one(hand: Hand, batch_id: str, position: int, content: str) -> Outcome | None:
    """What became of the text; None when the batch is past it."""
    mine = identity_of(content)

    def decide() -> Outcome | None:
        look = hand.store.look(identities=[mine], batch=batch_id)
        was, at = look.batch, hand.clock()
        old = was or Batch(
            id=batch_id,
            state=BatchState.RUNNING,
            actor="owner",
            created_at=at,
            updated_at=at,
            revision=0,
        )
        if old.state is not BatchState.RUNNING or old.position > position:
            return None
        memory = Memory(
            id=new_id("mem", at),
            content=content,
            status=Status.ACTIVE if hand.auto else Status.PROPOSED,
            created_at=at,
            updated_at=at,
            since=at,
            actor="owner",
            batch_id=batch_id,
        )
        outcome = _outcome(hand, look, memory)
        stored = isinstance(outcome, Stored)
        progress = replace(
            old,
            revision=old.revision + 1,
            stored=old.stored + stored,
            skipped=old.skipped + (not stored),
        )
        change = Change(
            audit=hand.audit("import", batch_id, *((memory.id,) if stored else ())),
            batch=progress,
            batch_was=was,
            outcomes={position: outcome},
            put=(Put(memory=memory),) if stored else (),
            claims=(Claim(identity=mine, seen=None, now=Held(memory.id)),) if stored else (),
            embeddings=(embedding(memory.id, content),) if stored else (),
        )
        hand.store.commit(change, seen=look)
        return outcome

    return decided(hand, decide)


def _outcome(hand: Hand, look: Look, memory: Memory) -> Outcome:
    match look.holdings[memory.identity]:
        case None:
            return Stored(memory_id=memory.id, status=memory.status)
        case Exclusion():
            return Skipped(reason=SkipReason.EXCLUDED)
        case Held(by):
            if look.head.hidden and by not in hand.store.read([by]):
                raise Unavailable("an undo is under way")
            return Skipped(reason=SkipReason.DUPLICATE, by=by)


def undo(hand: Hand, batch_id: str) -> int:
    """How many memories it took out, now or before."""

    def intend() -> Batch:
        look = hand.store.look(batch=batch_id)
        was = look.batch
        if was is None:
            raise NotFound("no such import")
        if was.state in (BatchState.UNDOING, BatchState.UNDONE):
            return was
        now = replace(was, state=BatchState.UNDOING, cursor="", revision=was.revision + 1)
        change = Change(
            audit=hand.audit("undo", batch_id),
            batch=now,
            batch_was=was,
            hidden=(*look.head.hidden, batch_id),
        )
        hand.store.commit(change, seen=look)
        return now

    batch = decided(hand, intend)
    while batch.state is BatchState.UNDOING:
        batch = decided(hand, lambda: _undo_chunk(hand, batch_id))
    return batch.undone


def _undo_chunk(hand: Hand, batch_id: str) -> Batch:
    look = hand.store.look(batch=batch_id)
    was = look.batch
    assert was is not None
    if was.state is not BatchState.UNDOING:
        return was
    ids, more = hand.store.members(batch_id, after=was.cursor, limit=hand.chunk)
    found = hand.store.read(ids, hidden=True).values()
    gone = tuple(memory for memory in found if not memory.owned)
    now = replace(
        was,
        revision=was.revision + 1,
        cursor=ids[-1] if ids else was.cursor,
        undone=was.undone + len(gone),
        state=BatchState.UNDOING if more else BatchState.UNDONE,
    )
    change = Change(
        audit=hand.audit("undo", batch_id, *(memory.id for memory in gone)),
        removed=gone,
        batch=now,
        batch_was=was,
        claims=tuple(let_go(memory, None) for memory in gone),
        hidden=None if more else tuple(one for one in look.head.hidden if one != batch_id),
    )
    hand.store.commit(change, seen=look)
    return now


def settle(hand: Hand) -> None:
    """Work off the undos somebody left behind."""
    for batch_id in hand.store.head().hidden:
        undo(hand, batch_id)
