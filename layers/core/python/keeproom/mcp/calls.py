"""Who is calling a tool, and what stands behind it."""

from collections.abc import Callable
from dataclasses import dataclass

from keeproom.errors import Invalid, NotFound
from keeproom.oauth.model import Caller, Permission
from keeproom.vault.model import Actor
from keeproom.vault.text import MAX_SOURCE, cleaned_source, without_controls
from keeproom.vault.vault import Vault
from keeproom.vault.work import Wake

LONGEST_NAME = 80  # characters of an app's name that memories carry
PERSONAL = "personal"
UNNAMED = "an unnamed app"
UNKNOWN_SOURCE = "agent"


def only(vault: Vault) -> Callable[[str], Vault]:
    """There is one vault, and its name is `personal`."""

    def named(name: str) -> Vault:
        if name != PERSONAL:
            raise NotFound("There is no vault of this name.", param="vault")
        return vault

    return named


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """`vaults`: the vault of a name; raises `NotFound`. `wake`: tell the background worker that
    there is work. `import_seconds`: how long an import may take within its call."""

    vaults: Callable[[str], Vault]
    wake: Wake = lambda task: None
    import_seconds: float = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a tool, by an app whose permissions allow it."""

    served: Served
    vault: Vault
    caller: Caller

    @property
    def app(self) -> str:
        """The app's name as memories and the audit carry it: one line, nothing hidden."""
        name = cleaned_source(without_controls(self.caller.client_name)[:LONGEST_NAME])
        return name or UNNAMED

    @property
    def by(self) -> Actor:
        return Actor(f"mcp:{self.app}", grant=self.caller.grant_id)

    @property
    def may_read(self) -> bool:
        return Permission.READ in self.caller.permissions

    @property
    def only_proposes(self) -> bool:
        return Permission.WRITE not in self.caller.permissions

    def sourced(self, source: str | None) -> str:
        """`<source> (via <app>)`. Raises `Invalid` when that is longer than a source may be."""
        via = f" (via {self.app})"
        told = cleaned_source(source or "") or UNKNOWN_SOURCE
        if len(told) + len(via) > MAX_SOURCE:
            raise Invalid(
                f"The field `source` has {len(told)} characters and at most "
                f"{MAX_SOURCE - len(via)} are taken: shorten it.",
                param="source",
            )
        return told + via

    def request(self, request_id: str | None) -> str:
        """An idempotency key of this app's own: another's may be the same by chance."""
        return f"{self.caller.grant_id or self.app}/{request_id}" if request_id else ""
