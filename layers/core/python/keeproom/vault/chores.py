"""Work that nobody waits for, done for as long as there is time. What is left stays in the store,
so that it can be stopped anywhere, done twice, or by several at once."""

import logging
from collections.abc import Callable

from keeproom.vault import imports as imported
from keeproom.vault import jobs
from keeproom.vault.vault import Vault

STEP = 1.0  # seconds of an import in one go

type Left = Callable[[], float]  # seconds that are left, now
_log = logging.getLogger(__name__)


def imports(vault: Vault, left: Left) -> bool:
    """Go on with undos and imports. Whether all is done. Raises `Unavailable`."""
    while left() > 0:
        if not imported.resume(vault, seconds=min(STEP, left())):
            return True
    return False


def index(vault: Vault, left: Left) -> bool:
    """Work off the index queue, then embed what lacks an embedding. Whether all is done. Raises
    `Unavailable`."""
    while left() > 0:
        if not jobs.work_off(vault, limit=64) and not jobs.embed_lacking(vault):
            return True
    return False


def tell_lag(vault: Vault) -> None:
    """Log how many memories wait for their index entry."""
    waiting = jobs.lag(vault)
    _log.info(
        "waiting for the index: %d", waiting, extra={"event": "index_lag", "waiting": waiting}
    )
