"""Bringing many texts in at once: one batch, worked off in small committed groups, undoable."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from keeproom.errors import Invalid, NotFound, TooLarge, WrongState
from keeproom.vault import receipts
from keeproom.vault.admit import admitted_or_refused, refuse_secrets
from keeproom.vault.batch import Batch, BatchState, ImportItem
from keeproom.vault.change import Change, Look
from keeproom.vault.forget import let_go
from keeproom.vault.import_group import advanced, work
from keeproom.vault.model import Actor
from keeproom.vault.receipts import Request
from keeproom.vault.settle import commit
from keeproom.vault.text import cleaned_source
from keeproom.vault.vault import Vault, decided

MOST_ITEMS = 20_000
CHUNK = 16  # memories of an undo in one commit: 6 actions each, then head, batch, gate, audit
WRITTEN_DOWN = 200  # texts put down in one call
ABANDONED = timedelta(hours=1)
ENDED = {BatchState.DONE, BatchState.CANCELLED, BatchState.UNDONE}


def begin(
    vault: Vault,
    items: Sequence[ImportItem],
    *,
    by: Actor,
    source: str = "",
    propose: bool = False,
    request_id: str = "",
) -> Batch:
    """Write the texts down as one batch, to be worked off by `carry_on`. A text that holds a
    secret is not written down. The same request again answers its first batch. Raises `Invalid`
    for no items, `TooLarge` for more than 20,000, `RequestIdReused`, `Unavailable`; for the source
    `Invalid`, `SecretLike`."""
    _check_size(items)
    source = cleaned_source(source)
    refuse_secrets(source=source)
    asked = receipts.request("import", request_id, *items, source, propose)
    first = receipts.replayed(vault.memories.look(receipt=asked.key), asked) if request_id else None
    if first is not None:
        return found(vault, first)
    told = [admitted_or_refused(_sourced(item, source)) for item in items]
    at = vault.clock()
    batch = Batch(
        id=vault.new_id("bat"), state=BatchState.RECEIVING, actor=by.name, grant=by.grant,
        created_at=at, updated_at=at, source=source, total=len(told), propose=propose,
    )  # fmt: skip
    decided(vault, lambda: _receive(vault, batch, by))
    for start in range(0, len(told), WRITTEN_DOWN):
        part = told[start : start + WRITTEN_DOWN]
        vault.memories.put_items(batch.id, start=start, items=part)
    return decided(vault, lambda: _ready(vault, batch.id, by, asked))


def _check_size(items: Sequence[ImportItem]) -> None:
    if not items:
        raise Invalid("There is nothing to import.", param="items")
    if len(items) > MOST_ITEMS:
        raise TooLarge(
            f"At most {MOST_ITEMS} items at once, not {len(items)}: import them in parts.",
            param="items",
        )


def _sourced(item: ImportItem, source: str) -> ImportItem:
    return item if item.source else replace(item, source=source)


def _receive(vault: Vault, batch: Batch, by: Actor) -> None:
    look = vault.memories.look()
    change = Change(audit=vault.audit("receive_import", batch.id, by=by), batch=batch)
    commit(vault, change, seen=look)


def _ready(vault: Vault, batch_id: str, by: Actor, asked: Request) -> Batch:
    """Let the work begin, unless the same request has begun it under another id."""
    look = vault.memories.look(batch=batch_id, receipt=asked.key)
    was, first = _batch(look, batch_id), receipts.replayed(look, asked)
    if was.state is not BatchState.RECEIVING:
        return was
    if first is not None:
        cancel(vault, batch_id, by=by)
        return found(vault, first)
    now = replace(advanced(vault, was), state=BatchState.RUNNING)
    change = Change(
        audit=vault.audit("begin_import", batch_id, by=by), batch=now, batch_was=was,
        receipt=receipts.receipt(vault, asked, result=batch_id),
    )  # fmt: skip
    commit(vault, change, seen=look)
    return now


def found(vault: Vault, batch_id: str) -> Batch:
    """The batch as it is now. Raises `NotFound`."""
    return _batch(vault.memories.look(batch=batch_id), batch_id)


def _batch(look: Look, batch_id: str) -> Batch:
    if look.batch is None:
        raise NotFound(f"There is no import {batch_id}.", param="id")
    return look.batch


def carry_on(vault: Vault, batch_id: str, *, seconds: float | None = None) -> Batch:
    """Work on the batch until every text has its outcome, or for about `seconds`. Any number of
    workers may, now or after a crash; no text is stored twice. Raises `NotFound`, `Unavailable`."""
    until = None if seconds is None else vault.clock() + timedelta(seconds=seconds)
    batch = found(vault, batch_id)
    while batch.state is BatchState.RUNNING and (until is None or vault.clock() < until):
        batch = work(vault, batch)
    if batch.state is BatchState.DONE:
        vault.memories.drop_items(batch_id)
    return batch


def cancel(vault: Vault, batch_id: str, *, by: Actor) -> Batch:
    """Stop the work; what is stored stays, and can be undone. Raises `NotFound`, `WrongState`
    when there is nothing left to stop."""

    def decide() -> Batch:
        look = vault.memories.look(batch=batch_id)
        was = _batch(look, batch_id)
        if was.state is BatchState.CANCELLED:
            return was
        if was.state not in (BatchState.RUNNING, BatchState.RECEIVING):
            raise WrongState(f"Import {batch_id} is {was.state}: there is nothing to cancel.")
        now = replace(advanced(vault, was), state=BatchState.CANCELLED)
        change = Change(
            audit=vault.audit("cancel_import", batch_id, by=by), batch=now, batch_was=was
        )
        commit(vault, change, seen=look)
        return now

    batch = decided(vault, decide)
    vault.memories.drop_items(batch_id)
    return batch


def undo(vault: Vault, batch_id: str, *, by: Actor) -> Batch:
    """Remove every memory the batch stored, save what the owner has approved or edited and what was
    said again since. They are out of every answer at once, whatever happens to the rest of the
    work. Repeating is harmless. Raises `NotFound`, `Unavailable`."""
    state = decided(vault, lambda: _intend(vault, batch_id, by))
    vault.memories.drop_items(batch_id)
    while state.state is BatchState.UNDOING:
        state = decided(vault, lambda: _undo_chunk(vault, batch_id, by))
    return state


def _intend(vault: Vault, batch_id: str, by: Actor) -> Batch:
    look = vault.memories.look(batch=batch_id)
    was = _batch(look, batch_id)
    if was.state in (BatchState.UNDOING, BatchState.UNDONE):
        return was
    now = replace(advanced(vault, was), state=BatchState.UNDOING, cursor="")
    change = Change(
        audit=vault.audit("undo_import", batch_id, by=by), batch=now, batch_was=was,
        hidden=(*look.head.hidden, batch_id),
    )  # fmt: skip
    commit(vault, change, seen=look)
    return now


def _undo_chunk(vault: Vault, batch_id: str, by: Actor) -> Batch:
    look = vault.memories.look(batch=batch_id)
    was = _batch(look, batch_id)
    if was.state is not BatchState.UNDOING:
        return was
    ids, more = vault.memories.members(batch_id, after=was.cursor, limit=CHUNK)
    members = vault.memories.read(ids, hidden=True).values()
    gone = tuple(memory for memory in members if not memory.owned)
    now = replace(
        advanced(vault, was),
        cursor=ids[-1] if ids else was.cursor,
        undone=was.undone + len(gone),
        state=BatchState.UNDOING if more else BatchState.UNDONE,
    )
    hidden = None if more else tuple(one for one in look.head.hidden if one != batch_id)
    touched = tuple(memory.id for memory in gone)
    change = Change(
        audit=vault.audit("undo_import", batch_id, by=by, touched=touched), removed=gone, batch=now,
        batch_was=was, claims=tuple(let_go(memory) for memory in gone), hidden=hidden,
    )  # fmt: skip
    commit(vault, change, seen=look)
    return now


def resume(vault: Vault, *, seconds: float) -> int:
    """Go on with what a stopped process left behind: undos first, then running imports, for about
    `seconds`. An import whose texts were never wholly written down is given up after an hour.
    When nothing is left to go on with, texts that ended imports have left behind are dropped.
    Answers how many imports were worked on."""
    by, worked, ended = Actor("resume"), 0, list[str]()
    for batch_id in vault.memories.head().hidden:
        undo(vault, batch_id, by=by)
    cursor = ""
    while True:
        page = vault.memories.batches(cursor=cursor)
        for batch in page.items:
            worked += _resume_one(vault, batch, by, seconds)
            ended += [batch.id] if batch.state in ENDED else []
        cursor = page.next
        if not cursor:
            break
    if not worked:
        for batch_id in ended:
            vault.memories.drop_items(batch_id)
    return worked


def _resume_one(vault: Vault, batch: Batch, by: Actor, seconds: float) -> int:
    if batch.state is BatchState.RUNNING:
        carry_on(vault, batch.id, seconds=seconds)
        return 1
    if batch.state is BatchState.RECEIVING and batch.updated_at < vault.clock() - ABANDONED:
        cancel(vault, batch.id, by=by)
    return 0
