"""Which vault a name means on this machine."""

from collections.abc import Callable

from keeproom.errors import NotFound
from keeproom.vault.vault import Vault

PERSONAL = "personal"


def only(vault: Vault) -> Callable[[str], Vault]:
    """There is one, and it is `personal`."""

    def named(name: str) -> Vault:
        if name != PERSONAL:
            raise NotFound("There is no vault of this name.", param="vault")
        return vault

    return named
