"""Work that nobody waits for: told of by a small message, done in steps that lie in the store."""

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from keeproom.errors import Invalid, NotFound
from keeproom.vault import imports, jobs, rebuild
from keeproom.vault.batch import BatchState
from keeproom.vault.model import Actor
from keeproom.vault.vault import Vault

_log = logging.getLogger(__name__)

STEP = 1.0  # seconds of an import between two looks at the time


class Kind(StrEnum):
    IMPORT = "import"
    INDEX = "index"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is to be gone on with. `id`: of the batch, empty for the index. Nothing of it is lost
    when the task is: what is to be done lies in the store."""

    kind: Kind
    id: str = ""


type Wake = Callable[[Task], None]


def import_of(batch_id: str) -> Task:
    return Task(kind=Kind.IMPORT, id=batch_id)


INDEX = Task(kind=Kind.INDEX)


def message_of(task: Task) -> str:
    return json.dumps({"kind": task.kind, "id": task.id})


def task_of(message: str) -> Task:
    """Raises `Invalid` for anything that `message_of` has not written."""
    try:
        told = json.loads(message)
        kind, id = Kind(told["kind"]), told["id"]
    except (ValueError, TypeError, LookupError, RecursionError):
        raise Invalid("This is no message about work to do.") from None
    if not isinstance(id, str) or bool(id) is (kind is Kind.INDEX):
        raise Invalid("This message does not say what to work on.")
    return Task(kind=kind, id=id)


def work(vault: Vault, task: Task, *, seconds: float, again: Wake) -> None:
    """Go on with the task for about `seconds`, and tell `again` of it when something is left. Any
    number of workers may do so, twice, at once and in any order; a crash loses the step in hand,
    which is done anew. A batch that is not there any more is done. Raises `Unavailable`."""
    until = vault.clock() + timedelta(seconds=seconds)
    while vault.clock() < until:
        if not _step(vault, task, most=min(STEP, seconds)):
            return
    again(task)


def left_over(vault: Vault, left: Callable[[], float]) -> bool:
    """Go on with what nobody was told of: undos and imports of a process that is gone, then the
    index, as long as `left` says that there are seconds. Whether all is done. Raises
    `Unavailable`."""
    while left() > 0:
        if not imports.resume(vault, seconds=min(STEP, left())):
            break
    while left() > 0:
        if not index_step(vault):
            return True
    return False


def tell_lag(vault: Vault) -> None:
    """Log how many memories wait for their index entry."""
    waiting = jobs.lag(vault)
    _log.info(
        "waiting for the index: %d", waiting, extra={"event": "index_lag", "waiting": waiting}
    )


def _step(vault: Vault, task: Task, *, most: float) -> bool:
    """Whether there may be more to do."""
    if task.kind is Kind.INDEX:
        return index_step(vault)
    try:
        batch = imports.carry_on(vault, task.id, seconds=most)
    except NotFound:
        return False
    if batch.state is BatchState.UNDOING:
        imports.undo(vault, task.id, by=Actor("resume"))
    return batch.state is BatchState.RUNNING


def index_step(vault: Vault) -> bool:
    """Work off what is due, or else go on with making the index anew, or embed some of what lacks
    an embedding. Whether anything was done."""
    return bool(
        jobs.work_off(vault, limit=64) or rebuild.carry_on(vault) or jobs.embed_lacking(vault)
    )
