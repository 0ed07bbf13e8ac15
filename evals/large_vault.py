"""Vaults of any size from a few thousand embedded texts.

The first memories are those texts. Of the others each takes the vector and the token bits of one
of them, a little changed, and words drawn by Zipf's law from the same vocabulary with a long tail:
uniform words would give an index with no long posting, and unrelated vectors one with no
neighbours.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import batched

import numpy as np
from corpus import LONGEST, SHORTEST, made_words, words, zipf_weights

from keeproom.vault.change import Change, Claim, Put
from keeproom.vault.kin import embedding
from keeproom.vault.model import OWNER, Held, Job, Memory, Status
from keeproom.vault.ports import Encoded
from keeproom.vault.vault import Vault, decided

TOGETHER = 20  # memories in one commit: 4 actions each, under 100
VOCABULARY = 40_000
NOISE = 0.3  # length of the noise beside a unit vector: cosine about .96
OLDEST, DAYS = date(2024, 1, 1), 700


@dataclass(frozen=True, slots=True)
class Text:
    content: str
    made: Encoded


def grown(base: Sequence[Text], count: int, *, seed: int) -> Iterator[Text]:
    """The base, then as many more as make `count`."""
    yield from base[:count]
    rng, dice = random.Random(seed), np.random.default_rng(seed)
    vocabulary = _vocabulary(base, seed=seed)
    weights = zipf_weights(len(vocabulary))
    for number in range(len(base), count):
        drawn = rng.choices(vocabulary, cum_weights=weights, k=rng.randint(SHORTEST, LONGEST))
        yield Text(" ".join(drawn), perturbed(base[number % len(base)].made, dice))


def _vocabulary(base: Sequence[Text], *, seed: int) -> list[str]:
    """The most frequent first."""
    common = [word for word, _ in Counter(words([one.content for one in base])).most_common()]
    return [*common, *made_words(VOCABULARY - len(common), seed=seed)]


def perturbed(made: Encoded, dice: np.random.Generator) -> Encoded:
    """Its first vector with gaussian noise, a unit again; one bit in sixteen turned."""
    vector = np.frombuffer(made.vectors, "<f4")
    vector = vector + dice.normal(0, NOISE / np.sqrt(len(vector)), len(vector)).astype("<f4")
    bits = np.frombuffer(made.bits, np.uint8)
    turned = np.bitwise_and.reduce(dice.integers(0, 256, (4, len(bits)), np.uint8))
    unit = vector / np.linalg.norm(vector)
    return Encoded(vectors=unit.astype("<f4").tobytes(), bits=(bits ^ turned).tobytes())


def load(vault: Vault, texts: Iterator[Text]) -> None:
    """Store each as an active memory, with its embedding and nothing left to do for it. A text
    that is there already would be refused: there must be none."""
    for number, group in enumerate(batched(texts, TOGETHER)):
        said_on = OLDEST + timedelta(days=number % DAYS)
        memories = [_memory(vault, text.content, said_on) for text in group]
        decided(vault, lambda memories=memories, group=group: _commit(vault, memories, group))


def _memory(vault: Vault, content: str, said_on: date) -> Memory:
    at = vault.clock()
    return Memory(
        id=vault.new_id("mem"), content=content, status=Status.ACTIVE, source_date=said_on,
        created_at=at, updated_at=at, since=at, actor=OWNER.name,
    )  # fmt: skip


def _commit(vault: Vault, memories: Sequence[Memory], group: Sequence[Text]) -> None:
    look = vault.memories.look()
    pairs = zip(memories, group, strict=True)
    touched = tuple(memory.id for memory in memories)
    change = Change(
        audit=vault.audit("load", "", by=OWNER, touched=touched),
        put=tuple(Put(memory=memory) for memory in memories),
        claims=tuple(
            Claim(identity=memory.identity, seen=None, now=Held(memory.id)) for memory in memories
        ),
        embeddings=tuple(
            embedding(vault, memory.id, text.content, text.made) for memory, text in pairs
        ),
    )
    vault.memories.commit(change, seen=look)
    generation = look.head.generation
    vault.memories.finish(
        [
            Job(generation=generation, memory_id=one.id, revision=one.revision, due=one.updated_at)
            for one in memories
        ]
    )
