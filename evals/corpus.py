"""Made-up memories and questions of a person who works with software: nobody's words.

Slots are filled by Zipf's law, as in real text a few names and tools come up again and again and
most of them once.
"""

import random
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path

SHORTEST, LONGEST = 15, 40  # words of a memory

_FILE = tomllib.loads(Path(__file__).with_name("corpus.toml").read_text(encoding="utf-8"))
_PATTERNS: dict[str, list[str]] = _FILE.pop("patterns")
_WORDS: dict[str, list[str]] = _FILE
_SLOT = re.compile(r"{(\w+)}")

type Choose = Callable[[], str]


def zipf_weights(count: int) -> list[float]:
    """Cumulative, for ranks 1 to `count`: Zipf's law as corrected by Mandelbrot (exponent 1.07,
    offset 2.7)."""
    return list(accumulate((rank + 2.7) ** -1.07 for rank in range(1, count + 1)))


def memories(count: int, *, seed: int) -> list[str]:
    """Different texts of 15 to 40 words."""
    rng = random.Random(seed)
    slots = _slots(rng)
    return _distinct(count, lambda: _memory(rng, slots))


def questions(count: int, *, seed: int) -> list[str]:
    """Different questions of about 5 to 15 words on such memories."""
    rng = random.Random(seed)
    slots = _slots(rng)
    return _distinct(count, lambda: _filled(rng.choice(_PATTERNS["question"]), slots))


def made_words(count: int, *, seed: int) -> list[str]:
    """Different words that no language has, for the long tail of a vocabulary."""
    rng = random.Random(seed)

    def word() -> str:
        return "".join(
            rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(rng.randint(2, 4))
        )

    return _distinct(count, word)


def _distinct(count: int, make: Choose) -> list[str]:
    made: dict[str, None] = {}
    while len(made) < count:
        made[make()] = None
    return list(made)


def _memory(rng: random.Random, slots: dict[str, Choose]) -> str:
    text = _filled(rng.choice(_PATTERNS["fact"]), slots)
    while len(text.split()) < SHORTEST or (rng.random() < 0.4 and len(text.split()) < LONGEST - 17):
        text = f"{text}, {_filled(rng.choice(_PATTERNS['tail']), slots)}"
    return f"{text}."


def _filled(pattern: str, slots: dict[str, Choose]) -> str:
    return _SLOT.sub(lambda slot: slots[slot[1]](), pattern)


def _slots(rng: random.Random) -> dict[str, Choose]:
    def by_rank(words: Sequence[str]) -> Choose:
        weights = zipf_weights(len(words))
        return lambda: rng.choices(words, cum_weights=weights)[0]

    return {
        **{name: by_rank(words) for name, words in _WORDS.items()},
        "count": lambda: str(rng.randint(2, 40) * rng.choice((1, 5, 10, 25))),
        "hour": lambda: str(rng.randint(7, 19)),
        "date": lambda: f"{rng.randint(4, 20)}th",
        "version": lambda: f"{rng.randint(1, 18)}.{rng.randint(0, 12)}",
    }


def words(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from text.split()
