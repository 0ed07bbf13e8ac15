"""Filling a vault through its store, many memories a commit: nothing is compared or linked, so
near-duplicates stay, as they must where every text counts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import batched

from keeproom.vault.admit import admitted
from keeproom.vault.batch import ImportItem
from keeproom.vault.change import Change, Claim, Put
from keeproom.vault.jobs import catch_up
from keeproom.vault.kin import embedding
from keeproom.vault.model import OWNER, Held, Job, Memory, Status, identity_of
from keeproom.vault.ports import Encoded
from keeproom.vault.vault import Vault, decided

TOGETHER = 20  # memories in one commit: 4 actions each, under 100
_EMBEDDED_AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class Text:
    item: ImportItem
    made: Encoded


def fill(vault: Vault, items: Sequence[ImportItem]) -> list[str]:
    """Make each text an active memory and bring the index up to date. Answers the id of the memory
    that holds it: texts with one identity share one. Raises what `admitted` raises."""
    clean = {identity_of(item.content): item for item in map(admitted, items)}
    load(vault, _embedded(vault, list(clean.values())))
    catch_up(vault)
    held = vault.memories.look(identities=clean).holdings
    holders = (held[identity_of(admitted(item).content)] for item in items)
    return [holder.by for holder in holders if isinstance(holder, Held)]


def _embedded(vault: Vault, items: Iterable[ImportItem]) -> Iterable[Text]:
    for group in batched(items, _EMBEDDED_AT_ONCE, strict=False):
        made = vault.embedder.passages([item.content for item in group])
        yield from map(Text, group, made)


def load(vault: Vault, texts: Iterable[Text]) -> None:
    """Store clean texts, each with an identity of its own, as active memories with their
    embeddings. Nothing is left to do for them but what `catch_up` does."""
    for group in batched(texts, TOGETHER, strict=False):
        memories = [_memory(vault, text.item) for text in group]
        decided(vault, lambda memories=memories, group=group: _commit(vault, memories, group))


def _memory(vault: Vault, item: ImportItem) -> Memory:
    at = vault.clock()
    return Memory(
        id=vault.new_id("mem"),
        content=item.content,
        status=Status.ACTIVE,
        source_date=item.source_date,
        created_at=at,
        updated_at=at,
        since=at,
        actor=OWNER.name,
    )


def _commit(vault: Vault, memories: Sequence[Memory], group: Sequence[Text]) -> None:
    look = vault.memories.look()
    change = Change(
        audit=vault.audit("load", "", by=OWNER, touched=tuple(memory.id for memory in memories)),
        put=tuple(Put(memory=memory) for memory in memories),
        claims=tuple(
            Claim(identity=memory.identity, seen=None, now=Held(memory.id)) for memory in memories
        ),
        embeddings=tuple(
            embedding(vault, memory.id, memory.content, text.made)
            for memory, text in zip(memories, group, strict=True)
        ),
    )
    vault.memories.commit(change, seen=look)
    vault.memories.finish(
        [
            Job(
                generation=look.head.generation,
                memory_id=memory.id,
                revision=memory.revision,
                due=change.audit.at,
            )
            for memory in memories
        ]
    )
