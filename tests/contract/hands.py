"""People at a vault, on any table, and the verbs that most tests need, in few words."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count

from keeproom.clock import Clock, tries
from keeproom.engines.item_store import layout
from keeproom.engines.item_store.store import ItemMemoryStore
from keeproom.engines.item_store.table import Table
from keeproom.vault import edit as editing
from keeproom.vault import forget as forgetting
from keeproom.vault import imports
from keeproom.vault.batch import Batch, ImportItem
from keeproom.vault.change import Change
from keeproom.vault.kin import embedding, encoded
from keeproom.vault.model import OWNER, Actor, ApprovalMode, AuditEntry, Embedding, Memory, Settings
from keeproom.vault.ports import SearchIndex
from keeproom.vault.remember import remember
from keeproom.vault.vault import Vault
from tests.embedders import WordEmbedder
from tests.vaults import vault_on

AGENT = Actor("mcp:Claude")  # whose words wait for the owner in review mode


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """Somebody at the vault `name` of the table, with an index of their own."""

    table: Table
    name: str
    store: ItemMemoryStore
    vault: Vault
    embedder: WordEmbedder
    clock: Clock

    @property
    def partition(self) -> str:
        """Where the vault's things lie in the table."""
        return layout.partition(self.name, self.store.head().generation)

    def audit(self, verb: str, subject: str, *touched: str) -> AuditEntry:
        return self.vault.audit(verb, subject, by=OWNER, touched=touched)


def hand_on(
    table: Table,
    name: str = "",
    *,
    auto: bool | None = None,
    clock: Clock | None = None,
    embedder: WordEmbedder | None = None,
    settling: float = 0.0,
    patience: float = 60.0,
    index: Callable[[], SearchIndex] | None = None,
) -> Hand:
    """At a new vault, or at the one that is named. `auto`: what is remembered needs no approval;
    None leaves it as it is, and is True for a new vault. `patience`: seconds until who meets
    others is told so, which the busiest machine must not reach."""
    auto = not name if auto is None else auto
    name, clock = name or uuid.uuid4().hex, clock or ticking()
    embedder = embedder or WordEmbedder()
    store = ItemMemoryStore(table, name, clock=clock, settling=settling, patience=patience)
    vault = vault_on(store, embedder, clock=clock, index=index() if index else None)
    vault = replace(vault, tries=partial(tries, patience))
    hand = Hand(table=table, name=name, store=store, vault=vault, embedder=embedder, clock=clock)
    if auto:  # with no trace in the audit, so that tests can count what they do
        mode = Settings(approval_mode=ApprovalMode.AUTO, revision=1)
        table.load([layout.settings_item(hand.partition, mode)])
    return hand


def ticking(start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> Clock:
    """A clock that goes on by a millisecond whenever it is read."""
    ticks = count()
    return lambda: start + timedelta(milliseconds=next(ticks))


def say(hand: Hand, text: str, *, supersedes: str = "", request_id: str = "") -> Memory:
    """The memory that says it now."""
    return remember(
        hand.vault,
        ImportItem(content=text),
        by=AGENT,
        supersedes=supersedes,
        request_id=request_id,
    ).memory


def reword(hand: Hand, memory_id: str, text: str) -> Memory:
    return editing.edit(hand.vault, memory_id, editing.Edit(content=text), revision=None, by=OWNER)


def forget(hand: Hand, memory_id: str) -> None:
    forgetting.forget(hand.vault, memory_id, by=OWNER)


def note(hand: Hand, subject: str, *touched: str) -> None:
    """One more entry in the audit, and nothing else."""
    change = Change(audit=hand.audit("note", subject, *touched))
    hand.store.commit(change, seen=hand.store.look())


def bring(hand: Hand, *texts: str) -> Batch:
    """A finished import."""
    batch = imports.begin(hand.vault, [ImportItem(content=text) for text in texts], by=OWNER)
    return imports.carry_on(hand.vault, batch.id)


def embedded(hand: Hand, memory_id: str, text: str) -> Embedding:
    """What the model makes of the text."""
    made = encoded(hand.vault, [text])
    assert made
    return embedding(hand.vault, memory_id, text, made[0])
