"""Vaults of any size from a few thousand embedded texts.

The first memories are those texts. Of the others each takes the vector and the token bits of one
of them, a little changed, and words drawn by Zipf's law from the same vocabulary with a long tail:
uniform words would give an index with no long posting, and unrelated vectors one with no
neighbours.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

import numpy as np
from corpus import LONGEST, SHORTEST, made_words, words, zipf_weights
from loading import Text

from keeproom.vault.batch import ImportItem
from keeproom.vault.ports import Encoded

VOCABULARY = 40_000
NOISE = 0.3  # length of the noise beside a unit vector: cosine about .96
OLDEST, DAYS = date(2024, 1, 1), 700


def grown(base: Sequence[Text], count: int, *, seed: int) -> Iterator[Text]:
    """The base, then as many more as make `count`."""
    yield from base[:count]
    rng, dice = random.Random(seed), np.random.default_rng(seed)
    vocabulary = _vocabulary(base, seed=seed)
    weights = zipf_weights(len(vocabulary))
    for number in range(len(base), count):
        drawn = rng.choices(vocabulary, cum_weights=weights, k=rng.randint(SHORTEST, LONGEST))
        item = ImportItem(content=" ".join(drawn), source_date=OLDEST + timedelta(number % DAYS))
        yield Text(item, perturbed(base[number % len(base)].made, dice))


def _vocabulary(base: Sequence[Text], *, seed: int) -> list[str]:
    """The most frequent first."""
    common = [word for word, _ in Counter(words(text.item.content for text in base)).most_common()]
    return [*common, *made_words(VOCABULARY - len(common), seed=seed)]


def perturbed(made: Encoded, dice: np.random.Generator) -> Encoded:
    """Its first vector with gaussian noise, a unit again; one bit in sixteen turned."""
    vector = np.frombuffer(made.vectors, "<f4")
    vector = vector + dice.normal(0, NOISE / np.sqrt(len(vector)), len(vector)).astype("<f4")
    bits = np.frombuffer(made.bits, np.uint8)
    turned = np.bitwise_and.reduce(dice.integers(0, 256, (4, len(bits)), np.uint8))
    unit = vector / np.linalg.norm(vector)
    return Encoded(vectors=unit.astype("<f4").tobytes(), bits=(bits ^ turned).tobytes())
