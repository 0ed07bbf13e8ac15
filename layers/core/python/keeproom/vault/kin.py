"""Which known memories a new text is close to."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from keeproom.errors import Unavailable
from keeproom.vault.batch import ImportItem
from keeproom.vault.change import Look
from keeproom.vault.model import Embedding, Memory, Profile, Status, content_hash
from keeproom.vault.ports import Encoded, Indexed, Where
from keeproom.vault.similarity import Kinship, calibrated, kinship, mu_between
from keeproom.vault.vault import Vault
from keeproom.vault.words import script_of, terms

COMPARED = Where(statuses=frozenset({Status.ACTIVE, Status.PROPOSED, Status.SUPERSEDED}))
NEAREST = 5  # an update lies among the closest few; more would only add comparisons


@dataclass(frozen=True, slots=True, kw_only=True)
class Kin:
    """`equal`: the memory a near-duplicate repeats. `similar` holds `conflicting` too."""

    equal: Memory | None = None
    similar: tuple[str, ...] = ()
    conflicting: tuple[str, ...] = ()


def linked(
    vault: Vault, item: ImportItem, links: Kin, *, memory_id: str, status: Status, actor: str
) -> Memory:
    """The new memory that says what the item says."""
    at = vault.clock()
    return Memory(
        id=memory_id,
        content=item.content,
        type=item.type,
        status=status,
        source=item.source,
        source_date=item.source_date,
        tags=item.tags,
        created_at=at,
        updated_at=at,
        since=at,
        actor=actor,
        similar_to=links.similar,
        conflicts_with=links.conflicting,
    )


def encoded(vault: Vault, texts: Sequence[str]) -> Sequence[Encoded] | None:
    """None when no embedding can be had now: the index queue makes them later."""
    if not texts:
        return ()
    try:
        return vault.embedder.passages(texts)
    except Unavailable:
        return None


def encoded_each(vault: Vault, texts: Sequence[str]) -> list[Encoded | None]:
    """As `encoded`, text by text: one that the model does not take holds none of the others
    back."""
    made = encoded(vault, texts)
    if made is not None:
        return list(made)
    if len(texts) < 2 or not answers(vault):
        return [None] * len(texts)
    half = len(texts) // 2
    return [*encoded_each(vault, texts[:half]), *encoded_each(vault, texts[half:])]


def answers(vault: Vault) -> bool:
    """Whether the model can be reached: asked for what nobody has asked before, as a query, which
    waits for a shorter time."""
    try:
        vault.embedder.query(vault.new_id("mem"))
    except Unavailable:
        return False
    return True


def embedding(vault: Vault, memory_id: str, content: str, made: Encoded) -> Embedding:
    return Embedding(
        memory_id=memory_id,
        model=vault.embedder.model,
        content_hash=content_hash(content),
        dims=vault.embedder.dims,
        vectors=made.vectors,
        bits=made.bits,
    )


@dataclass(frozen=True, slots=True)
class Near:
    """Memories close to a text, and the embeddings of those that have one of the model in use."""

    memories: Mapping[str, Memory] = field(default_factory=dict[str, Memory])
    embeddings: Mapping[str, Embedding] = field(default_factory=dict[str, Embedding])


def nearest(vault: Vault, made: Encoded) -> list[str]:
    """Ids of the memories closest to a text, as far as the index knows."""
    row = 4 * vault.embedder.dims
    return list(vault.index.nearest(made.vectors[:row], where=COMPARED, limit=NEAREST))


def near(vault: Vault, look: Look, ids: Iterable[str]) -> Near:
    """Those of the memories that are there, as a look for them and their embeddings has found
    them."""
    found = [look.memories[one] for one in ids if one in look.memories]
    known = {memory.id: memory for memory in found if memory.withdrawn is None}
    made = look.embeddings
    return Near(
        known,
        {
            one: made[one]
            for one in known
            if one in made and is_current(vault, made[one], known[one])
        },
    )


def is_current(vault: Vault, found: Embedding, memory: Memory) -> bool:
    """Whether the embedding is of this text and of the model in use."""
    return found.model == vault.embedder.model and found.content_hash == memory.content_hash


def indexed(vault: Vault, memory: Memory, made: Embedding | None) -> Indexed:
    """The memory as the index holds it."""
    return Indexed(
        id=memory.id,
        revision=memory.revision,
        status=memory.status,
        type=memory.type,
        tags=memory.tags,
        valid_on=memory.valid_on,
        terms=Counter(terms(memory.content)),
        embedding=made if made and is_current(vault, made, memory) else None,
    )


def kin(
    vault: Vault,
    content: str,
    made: Embedding,
    *,
    near: Near,
) -> Kin:
    """Judge the new text against each memory near it that has an embedding."""
    among, embeddings = near.memories, near.embeddings
    profile, ids = vault.profile(), [one for one in among if one in embeddings]
    similarities = _similarities(
        vault,
        content,
        made,
        [embeddings[one] for one in ids],
        profile=profile,
        scripts=[script_of(among[one].content) for one in ids],
    )
    told: dict[str, Kinship] = {}
    for one, similarity in sorted(zip(ids, similarities, strict=True), key=lambda pair: -pair[1]):
        whole = made.chunks == 1 == embeddings[one].chunks
        told[one] = kinship(
            among[one].content, content, similarity=similarity, whole=whole, profile=profile
        )
    equal = [one for one, found in told.items() if found is Kinship.NEAR_DUPLICATE]
    linked = [one for one, found in told.items() if found is not Kinship.UNRELATED]
    return Kin(
        equal=among[equal[0]] if equal else None,
        similar=tuple(linked),
        conflicting=tuple(one for one in linked if told[one] is Kinship.CONFLICT),
    )


def _similarities(
    vault: Vault,
    content: str,
    made: Embedding,
    others: Sequence[Embedding],
    *,
    profile: Profile,
    scripts: Sequence[str],
) -> list[float]:
    """That of the best pair of chunks."""
    if not others:
        return []
    size, mine = 4 * made.dims, script_of(content)
    rows = [made.vectors[n : n + size] for n in range(0, len(made.vectors), size)]
    best = map(max, zip(*(vault.scorer.cosines(row, others) for row in rows), strict=True))
    return [
        calibrated(cosine, mu_between(profile, mine, script))
        for cosine, script in zip(best, scripts, strict=True)
    ]
