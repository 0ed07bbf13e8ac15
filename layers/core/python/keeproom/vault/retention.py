"""How long history stays. What is active or waits for the owner is never removed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice

from keeproom.errors import Contended
from keeproom.vault.change import Change, Claim, Put
from keeproom.vault.forget import let_go
from keeproom.vault.jobs import PAGE
from keeproom.vault.model import Actor, Exclusion, Memory, Status
from keeproom.vault.settle import commit
from keeproom.vault.vault import Vault, decided

CLEANUP = Actor("cleanup")
CHUNK = 14  # memories in one commit: at most 7 actions each, then gate and audit entry
SHORTENED = 4  # histories in one commit: at most 0.4 MB each, in JSON up to three times that


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanedUp:
    """How many went. `earlier_texts`: of edited memories. `more`: the time was over before all of
    them had."""

    superseded: int = 0
    rejected: int = 0
    earlier_texts: int = 0
    audit: int = 0
    more: bool = False


def clean_up(vault: Vault, *, by: Actor = CLEANUP, seconds: float | None = None) -> CleanedUp:
    """Remove what the owner's settings keep no longer: superseded and rejected memories (the
    exclusion of a rejected one stays), the earlier texts of edited ones, which are kept as long as
    superseded ones, and the beginning of the audit; receipts that have expired go too. Works for
    about `seconds`, in steps that each are whole; what is left goes the next time. Raises
    `Unavailable`."""
    vault.memories.drop_expired()
    settings, now = vault.memories.settings(), vault.clock()
    until = None if seconds is None else now + timedelta(seconds=seconds)

    def in_time() -> bool:
        return until is None or vault.clock() < until

    def all_of(days: int, some: Callable[[datetime], int]) -> int:
        """0 days: for ever."""
        gone = 0
        while days and in_time() and (step := some(now - timedelta(days=days))):
            gone += step
        return gone

    def old(status: Status) -> Callable[[datetime], int]:
        return lambda before: _remove_some(vault, status, before, by=by)

    def texts(before: datetime) -> int:
        return _trim_some(vault, before, by=by)

    def entries(before: datetime) -> int:
        return vault.memories.cut_audit(before, vault.audit("cut_audit", "", by=by))

    return CleanedUp(
        superseded=all_of(settings.keep_superseded_days, old(Status.SUPERSEDED)),
        rejected=all_of(settings.keep_rejected_days, old(Status.REJECTED)),
        earlier_texts=all_of(settings.keep_superseded_days, texts),
        audit=all_of(settings.keep_audit_days, entries),
        more=not in_time(),
    )


def audit_kept_from(vault: Vault) -> datetime | None:
    """Older entries of an audit need not be kept; None when all of them are."""
    days = vault.memories.settings().keep_audit_days
    return vault.clock() - timedelta(days=days) if days else None


def _remove_some(vault: Vault, status: Status, before: datetime, *, by: Actor) -> int:
    """How many of those that took the status before then are gone by this; 0 when none is left."""

    def decide() -> tuple[Memory, ...]:
        oldest = vault.memories.memories(status=status, limit=CHUNK).items
        look = vault.memories.look(memories=[one.id for one in oldest if one.since < before])
        gone = tuple(
            one
            for one in look.memories.values()
            if one.status is status and one.since < before and not one.withdrawn
        )
        if len(gone) < sum(one.since < before for one in oldest):
            raise Contended
        if gone:
            touched = tuple(one.id for one in gone)
            change = Change(
                audit=vault.audit("clean_up", status, by=by, touched=touched),
                removed=gone,
                claims=tuple(_let_go(one) for one in gone),
            )
            commit(vault, change, seen=look)
        return gone

    return len(decided(vault, decide))


def _trim_some(vault: Vault, before: datetime, *, by: Actor) -> int:
    """How many texts that were replaced before then are gone by this; 0 when none is left."""

    def is_old(memory: Memory) -> bool:
        return bool(memory.history) and memory.history[0].replaced_at < before

    def decide() -> int:
        ids = list(islice((one.id for one in _all(vault) if is_old(one)), SHORTENED))
        look = vault.memories.look(memories=ids, embeddings=ids)
        old = [one for one in look.memories.values() if is_old(one)]
        if len(old) < len(ids):
            raise Contended
        puts = tuple(Put(memory=_trimmed(one, before), was=one) for one in old)
        if puts:
            audit = vault.audit("clean_up", "history", by=by, touched=tuple(ids))
            commit(vault, Change(audit=audit, put=puts), seen=look)
        return sum(len(one.history) for one in old) - sum(len(put.memory.history) for put in puts)

    return decided(vault, decide)


def _trimmed(memory: Memory, before: datetime) -> Memory:
    kept = tuple(one for one in memory.history if one.replaced_at >= before)
    return replace(memory, history=kept, revision=memory.revision + 1)


def _all(vault: Vault) -> Iterator[Memory]:
    cursor = ""
    while True:
        page = vault.memories.memories(cursor=cursor, limit=PAGE)
        yield from page.items
        cursor = page.next
        if not cursor:
            return


def _let_go(memory: Memory) -> Claim:
    """A rejected text stays out, as one that the owner has turned down; only its memory goes."""
    if memory.holds_identity:
        return let_go(memory)
    return let_go(memory, Exclusion(at=memory.since, by="owner"))
