"""A few texts of an import, judged and committed together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from keeproom.errors import Contended, NotFound, Unavailable
from keeproom.vault.batch import Batch, BatchState, ImportItem, Outcome, Skipped, SkipReason, Stored
from keeproom.vault.change import Change, Claim, Look, Put
from keeproom.vault.jobs import catch_up
from keeproom.vault.kin import Kin, Near, embedding, encoded_each, kin, linked, near, nearest
from keeproom.vault.model import (
    Actor,
    ApprovalMode,
    Embedding,
    Exclusion,
    Held,
    Memory,
    ReviewSimilar,
    Status,
    identity_of,
)
from keeproom.vault.ports import Encoded
from keeproom.vault.settle import commit
from keeproom.vault.vault import Vault, decided

GROUP = 8  # texts in one commit: 7 actions and at most 0.5 MB each, under 100 actions and 4 MB


@dataclass(frozen=True, slots=True, kw_only=True)
class _Text:
    """One text and what was found out about it before the decision: the id it would have, and
    those of the vault's memories nearest to it."""

    item: ImportItem
    memory_id: str
    embedding: Embedding | None
    close: Sequence[str] = ()


@dataclass(slots=True, kw_only=True)
class _Group:
    """What is decided so far. `known`: the memories that hold one of the identities."""

    batch: Batch
    look: Look
    known: Mapping[str, Memory]
    stored: dict[str, Memory] = field(default_factory=dict[str, Memory])
    embeddings: dict[str, Embedding] = field(default_factory=dict[str, Embedding])
    outcomes: dict[int, Outcome] = field(default_factory=dict[int, Outcome])


def work(vault: Vault, batch: Batch) -> Batch:
    """Give the next few texts their outcomes, and answer the batch as it is then: also when
    another worker was faster."""
    items = vault.memories.items(batch.id, start=batch.position, limit=GROUP)
    if not items and batch.position < batch.total:
        if vault.memories.look(batch=batch.id).batch == batch:
            raise Unavailable("The texts of this import cannot be read just now. Try again.")
        return _current(vault, batch.id)
    catch_up(vault)
    texts, embedded = _prepared(vault, items)
    return decided(vault, lambda: _commit(vault, batch, texts, embedded=embedded))


def advanced(vault: Vault, was: Batch) -> Batch:
    """The next revision of the batch."""
    return replace(was, revision=was.revision + 1, updated_at=vault.clock())


def _current(vault: Vault, batch_id: str) -> Batch:
    found = vault.memories.look(batch=batch_id).batch
    if found is None:
        raise NotFound(f"There is no import {batch_id}.", param="id")
    return found


def _prepared(vault: Vault, items: Sequence[ImportItem]) -> tuple[list[_Text], bool]:
    """And whether all that needs an embedding has one."""
    texts = [_Text(item=item, memory_id=vault.new_id("mem"), embedding=None) for item in items]
    made = encoded_each(vault, [item.content for item in items if item.refused is None])
    rest = iter(made)
    return [
        text if text.item.refused else _compared(vault, text, next(rest)) for text in texts
    ], None not in made


def _compared(vault: Vault, text: _Text, made: Encoded | None) -> _Text:
    if made is None:
        return text
    mine = embedding(vault, text.memory_id, text.item.content, made)
    return replace(text, embedding=mine, close=nearest(vault, made))


def _commit(vault: Vault, batch: Batch, texts: Sequence[_Text], *, embedded: bool) -> Batch:
    hashes = {identity_of(text.item.content) for text in texts if text.item.refused is None}
    close = list(dict.fromkeys(chain.from_iterable(text.close for text in texts)))
    look = vault.memories.look(memories=close, identities=hashes, batch=batch.id, embeddings=close)
    was = look.batch
    if was is None or was.state is not BatchState.RUNNING or was.position != batch.position:
        return _current(vault, batch.id)
    group = _decided(vault, was, texts, look)
    now = replace(
        advanced(vault, was),
        stored=was.stored + len(group.stored),
        skipped=was.skipped + len(texts) - len(group.stored),
        keyword_only=was.keyword_only or not embedded,
    )
    if now.position >= now.total:
        now = replace(now, state=BatchState.DONE)
    memories = list(group.stored.values())
    change = Change(
        audit=vault.audit(
            "import",
            was.id,
            by=Actor(was.actor, grant=was.grant),
            touched=tuple(one.id for one in memories),
        ),
        put=tuple(Put(memory=memory) for memory in memories),
        claims=tuple(
            Claim(identity=memory.identity, seen=None, now=Held(memory.id)) for memory in memories
        ),
        embeddings=tuple(group.embeddings.values()),
        batch=now,
        batch_was=was,
        outcomes=group.outcomes,
    )
    commit(vault, change, seen=look)
    return now


def _decided(vault: Vault, batch: Batch, texts: Sequence[_Text], look: Look) -> _Group:
    """Each text in turn, also compared with those of the group before it."""
    holders = [holding.by for holding in look.holdings.values() if isinstance(holding, Held)]
    others = [one for one in holders if one not in look.memories]
    known = {**look.memories, **(vault.memories.read(others) if others else {})}
    group = _Group(batch=batch, look=look, known=known)
    for position, text in enumerate(texts, start=batch.position):
        group.outcomes[position] = _outcome(vault, group, text)
    return group


def _outcome(vault: Vault, group: _Group, text: _Text) -> Outcome:
    if text.item.refused is not None:
        return Skipped(reason=text.item.refused)
    known = _known(vault, group, identity_of(text.item.content))
    if known is not None:
        return known
    links = Kin()
    if text.embedding:
        earlier = {memory.id: memory for memory in group.stored.values()}
        found = near(vault, group.look, text.close)
        both = Near({**found.memories, **earlier}, {**found.embeddings, **group.embeddings})
        links = kin(vault, text.item.content, text.embedding, near=both)
    if links.equal is not None:
        return _standing_for(links.equal, SkipReason.NEAR_DUPLICATE)
    return _store(vault, group, text, links)


def _known(vault: Vault, group: _Group, identity: str) -> Skipped | None:
    """Why a text with this identity is not stored again."""
    if identity in group.stored:
        return Skipped(reason=SkipReason.DUPLICATE, by=group.stored[identity].id)
    match group.look.holdings[identity]:
        case None:
            return None
        case Exclusion():
            return Skipped(reason=SkipReason.EXCLUDED)
        case Held(by) if by in group.known and group.known[by].withdrawn:
            return Skipped(reason=SkipReason.EXCLUDED)
        case Held(by) if by in group.known:
            return _standing_for(group.known[by], SkipReason.DUPLICATE)
        case Held():
            if not vault.memories.head().hidden:  # forgotten since the look
                raise Contended
            raise Unavailable("An import that holds one of these texts is being undone. Try again.")


def _standing_for(memory: Memory, reason: SkipReason) -> Skipped:
    """What is superseded names what replaced it."""
    if memory.status is Status.SUPERSEDED:
        return Skipped(reason=SkipReason.SUPERSEDED, by=memory.superseded_by or memory.id)
    return Skipped(reason=reason, by=memory.id)


def _store(vault: Vault, group: _Group, text: _Text, links: Kin) -> Stored:
    memory = linked(
        vault,
        text.item,
        links,
        memory_id=text.memory_id,
        status=_status(group, links),
        actor=group.batch.actor,
    )
    memory = replace(memory, batch_id=group.batch.id)
    group.stored[memory.identity] = memory
    if text.embedding:
        group.embeddings[memory.id] = text.embedding
    return Stored.of(memory)


def _status(group: _Group, links: Kin) -> Status:
    """A possible conflict waits for the owner in review mode; what is merely similar does when
    the owner wants to see that too."""
    reviewed = group.look.settings.approval_mode is ApprovalMode.REVIEW
    similar = group.look.settings.review_similar is ReviewSimilar.ALL and bool(links.similar)
    waits = group.batch.propose or (reviewed and (bool(links.conflicting) or similar))
    return Status.PROPOSED if waits else Status.ACTIVE
