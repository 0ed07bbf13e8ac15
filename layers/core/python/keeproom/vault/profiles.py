"""Which thresholds the model in use goes by, and measuring them."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import batched

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
from keeproom.vault.ports import Embedder, MemoryStore
from keeproom.vault.scoring import Scorer
from keeproom.vault.similarity import BUNDLED

BATCH = 32  # texts a call, so that progress can be told
TOGETHER = 8  # questions: each is a call of its own where the model is a service
LOOK_AGAIN = timedelta(minutes=1)  # whether somebody else has measured the model by now


@dataclass(slots=True, kw_only=True)
class Profiles:
    """The profile of one embedder: shipped, measured before and kept by the store, or else
    provisional from a few sentences until `measure` has run. The store keeps the provisional one
    too, so that of many processes at one vault each model is asked by one."""

    memories: MemoryStore
    embedder: Embedder
    scorer: Scorer
    pairs: Callable[[], Sequence[LabelledPair]]
    clock: Clock
    _known: Profile | None = field(default=None, init=False)
    _looked: datetime | None = field(default=None, init=False)
    _memories_made: dict[str, bytes] = field(default_factory=dict[str, bytes], init=False)
    _questions_made: dict[str, bytes] = field(default_factory=dict[str, bytes], init=False)

    def current(self) -> Profile:
        """Never raises for want of a model: nothing is similar to anything then."""
        if self.embedder.model == BUNDLED.model:
            return BUNDLED
        if not self._is_settled():
            self._looked = self.clock()
            self._known = self.memories.profile(self.embedder.model) or self._known
        if self._known is None:
            self._known = self._provisional()
        return self._known or Profile(
            model=self.embedder.model, dims=self.embedder.dims, mu={"": 0.0}
        )

    def is_measured(self) -> bool:
        return self.current().calibrated

    def measure(
        self,
        *,
        seconds: float | None = None,
        told: Callable[[int, int], None] = lambda done, of: None,
    ) -> Profile:
        """Embed the labelled pairs, keep the profile they give and answer it. `told` hears of
        texts done and of how many. Raises `Unavailable`, also when `seconds` were not enough; what
        was embedded until then need not be embedded the next time."""
        pairs = self.pairs()
        every = texts(pairs)
        until = None if seconds is None else self.clock() + timedelta(seconds=seconds)
        vectors, queries = self._memories_made, self._questions_made
        lacking = [one for one in every if one not in vectors or one not in queries]
        for part in batched(lacking, BATCH, strict=False):
            if until is not None and self.clock() >= until:
                raise Unavailable("The model is not measured to the end yet. Go on later.")
            vectors |= self._vectors([text for text in part if text not in vectors])
            queries |= self._queries(part)
            told(len(queries), len(every))
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
        self._memories_made, self._questions_made = {}, {}
        return profile

    def _is_settled(self) -> bool:
        """Whether the store need not be asked."""
        if self._known is None or self._looked is None:
            return False
        return self._known.calibrated or self.clock() < self._looked + LOOK_AGAIN

    def _provisional(self) -> Profile | None:
        pairs = self.pairs()
        few = provisional_texts(pairs)
        try:
            vectors, queries = self._vectors(few), self._queries(few)
        except Unavailable:
            return None
        made = provisional(
            self.embedder.model,
            self.embedder.dims,
            pairs=pairs,
            vectors=vectors,
            queries=queries,
            scorer=self.scorer,
        )
        faster = self.memories.profile(self.embedder.model)
        if faster is None:
            self.memories.keep_profile(made)
        return faster or made

    def _vectors(self, of: Sequence[str]) -> dict[str, bytes]:
        if not of:
            return {}
        size = 4 * self.embedder.dims
        made = self.embedder.passages(of)
        return {text: one.vectors[:size] for text, one in zip(of, made, strict=True)}

    def _queries(self, of: Sequence[str]) -> dict[str, bytes]:
        """Raises `Unavailable`, but not before all have ended, and keeps none of them then."""
        with ThreadPoolExecutor(TOGETHER) as pool:
            made = pool.map(self.embedder.query, of)
            return {text: one.vector for text, one in zip(of, made, strict=True)}
