"""What the vault needs from the outside world."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from keeproom.vault.batch import Batch, ImportItem, Outcome
from keeproom.vault.change import Change, Look, Place
from keeproom.vault.model import (
    AuditEntry,
    Embedding,
    Exclusion,
    GuideVersion,
    Head,
    Job,
    Memory,
    MemoryType,
    Page,
    Position,
    Profile,
    Settings,
    Status,
)
from keeproom.vault.published import Backlog, News, Published, Rebuild, ToPublish


class MemoryStore(Protocol):
    """Where a vault lives: the only truth. Every answer leaves out what an undo under way hides,
    save where it says otherwise. Raises `Unavailable` when the place does not answer in time,
    `Invalid` for a cursor it did not make."""

    def look(
        self,
        *,
        memories: Iterable[str] = (),
        identities: Iterable[str] = (),
        batch: str = "",
        receipt: str = "",
        tally: str = "",
        embeddings: Iterable[str] = (),
        histories: bool = False,
    ) -> Look:
        """Read at once what a decision needs. Receipts that have expired are absent, and unless
        asked for `histories`."""
        ...

    def commit(self, change: Change, *, seen: Look) -> Place:
        """Make all of the change true, or none, and answer where its audit entry stands. Raises
        `Contended` when anything it rests on has moved since `seen`."""
        ...

    def read(self, ids: Sequence[str], *, hidden: bool = False) -> Mapping[str, Memory]:
        """Those of the memories that exist. `hidden`: also what an undo hides."""
        ...

    def memories(
        self,
        *,
        status: Status | None = None,
        batch: str = "",
        withdrawn: bool = False,
        cursor: str = "",
        limit: int = 50,
    ) -> Page[Memory]:
        """All; with a status those of it that nobody has withdrawn; with `withdrawn` those that
        somebody has. In order of id; for a status other than active in order of since, withdrawn
        ones in order of when. A cursor is a place: what happens meanwhile neither repeats nor
        skips a memory that stays."""
        ...

    def members(self, batch: str, *, after: str, limit: int) -> tuple[list[str], bool]:
        """Ids of the batch's memories above `after`, hidden ones too, and whether more follow."""
        ...

    def embeddings(self, ids: Sequence[str]) -> Mapping[str, Embedding]: ...

    def whole(
        self, ids: Sequence[str], *, hidden: bool = False
    ) -> Mapping[str, tuple[Memory, Embedding | None]]:
        """`read` and `embeddings` in one."""
        ...

    def keep_embedding(self, embedding: Embedding, *, revision: int) -> bool:
        """Write it beside its memory. False, and nothing written, unless the memory still has
        that revision. No part of the audit: the memory itself has not changed."""
        ...

    def position(self) -> Position:
        """The newest moment."""
        ...

    def changes(self, since: Position) -> tuple[Position, frozenset[str]] | None:
        """Ids of the memories touched since, and the moment reached. None when that moment is of
        another generation or retention has cut behind it: everything must be read again."""
        ...

    def news(self, since: Position, *, finished: Sequence[Job] = (), index: str = "") -> News:
        """`settings`, `changes` and, of the shared index of that name, `backlog` in one. Meanwhile
        the finished jobs are taken off the queue; one that cannot be stays on it, and nobody is
        told."""
        ...

    def audit(self, *, cursor: str = "", limit: int = 50) -> Page[AuditEntry]:
        """Newest first."""
        ...

    def audit_faults(self) -> Sequence[str]:
        """One sentence for each audit chain that does not lead from its cut to its head."""
        ...

    def cut_audit(self, before: datetime, entry: AuditEntry) -> int:
        """Remove the beginning of the audit, entries older than that, and count them; each chain
        leads on from its cut. A few thousand a call: 0 when none is left. `entry` tells of it, in
        the same step as the first of them."""
        ...

    def exclusions(self, *, cursor: str = "", limit: int = 50) -> Page[tuple[str, Exclusion]]:
        """Identities and their exclusions, oldest first."""
        ...

    def head(self) -> Head: ...

    def jobs(self, *, due: datetime, limit: int) -> Sequence[Job]:
        """Those due by then."""
        ...

    def take(self, job: Job, *, until: datetime) -> Job | None:
        """Nobody else gets the job before `until`. None when somebody was faster."""
        ...

    def queue(self, jobs: Sequence[Job]) -> None:
        """Put jobs on the queue, for memories that have none on it."""
        ...

    def finish(self, jobs: Sequence[Job]) -> None:
        """Take the jobs off the queue, save those whose memory has changed meanwhile."""
        ...

    def to_publish(self, ids: Sequence[str]) -> ToPublish:
        """What there is of these memories, hidden ones too, and what the shared index is known to
        hold of them, gone ones too."""
        ...

    def keep_published(self, rows: Sequence[Published]) -> frozenset[str]:
        """Write each over the one with the revision before it; one without names and not begun
        is dropped. Answers the memories of those written: others were faster with the rest."""
        ...

    def backlog(self, index: str) -> Backlog:
        """Of the shared index of that name."""
        ...

    def rebuild(self, index: str) -> Rebuild | None: ...

    def keep_rebuild(self, rebuild: Rebuild) -> bool:
        """Write it over the one with the revision before it. False when others were faster."""
        ...

    def batches(self, *, cursor: str = "", limit: int = 50) -> Page[Batch]:
        """Newest first."""
        ...

    def outcomes(
        self, batch: str, *, cursor: str = "", limit: int = 50
    ) -> Page[tuple[int, Outcome]]:
        """By position."""
        ...

    def put_items(self, batch: str, *, start: int, items: Sequence[ImportItem]) -> None:
        """Write down what an import brought, from position `start`. Not fenced: only for a batch
        nobody works on yet."""
        ...

    def items(self, batch: str, *, start: int, limit: int) -> Sequence[ImportItem]:
        """What the import brought at `start` and after."""
        ...

    def drop_items(self, batch: str) -> None:
        """Forget the texts an import brought, once every one has its outcome."""
        ...

    def settings(self) -> Settings: ...

    def guide_versions(self, *, cursor: str = "", limit: int = 50) -> Page[GuideVersion]:
        """Newest first."""
        ...

    def drop_expired(self) -> int:
        """Remove receipts that have expired, as some places do by themselves, and count them. One
        that is written anew meanwhile stays. Nothing relies on it."""
        ...

    def profile(self, model: str) -> Profile | None: ...

    def keep_profile(self, profile: Profile) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """What a model made of one memory's text: `Embedding` without the memory."""

    vectors: bytes
    bits: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedQuery:
    """`vector`: one unit row of float32. `tokens`: unit rows of float32, one for each of `words`:
    the word of the query that the token belongs to (empty for punctuation). Both are empty when
    the model gives no token vectors."""

    vector: bytes
    tokens: bytes = b""
    words: tuple[str, ...] = ()


class Embedder(Protocol):
    """An embedding model. `model` names it with its version: vectors of different names are never
    compared. Both calls raise `Unavailable` when the model cannot answer in time."""

    @property
    def model(self) -> str: ...

    @property
    def dims(self) -> int: ...

    def passages(self, texts: Sequence[str]) -> Sequence[Encoded]: ...

    def query(self, text: str) -> EncodedQuery: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Which memories a search may find. None: any. `tags`: all of them. Dates are inclusive and
    compared with `Memory.valid_on`."""

    statuses: frozenset[Status]
    types: frozenset[MemoryType] | None = None
    tags: frozenset[str] = frozenset()
    since: date | None = None
    until: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bm25:
    """idf x tf x (k1 + 1) / (tf + k1 x (1 - b + b x length / mean length)), summed over the
    distinct terms."""

    k1: float
    b: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexed:
    """A memory as an index holds it. `terms`: how often each term occurs. `embedding`: None while
    it has none of the index's model."""

    id: str
    revision: int
    status: Status
    type: MemoryType
    tags: tuple[str, ...]
    valid_on: date
    terms: Mapping[str, int]
    embedding: Embedding | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What to look for: the unit vector of a query (empty: nothing by meaning) and its terms, as
    many candidates by each as `limit`."""

    vector: bytes
    terms: Sequence[str]
    where: Where
    limit: int
    bm25: Bm25


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Ids, best first: by meaning, and by words. `stand_in`: the search service did not answer,
    so they come from the copy inside the process."""

    near: Sequence[str]
    matching: Sequence[str]
    stand_in: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """Documents made of one memory. `whole`: all that it needs."""

    names: tuple[str, ...]
    whole: bool


class SharedIndex(Protocol):
    """A searchable copy that all processes share. It gives each document a name of its own and
    shows it some seconds later. Every call raises `Unavailable`; then nothing is known of what
    became of it."""

    @property
    def name(self) -> str:
        """Another for another model or shape of document."""
        ...

    def prepare(self) -> bool:
        """Make it when it is not there: then it is empty, and the answer True. Raises
        `Unavailable` at once when it has not answered a moment ago."""
        ...

    def add(self, rows: Sequence[Indexed], *, generation: str) -> Mapping[str, Added]:
        """Never replaces: what was there of a memory stays. By memory, all of them."""
        ...

    def drop(self, names: Sequence[str]) -> frozenset[str]:
        """Those that are there no more."""
        ...

    def find(self, ids: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Names of the documents it shows of these memories, of any generation."""
        ...

    def documents(self, *, after: str, limit: int) -> tuple[Sequence[tuple[str, str]], str]:
        """Memory and name of the documents it shows, in order of memory, from the place `after`
        (empty: the start), and the place to go on from; empty at the end."""
        ...

    def tidy(self) -> None:
        """Remove the copies of this vault that have other names."""
        ...


class SearchIndex(Protocol):
    """The searchable copy: rebuildable, and only ever asked for candidates. Safe for threads."""

    @property
    def shared(self) -> SharedIndex | None:
        """The copy that the index jobs keep in step, where there is one. All else is about the
        copy inside the process."""
        ...

    @property
    def wants_backlog(self) -> bool:
        """Whether it should be told what the shared copy lacks before it is asked again."""
        ...

    def tell_backlog(self, backlog: Backlog) -> None: ...

    @property
    def size(self) -> int:
        """How many memories it holds."""
        ...

    def candidates(self, sought: Sought) -> Candidates:
        """What a recall should look at: by cosine of the best chunk, and by BM25 strength those
        with at least one of the terms. May name what the store knows no more."""
        ...

    def nearest(self, vector: bytes, *, where: Where, limit: int) -> Sequence[str]:
        """Ids by cosine of their best chunk, best first, exactly, and of all that was put."""
        ...

    def background(self, vector: bytes) -> float | None:
        """Mean cosine with the chunks it holds, about; None when it holds none."""
        ...

    def strengths(self, terms: Sequence[str], ids: Sequence[str], *, bm25: Bm25) -> Sequence[float]:
        """BM25 strength of each memory, 0.0 for an unknown one."""
        ...

    def idf(self, terms: Sequence[str]) -> Sequence[float]:
        """log(1 + (N - df + 0.5) / (df + 0.5)) of each term over all memories held."""
        ...

    def put(self, rows: Sequence[Indexed]) -> None:
        """Add or replace."""
        ...

    def remove(self, ids: Sequence[str]) -> None: ...

    def clear(self) -> None: ...

    def lacking(self, *, limit: int) -> Sequence[str]:
        """Some ids without an embedding of the index's model."""
        ...

    @property
    def position(self) -> Position | None:
        """The moment of the vault it was last brought up to; None when empty."""
        ...

    @position.setter
    def position(self, moment: Position | None) -> None: ...

    def save(self) -> None:
        """Write the snapshot, if there is anywhere to write it. A crash leaves the old one."""
        ...
