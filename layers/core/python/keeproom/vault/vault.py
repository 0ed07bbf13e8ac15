"""A vault: the things its verbs need. The verbs are the modules beside this one."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from keeproom.clock import Clock, tries, utc_now
from keeproom.errors import Contended, Unavailable
from keeproom.ids import new_id
from keeproom.vault.model import Actor, AuditEntry, Profile
from keeproom.vault.ports import Embedder, MemoryStore, SearchIndex
from keeproom.vault.scoring import Scorer
from keeproom.vault.underway import Underway


@dataclass(frozen=True, slots=True, kw_only=True)
class Vault:
    """`profile` answers the thresholds of the embedder's model. `tries` counts the attempts at a
    contended decision and ends when patience does. `publish_later` tells a worker that a shared
    index is behind; without one, writes bring it up to date themselves."""

    memories: MemoryStore
    index: SearchIndex
    embedder: Embedder
    scorer: Scorer
    profile: Callable[[], Profile]
    clock: Clock = utc_now
    tries: Callable[[], Iterator[int]] = tries
    publish_later: Callable[[], None] | None = None
    underway: Underway = field(default_factory=Underway)

    def new_id(self, prefix: str) -> str:
        return new_id(prefix, self.clock())

    def audit(
        self, verb: str, subject: str, *, by: Actor, touched: tuple[str, ...] = ()
    ) -> AuditEntry:
        return AuditEntry(
            id=self.new_id("aud"),
            at=self.clock(),
            actor=by.name,
            grant=by.grant,
            verb=verb,
            subject=subject,
            touched=touched,
        )


def decided[T](vault: Vault, decide: Callable[[], T]) -> T:
    """Decide again as long as the ground moves. Raises `Unavailable` when it never holds still."""
    for _ in vault.tries():
        try:
            return decide()
        except Contended:
            continue
    raise Unavailable("Too many changes at once. Nothing was stored by this one; try again.")
