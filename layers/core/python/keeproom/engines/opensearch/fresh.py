"""Which memories the collection may not show yet."""

from collections.abc import Callable, Iterable
from threading import Lock

SHOWN = 60.0  # seconds until the collection shows a write; it says ten


class Fresh:
    """Memories count as fresh from when they are seen to change until the collection must show
    them: they have been off the index queue for `shown` seconds. `seconds` is a clock that only
    runs forwards."""

    def __init__(self, *, seconds: Callable[[], float], shown: float = SHOWN) -> None:
        self._seconds, self._shown = seconds, shown
        self._lock = Lock()
        self._off_queue_since: dict[str, float | None] = {}
        self._looked = float("-inf")

    def add(self, ids: Iterable[str]) -> None:
        with self._lock:
            self._off_queue_since |= dict.fromkeys(ids)

    def remove(self, ids: Iterable[str]) -> None:
        with self._lock:
            for one in ids:
                self._off_queue_since.pop(one, None)

    def forget(self) -> None:
        """Begin anew: nothing is known, and the queue should be looked at."""
        with self._lock:
            self._off_queue_since.clear()
            self._looked = float("-inf")

    @property
    def wants_queue(self) -> bool:
        """Whether a look at the queue would tell anything new."""
        with self._lock:
            never = self._looked == float("-inf")
            due = self._seconds() - self._looked >= self._shown
            return never or (due and bool(self._off_queue_since))

    def queue(self, waiting: frozenset[str]) -> None:
        """What lies on the queue now."""
        with self._lock:
            now = self._looked = self._seconds()
            kept: dict[str, float | None] = dict.fromkeys(waiting)
            for one, since in self._off_queue_since.items():
                if one not in waiting and (since is None or now - since < self._shown):
                    kept[one] = now if since is None else since
            self._off_queue_since = kept

    @property
    def ids(self) -> frozenset[str]:
        with self._lock:
            return frozenset(self._off_queue_since)
