"""Finding memories."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import StrEnum
from itertools import batched

from keeproom.errors import Invalid, Unavailable
from keeproom.vault.dates import NamedDate, date_match, named_dates
from keeproom.vault.formula import (
    CLASSIC,
    DEFAULT,
    WITHOUT_TOKENS,
    Formula,
    Signals,
    is_found,
    weighted,
    whole,
)
from keeproom.vault.jobs import catch_up
from keeproom.vault.kin import is_current
from keeproom.vault.model import Embedding, Memory, MemoryType, Preset, Status
from keeproom.vault.ports import EncodedQuery, Sought, Where
from keeproom.vault.similarity import calibrated, mu_for_queries
from keeproom.vault.text import cleaned
from keeproom.vault.vault import Vault
from keeproom.vault.words import query_terms, terms

_log = logging.getLogger(__name__)
LONGEST_QUERY = 8_000
MOST_HITS = 100
CURRENT = frozenset({Status.ACTIVE, Status.PROPOSED})
EVER = frozenset(Status)
ACTIVE = Where(statuses=frozenset({Status.ACTIVE}))
# Only near-ties: on a scale where the best hit is about 1, neither moves a clearly better hit.
FOR_ACTIVE, FOR_RECENT = 0.01, 0.005
READ_AT_ONCE = 32  # memories: most answers need no second read


class RecallMode(StrEnum):
    HYBRID = "hybrid"
    KEYWORD_ONLY = "keyword-only"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is asked. `tags`: all of them; dates are inclusive."""

    text: str
    limit: int | None = None
    types: frozenset[MemoryType] | None = None
    tags: frozenset[str] = field(default_factory=frozenset[str])
    since: date | None = None
    until: date | None = None
    include_history: bool = False
    preset: Preset | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """`may_conflict_with`: other active memories this active one may contradict."""

    memory: Memory
    score: float
    signals: Signals
    may_conflict_with: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """`reason`: why there are no hits, else empty. `stand_in`: the search service did not answer,
    and the vault's own copy of the index did."""

    hits: tuple[Hit, ...]
    mode: RecallMode
    reason: str = ""
    stand_in: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """The query, taken apart once."""

    text: str
    where: Where
    limit: int
    formula: Formula
    whole: float
    terms: Sequence[str]
    dates: tuple[NamedDate, ...]
    encoded: EncodedQuery | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Best:
    """The hits to answer with, the memories read for them, and whether a stand-in named them."""

    hits: Sequence[Hit]
    known: Mapping[str, Memory]
    stand_in: bool


@dataclass(frozen=True, slots=True)
class _Scored:
    """A candidate of the index."""

    id: str
    signals: Signals
    score: float


@dataclass(frozen=True, slots=True)
class _Stored:
    """What the store has of the candidates. `memories`: all of them where a score needs them, else
    none yet. `embeddings`: those of the model in use."""

    memories: Mapping[str, Memory]
    embeddings: Mapping[str, Embedding]


def recall(vault: Vault, query: Query) -> Recalled:
    """Ranked memories, best first. Any text is a safe query. What any client has written,
    edited or forgotten before is already right. Raises `Invalid` for an empty or too long query
    or a limit outside 1 to 100."""
    asked = _asked(vault, query)
    best = _best(vault, asked)
    mode = RecallMode.HYBRID if asked.encoded else RecallMode.KEYWORD_ONLY
    _log.info(
        "recall mode=%s stand_in=%s hits=%d",
        mode,
        best.stand_in,
        len(best.hits),
        extra={"event": "recall", "mode": mode, "stand_in": best.stand_in},
    )
    return Recalled(
        hits=_flagged(vault, best.hits, best.known),
        mode=mode,
        reason="" if best.hits else _why_empty(vault, asked),
        stand_in=best.stand_in,
    )


def _asked(vault: Vault, query: Query) -> _Asked:
    """Also brings the index up to date: the settings lie where its news do."""
    text = cleaned(query.text, param="query", limit=LONGEST_QUERY)
    if query.limit is not None and not 1 <= query.limit <= MOST_HITS:
        raise Invalid(f"Ask for 1 to {MOST_HITS} hits.", param="limit")
    if query.since and query.until and query.since > query.until:
        raise Invalid("`since` lies after `until`: swap them.", param="since")
    encoded = _encoded(vault, text)
    settings = catch_up(vault)
    where = Where(
        statuses=EVER if query.include_history else CURRENT,
        types=query.types, tags=query.tags, since=query.since, until=query.until,
    )  # fmt: skip
    formula = _formula(query.preset or settings.recall_preset, encoded)
    dates = named_dates(text)
    return _Asked(
        text=text,
        where=where,
        limit=query.limit or settings.recall_limit,
        formula=formula,
        whole=whole(formula, embedded=encoded is not None, dated=bool(dates)),
        terms=query_terms(text),
        dates=dates,
        encoded=encoded,
    )


def _encoded(vault: Vault, text: str) -> EncodedQuery | None:
    try:
        return vault.embedder.query(text)
    except Unavailable:
        return None


def _formula(preset: Preset, encoded: EncodedQuery | None) -> Formula:
    if preset is Preset.CLASSIC:
        return CLASSIC
    return DEFAULT if encoded and encoded.words else WITHOUT_TOKENS


def _best(vault: Vault, asked: _Asked) -> _Best:
    """Asks the index deeper when too few are left because the store knows some of its answers no
    more."""
    hits, known, stand_in = list[Hit](), dict[str, Memory](), False
    for deeper in (1, 2, 4):
        told = vault.index.candidates(_sought(asked, deeper * asked.formula.depth))
        stand_in = stand_in or told.stand_in
        ids = list(dict.fromkeys([*told.near, *told.matching]))
        stored = _stored(vault, asked, ids)
        scored = _scored(vault, asked, ids, stored)
        hits, known = _ranked(vault, asked, scored, stored)
        if len(hits) >= asked.limit or len(hits) == len(scored):
            break
    return _Best(hits=hits[: asked.limit], known=known, stand_in=stand_in)


def _sought(asked: _Asked, limit: int) -> Sought:
    return Sought(
        vector=asked.encoded.vector if asked.encoded else b"",
        terms=asked.terms,
        where=asked.where,
        limit=limit,
        bm25=asked.formula.bm25,
    )


def is_eligible(memory: Memory, where: Where) -> bool:
    """The store's word on whether the memory may be found."""
    return (
        memory.withdrawn is None
        and memory.status in where.statuses
        and (where.types is None or memory.type in where.types)
        and where.tags <= frozenset(memory.tags)
        and (where.since is None or memory.valid_on >= where.since)
        and (where.until is None or memory.valid_on <= where.until)
    )


def _stored(vault: Vault, asked: _Asked, ids: Sequence[str]) -> _Stored:
    memories: Mapping[str, Memory] = {}
    found: Mapping[str, Embedding] = {}
    if asked.dates:
        both = vault.memories.whole(ids)
        memories = {one: memory for one, (memory, _) in both.items()}
        found = {one: made for one, (_, made) in both.items() if made}
    elif asked.encoded:
        found = vault.memories.embeddings(ids)
    model = vault.embedder.model
    return _Stored(memories, {one: made for one, made in found.items() if made.model == model})


def _scored(vault: Vault, asked: _Asked, ids: Sequence[str], stored: _Stored) -> Sequence[_Scored]:
    """Those that are found, best first."""
    strengths = vault.index.strengths(asked.terms, ids, bm25=asked.formula.bm25)
    best = max(strengths, default=0.0) or 1.0
    similar, late = _semantic(vault, asked, stored.embeddings)
    dated = _dated(asked, stored.memories)
    found: list[_Scored] = []
    for one, strength in zip(ids, strengths, strict=True):
        signals = Signals(
            similarity=similar.get(one),
            keyword=strength / best,
            late=late.get(one),
            date=dated.get(one),
        )
        if is_found(signals, asked.formula):
            found.append(_Scored(one, signals, _score(signals, asked)))
    return sorted(found, key=lambda one: -one.score)


def _dated(asked: _Asked, memories: Mapping[str, Memory]) -> Mapping[str, float]:
    """How well each one's date fits; empty for a query that names none."""
    if not asked.dates:
        return {}
    return {
        one: date_match(asked.dates, memory.source_date) if memory.source_date else 0.0
        for one, memory in memories.items()
    }


def _ranked(
    vault: Vault, asked: _Asked, scored: Sequence[_Scored], stored: _Stored
) -> tuple[list[Hit], dict[str, Memory]]:
    """As many hits as are asked for, where there are, in the order that all would have; and the
    memories that were read. To read one costs more than to score it, so those are left out that
    not even a near-tie would bring in."""
    hits, known, now = list[Hit](), dict(stored.memories), vault.clock()
    for part in batched(scored, READ_AT_ONCE, strict=False):
        most = part[0].score + FOR_ACTIVE + FOR_RECENT
        if len(hits) >= asked.limit and _rank(hits[asked.limit - 1], now) > most:
            break
        lacking = [] if stored.memories else [one.id for one in part]
        known |= vault.memories.read(lacking)
        checked = (_hit(vault, asked, one, known.get(one.id), stored.embeddings) for one in part)
        hits += [hit for hit in checked if hit]
        hits.sort(key=lambda hit: (-_rank(hit, now), hit.memory.id))
    return hits, known


def _hit(
    vault: Vault,
    asked: _Asked,
    scored: _Scored,
    memory: Memory | None,
    embeddings: Mapping[str, Embedding],
) -> Hit | None:
    """None when the store says that it may not be found. An embedding of an earlier text counts
    for nothing."""
    if memory is None or not is_eligible(memory, asked.where):
        return None
    made, signals = embeddings.get(memory.id), scored.signals
    if made is None or is_current(vault, made, memory):
        return Hit(memory=memory, score=scored.score, signals=signals)
    signals = replace(signals, similarity=None, late=None)
    score = _score(signals, asked)
    found = is_found(signals, asked.formula)
    return Hit(memory=memory, score=score, signals=signals) if found else None


def _score(signals: Signals, asked: _Asked) -> float:
    return weighted(signals, asked.formula) / asked.whole


def _rank(hit: Hit, now: datetime) -> float:
    age = max(0, (now - hit.memory.updated_at).days)
    active = FOR_ACTIVE if hit.memory.status is Status.ACTIVE else 0.0
    return hit.score + active + FOR_RECENT / (1 + age / 30)


def _semantic(
    vault: Vault, asked: _Asked, embeddings: Mapping[str, Embedding]
) -> tuple[dict[str, float], dict[str, float]]:
    """Similarity and late interaction of those with a current embedding."""
    if asked.encoded is None or not embeddings:
        return {}, {}
    ids, made = list(embeddings), list(embeddings.values())
    cosines = vault.scorer.cosines(asked.encoded.vector, made)
    if asked.formula.calibrated:
        mu = _mu(vault, asked.encoded.vector)
        cosines = [calibrated(cosine, mu) for cosine in cosines]
    similar = dict(zip(ids, cosines, strict=True))
    if not asked.formula.late:
        return similar, {}
    weights = _weights(vault, asked.encoded.words)
    late = vault.scorer.late_interaction(asked.encoded.tokens, weights, made)
    return similar, dict(zip(ids, late, strict=True))


def _mu(vault: Vault, vector: bytes) -> float:
    """The cosine of this query with memories that it has nothing to do with. One asked in another
    language than the vault's lies farther from all of them, also from the right one, so what the
    model was measured with is lowered to the mean over the vault; it is not raised, for a vault
    about one subject is near to every question about it. Not by script: a memory in the question's
    own would fall behind foreign ones (MRR of questions in five languages .73 instead of .86)."""
    usual, here = mu_for_queries(vault.profile()), vault.index.background(vector)
    return usual if here is None else min(usual, here)


def _weights(vault: Vault, words: Sequence[str]) -> list[float]:
    """How telling each query token is: the IDF of the rarest term of its word."""
    told = {word: terms(word) for word in set(words) if word}
    every = list({term for found in told.values() for term in found})
    idf = dict(zip(every, vault.index.idf(every), strict=True))
    weight = {word: max((idf[term] for term in found), default=0.0) for word, found in told.items()}
    return [weight.get(word, 0.0) for word in words]


def _flagged(vault: Vault, hits: Sequence[Hit], memories: Mapping[str, Memory]) -> tuple[Hit, ...]:
    """With what each may conflict with, while both are active: what it names, and what names it
    among the memories read. Those lie close to it, so they rank close to it."""
    named = {one for hit in hits for one in hit.memory.conflicts_with} - memories.keys()
    known = {**memories, **vault.memories.read(sorted(named))}
    active = {one: memory for one, memory in known.items() if is_eligible(memory, ACTIVE)}
    rivals: dict[str, list[str]] = {}
    for one, memory in active.items():
        for other in memory.conflicts_with:
            if other in active:
                rivals.setdefault(one, []).append(other)
                rivals.setdefault(other, []).append(one)
    return tuple(
        Hit(
            memory=hit.memory,
            score=hit.score,
            signals=hit.signals,
            may_conflict_with=tuple(dict.fromkeys(rivals.get(hit.memory.id, ()))),
        )
        for hit in hits
    )


def _why_empty(vault: Vault, asked: _Asked) -> str:
    if not vault.memories.memories(limit=1).items:
        return "The vault is empty."
    if asked.where != Where(statuses=CURRENT):
        return "Nothing with these types, tags and dates matches. Ask again with fewer filters."
    if not asked.encoded:
        return (
            "No memory holds any of these words, and no embedding model is at hand to search by "
            "meaning. Try other words."
        )
    return "Nothing in the vault is close to this."
