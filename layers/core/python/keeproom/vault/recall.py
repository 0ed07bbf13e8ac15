"""Finding memories: the formula, its constants and where they come from.

score = 0.45 similarity + 0.12 keyword + 1.00 late interaction + 0.20 date, over the sum of the
weights that apply to the query. Chosen on LoCoMo (categories 1-4, R@10 .724 on dialogue and .678
on facts, against .650 and .648 for 0.70 similarity + 0.30 keyword) as a compromise with questions
in five other languages; see docs/evals.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from keeproom.errors import Invalid, Unavailable
from keeproom.vault.dates import NamedDate, date_match, named_dates
from keeproom.vault.jobs import catch_up
from keeproom.vault.kin import is_current
from keeproom.vault.model import Embedding, Memory, MemoryType, Preset, Status
from keeproom.vault.ports import Bm25, EncodedQuery, Where
from keeproom.vault.similarity import calibrated
from keeproom.vault.text import cleaned
from keeproom.vault.vault import Vault
from keeproom.vault.words import query_terms, terms

LONGEST_QUERY = 8_000
MOST_HITS = 100
CURRENT = frozenset({Status.ACTIVE, Status.PROPOSED})
EVER = frozenset(Status)
# Only near-ties: on a scale where the best hit is about 1, neither moves a clearly better hit.
FOR_ACTIVE, FOR_RECENT = 0.01, 0.005


class RecallMode(StrEnum):
    HYBRID = "hybrid"
    KEYWORD_ONLY = "keyword-only"


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """A memory is found by its meaning at `floor` of similarity (plain cosine where `calibrated` is
    False) or at `late_floor` of late interaction."""

    similarity: float
    keyword: float
    late: float
    date: float
    depth: int
    floor: float
    bm25: Bm25
    # With similarity alone, one in ten answers in another language is lost: their questions lie
    # below the floor of English ones (MRR .81 instead of .85; about three more hits a question).
    late_floor: float = 0.25
    calibrated: bool = True


DEFAULT = Formula(
    similarity=0.45, keyword=0.12, late=1.00, date=0.20, depth=100, floor=0.20,
    bm25=Bm25(k1=0.8, b=0.2),
)  # fmt: skip
WITHOUT_TOKENS = Formula(
    similarity=0.70, keyword=0.30, late=0.0, date=0.15, depth=100, floor=0.20,
    bm25=Bm25(k1=0.8, b=0.2),
)  # fmt: skip
CLASSIC = Formula(
    similarity=0.75, keyword=0.25, late=0.0, date=0.0, depth=20, floor=0.60,
    bm25=Bm25(k1=1.2, b=0.75), calibrated=False,
)  # fmt: skip


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
class Signals:
    """What a score was made of; each 0 to 1, save a similarity below its floor. None: did not
    apply."""

    similarity: float | None
    keyword: float
    late: float | None
    date: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """`may_conflict_with`: other active memories this active one may contradict."""

    memory: Memory
    score: float
    signals: Signals
    may_conflict_with: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """`reason`: why there are no hits, else empty."""

    hits: tuple[Hit, ...]
    mode: RecallMode
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """The query, taken apart once."""

    text: str
    where: Where
    limit: int
    formula: Formula
    terms: Sequence[str]
    dates: tuple[NamedDate, ...]
    encoded: EncodedQuery | None


def recall(vault: Vault, query: Query) -> Recalled:
    """Ranked memories, best first. Any text is a safe query. What any client has written,
    edited or forgotten before is already right. Raises `Invalid` for an empty or too long query
    or a limit outside 1 to 100."""
    asked = _asked(vault, query)
    catch_up(vault)
    memories, embeddings = _candidates(vault, asked)
    ranked = _ranked(vault, asked, memories, embeddings)[: asked.limit]
    mode = RecallMode.HYBRID if asked.encoded else RecallMode.KEYWORD_ONLY
    return Recalled(
        hits=_flagged(vault, ranked, memories),
        mode=mode,
        reason="" if ranked else _why_empty(vault, asked),
    )


def _asked(vault: Vault, query: Query) -> _Asked:
    text = cleaned(query.text, param="query", limit=LONGEST_QUERY)
    settings = vault.memories.settings()
    limit = settings.recall_limit if query.limit is None else query.limit
    if not 1 <= limit <= MOST_HITS:
        raise Invalid(f"Ask for 1 to {MOST_HITS} hits.", param="limit")
    if query.since and query.until and query.since > query.until:
        raise Invalid("`since` lies after `until`: swap them.", param="since")
    encoded = _encoded(vault, text)
    where = Where(
        statuses=EVER if query.include_history else CURRENT,
        types=query.types, tags=query.tags, since=query.since, until=query.until,
    )  # fmt: skip
    return _Asked(
        text=text,
        where=where,
        limit=limit,
        formula=_formula(query.preset or settings.recall_preset, encoded),
        terms=query_terms(text),
        dates=named_dates(text),
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


def _candidates(vault: Vault, asked: _Asked) -> tuple[dict[str, Memory], Mapping[str, Embedding]]:
    """The best of both kinds, as the store has them. Asks the index deeper when the store knows
    some of its answers no more."""
    eligible: dict[str, Memory] = {}
    for deeper in (1, 2, 4):
        ids = _proposed_by_index(vault, asked, deeper * asked.formula.depth)
        found = vault.memories.read(ids)
        eligible = {
            one: found[one] for one in ids if one in found and is_eligible(found[one], asked.where)
        }
        if len(eligible) == len(ids):
            break
    return eligible, _embeddings(vault, eligible) if asked.encoded else {}


def _embeddings(vault: Vault, memories: Mapping[str, Memory]) -> dict[str, Embedding]:
    """Those that are of the memory's text and of the model in use."""
    found = vault.memories.embeddings(list(memories))
    return {one: made for one, made in found.items() if is_current(vault, made, memories[one])}


def _proposed_by_index(vault: Vault, asked: _Asked, depth: int) -> list[str]:
    formula, near = asked.formula, list[str]()
    if asked.encoded:
        near = list(vault.index.nearest(asked.encoded.vector, where=asked.where, limit=depth))
    match = vault.index.matching(asked.terms, where=asked.where, limit=depth, bm25=formula.bm25)
    return list(dict.fromkeys([*near, *match]))


def is_eligible(memory: Memory, where: Where) -> bool:
    """The store's word on whether the memory may be found."""
    return (
        memory.status in where.statuses
        and (where.types is None or memory.type in where.types)
        and where.tags <= frozenset(memory.tags)
        and (where.since is None or memory.valid_on >= where.since)
        and (where.until is None or memory.valid_on <= where.until)
    )


def _ranked(
    vault: Vault,
    asked: _Asked,
    memories: Mapping[str, Memory],
    embeddings: Mapping[str, Embedding],
) -> list[Hit]:
    ids = list(memories)
    strengths = vault.index.strengths(asked.terms, ids, bm25=asked.formula.bm25)
    best = max(strengths, default=0.0) or 1.0
    similar, late = _semantic(vault, asked, embeddings)
    hits: list[Hit] = []
    for one, strength in zip(ids, strengths, strict=True):
        signals = Signals(
            similarity=similar.get(one),
            keyword=strength / best,
            late=late.get(one),
            date=_dated(asked, memories[one]),
        )
        if _found(signals, asked.formula):
            hits.append(Hit(memory=memories[one], score=_score(signals, asked), signals=signals))
    newest = max((hit.memory.updated_at for hit in hits), default=None)

    def rank(hit: Hit) -> tuple[float, str]:
        assert newest is not None
        age = (newest - hit.memory.updated_at).days
        active = FOR_ACTIVE if hit.memory.status is Status.ACTIVE else 0.0
        return -(hit.score + active + FOR_RECENT / (1 + age / 30)), hit.memory.id

    return sorted(hits, key=rank)


def _dated(asked: _Asked, memory: Memory) -> float | None:
    if not asked.dates:
        return None
    return date_match(asked.dates, memory.source_date) if memory.source_date else 0.0


def _semantic(
    vault: Vault, asked: _Asked, embeddings: Mapping[str, Embedding]
) -> tuple[dict[str, float], dict[str, float]]:
    """Similarity and late interaction of those with a current embedding."""
    if asked.encoded is None or not embeddings:
        return {}, {}
    ids, made = list(embeddings), list(embeddings.values())
    cosines = vault.scorer.cosines(asked.encoded.vector, made)
    if asked.formula.calibrated:
        # One mu for all: by script, a memory in the question's own would fall behind foreign ones
        # (MRR of questions in five languages .73 instead of .81).
        mu = vault.profile().mu[""]
        cosines = [calibrated(cosine, mu) for cosine in cosines]
    similar = dict(zip(ids, cosines, strict=True))
    if not asked.formula.late:
        return similar, {}
    weights = _weights(vault, asked.encoded.words)
    late = vault.scorer.late_interaction(asked.encoded.tokens, weights, made)
    return similar, dict(zip(ids, late, strict=True))


def _weights(vault: Vault, words: Sequence[str]) -> list[float]:
    """How telling each query token is: the IDF of the rarest term of its word."""
    told = {word: terms(word) for word in set(words) if word}
    every = list({term for found in told.values() for term in found})
    idf = dict(zip(every, vault.index.idf(every), strict=True))
    weight = {word: max((idf[term] for term in found), default=0.0) for word, found in told.items()}
    return [weight.get(word, 0.0) for word in words]


def _found(signals: Signals, formula: Formula) -> bool:
    near = signals.similarity is not None and signals.similarity >= formula.floor
    alike = signals.late is not None and signals.late >= formula.late_floor
    return near or alike or signals.keyword > 0


def _score(signals: Signals, asked: _Asked) -> float:
    formula = asked.formula
    weighted = [(formula.keyword, signals.keyword)]
    if asked.encoded:
        weighted += [(formula.similarity, signals.similarity or 0.0)]
        weighted += [(formula.late, signals.late or 0.0)]
    if asked.dates:
        weighted += [(formula.date, signals.date or 0.0)]
    return sum(weight * value for weight, value in weighted) / sum(weight for weight, _ in weighted)


def _flagged(vault: Vault, hits: Sequence[Hit], memories: Mapping[str, Memory]) -> tuple[Hit, ...]:
    """With what each may conflict with, from either side, while both are active."""
    active = {one: memory for one, memory in memories.items() if memory.status is Status.ACTIVE}
    named = {one for hit in hits for one in hit.memory.conflicts_with} - memories.keys()
    others = vault.memories.read(sorted(named))
    active |= {one: other for one, other in others.items() if other.status is Status.ACTIVE}
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
