"""The authorization server: what its verbs need. The verbs are the modules beside this one."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from keeproom.clock import Clock, tries, utc_now
from keeproom.errors import Contended, Unavailable
from keeproom.ids import new_id
from keeproom.oauth.model import AuditEntry
from keeproom.oauth.ports import Documents, GrantStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorization:
    """`issuer`: the one address the server is known by, without a slash at its end: clients compare
    it as a text. `tries` counts the attempts at a contended decision."""

    grants: GrantStore
    documents: Documents
    issuer: str
    clock: Clock = utc_now
    tries: Callable[[], Iterator[int]] = tries

    @property
    def resource(self) -> str:
        """What tokens are for."""
        return f"{self.issuer}/mcp"

    def new_id(self, prefix: str) -> str:
        return new_id(prefix, self.clock())

    def audit(self, verb: str, subject: str, *, by: str, grant: str = "") -> AuditEntry:
        return AuditEntry(
            id=self.new_id("aud"),
            at=self.clock(),
            actor=by,
            verb=verb,
            subject=subject,
            grant=grant,
        )


def decided[T](auth: Authorization, decide: Callable[[], T]) -> T:
    """Decide again as long as the ground moves. Raises `Unavailable` when it never holds still."""
    for _ in auth.tries():
        try:
            return decide()
        except Contended:
            continue
    raise Unavailable("Too many changes at once. Nothing was stored by this one; try again.")
