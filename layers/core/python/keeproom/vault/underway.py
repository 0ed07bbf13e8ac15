"""What one process is about at a vault, and no other needs to know."""

from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

from keeproom.vault.model import Job


@dataclass(slots=True)
class Underway:
    """`catching_up`: held by who changes the index. Safe for threads."""

    catching_up: Lock = field(default_factory=Lock)
    _lock: Lock = field(default_factory=Lock)
    _written: Counter[str] = field(default_factory=Counter[str])
    _done: list[Job] = field(default_factory=list[Job])

    @contextmanager
    def writing(self, ids: Iterable[str]) -> Generator[bool]:
        """Around a commit that changes these memories, until the index has it. Whether nobody else
        was about one of them when it began: of several the first is told so, and no other."""
        mine = set(ids)
        with self._lock:
            alone = not any(self._written[one] for one in mine)
            self._written.update(mine)
        try:
            yield alone
        finally:
            with self._lock:
                self._written.subtract(mine)
                for one in mine:
                    if not self._written[one]:
                        del self._written[one]

    def done(self, jobs: Sequence[Job]) -> None:
        """They can be taken off the queue, when it costs nobody a wait. Should the process end
        before, they are found there and done again."""
        with self._lock:
            self._done += jobs

    def take(self) -> list[Job]:
        """The jobs that can be taken off the queue; from now on they are the caller's care."""
        with self._lock:
            done, self._done = self._done, []
        return done
