"""Long and late work on one machine: a thread that goes on with what is left to do."""

import logging
from collections.abc import Callable
from threading import Event, Thread
from time import monotonic

from keeproom.errors import Unavailable, VaultError
from keeproom.vault import imports
from keeproom.vault.vault import Vault
from keeproom.vault.work import STEP, Task, index_step, work

TICK = 5.0  # seconds between looks at the queue when nobody asks
UPKEEP_EVERY = 86_400.0  # seconds
SNAPSHOT_EVERY = 60.0  # seconds; what a forget removed leaves the snapshot by then
_log = logging.getLogger(__name__)


class Worker:
    """Works off imports, the index queue and missing embeddings, and keeps the snapshot of the
    index fresh. `prepare` is run first, once; `upkeep` then and every day. Whatever fails is tried
    again at the next tick: what is to be done lies in the store."""

    def __init__(
        self,
        vault: Vault,
        *,
        prepare: Callable[[], object] = lambda: None,
        upkeep: Callable[[], object] = lambda: None,
    ) -> None:
        self._vault, self._prepare, self._upkeep = vault, prepare, upkeep
        self._awake, self._stopped = Event(), Event()
        self._told: dict[Task, None] = {}
        self._saved, self._kept_up = monotonic(), float("-inf")
        self._thread = Thread(target=self._run, name="keeproom-worker", daemon=True)

    def start(self) -> None:
        self._awake.set()
        self._thread.start()

    def wake(self, task: Task) -> None:
        """Go on with it now. One that waits already is not done twice."""
        self._told[task] = None
        self._awake.set()

    def stop(self, *, patience: float = 10.0) -> None:
        """End after the step in hand, and write the snapshot."""
        self._stopped.set()
        self._awake.set()
        self._thread.join(patience)
        self._try("save the index", self._vault.index.save)

    def _run(self) -> None:
        self._step("prepare", self._prepare)
        self._step("go on with imports", self._left_behind)
        while not self._stopped.is_set():
            self._awake.wait(TICK)
            self._awake.clear()
            self._step("go on with imports", self._told_of)
            self._step("work off the index queue", self._index)
            if monotonic() - self._kept_up > UPKEEP_EVERY:
                self._kept_up = monotonic()
                self._step("remove what has expired", self._upkeep)

    def _left_behind(self) -> None:
        """By a process that was stopped."""
        while not self._stopped.is_set() and imports.resume(self._vault, seconds=STEP):
            pass

    def _told_of(self) -> None:
        """A fault leaves the task for the next tick."""
        for task in list(self._told):
            if self._stopped.is_set():
                return
            self._told.pop(task, None)
            try:
                work(self._vault, task, seconds=STEP, again=self.wake)
            except Unavailable:
                self._told[task] = None
                raise

    def _index(self) -> None:
        while not self._stopped.is_set() and index_step(self._vault):
            pass
        if monotonic() - self._saved > SNAPSHOT_EVERY:
            self._vault.index.save()
            self._saved = monotonic()

    def _step(self, what: str, step: Callable[[], object]) -> None:
        if not self._stopped.is_set():
            self._try(what, step)

    def _try(self, what: str, step: Callable[[], object]) -> None:
        """A fault of the store or the model must not end the thread: it may be gone next time."""
        try:
            step()
        except (VaultError, OSError) as error:
            _log.warning("could not %s: %s", what, type(error).__name__)
