"""Which thresholds the model in use goes by, and measuring them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from keeproom.clock import Clock
from keeproom.errors import Unavailable
from keeproom.vault.calibrate import (
    LabelledPair,
    calibrate,
    provisional,
    provisional_texts,
    texts,
)
from keeproom.vault.model import Profile
from keeproom.vault.ports import Embedder, MemoryStore, Scorer
from keeproom.vault.similarity import BUNDLED

BATCH = 32  # texts a call, so that progress can be told


@dataclass(slots=True, kw_only=True)
class Profiles:
    """The profile of one embedder: shipped, measured before and kept by the store, or else
    provisional from a few sentences until `measure` has run."""

    memories: MemoryStore
    embedder: Embedder
    scorer: Scorer
    pairs: Callable[[], Sequence[LabelledPair]]
    clock: Clock
    _known: Profile | None = field(default=None, init=False)

    def current(self) -> Profile:
        """Never raises for want of a model: nothing is similar to anything then."""
        if self.embedder.model == BUNDLED.model:
            return BUNDLED
        if self._known is None or not self._known.calibrated:
            self._known = self.memories.profile(self.embedder.model) or self._known
        if self._known is None:
            self._known = self._provisional()
        return self._known or Profile(
            model=self.embedder.model, dims=self.embedder.dims, mu={"": 0.0}
        )

    def is_measured(self) -> bool:
        return self.current().calibrated

    def measure(self, *, told: Callable[[int, int], None] = lambda done, of: None) -> Profile:
        """Embed the labelled pairs, keep the profile they give and answer it. `told` hears of
        texts done and of how many. Raises `Unavailable`."""
        pairs = self.pairs()
        every = texts(pairs)
        vectors: dict[str, bytes] = {}
        queries: dict[str, bytes] = {}
        for start in range(0, len(every), BATCH):
            vectors |= self._vectors(every[start : start + BATCH])
            queries |= self._queries(every[start : start + BATCH])
            told(len(vectors), len(every))
        profile = calibrate(
            self.embedder.model,
            self.embedder.dims,
            pairs=pairs,
            vectors=vectors,
            queries=queries,
            scorer=self.scorer,
            at=self.clock(),
        )
        self.memories.keep_profile(profile)
        self._known = profile
        return profile

    def _provisional(self) -> Profile | None:
        pairs = self.pairs()
        few = provisional_texts(pairs)
        try:
            vectors, queries = self._vectors(few), self._queries(few)
        except Unavailable:
            return None
        return provisional(
            self.embedder.model,
            self.embedder.dims,
            pairs=pairs,
            vectors=vectors,
            queries=queries,
            scorer=self.scorer,
        )

    def _vectors(self, of: Sequence[str]) -> dict[str, bytes]:
        size = 4 * self.embedder.dims
        made = self.embedder.passages(of)
        return {text: one.vectors[:size] for text, one in zip(of, made, strict=True)}

    def _queries(self, of: Sequence[str]) -> dict[str, bytes]:
        return {text: self.embedder.query(text).vector for text in of}
