"""How fast a service that limits its callers may be called."""

import random
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Condition
from time import monotonic

_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 16.0  # seconds


class Late(Exception):
    """No turn before the deadline."""


class Pace:
    """At most `most` calls at once. One that is held up halves the number and makes everybody
    wait, twice as long each time; each answer lets the number grow again. Whoever would have to
    wait beyond a deadline is told at once, so that nobody waits for a service that is known to be
    overrun. Safe for threads."""

    def __init__(self, most: int, *, jitter: Callable[[], float] = random.random) -> None:
        self._most, self._jitter = most, jitter
        self._limit, self._under_way = float(most), 0
        self._closed_until, self._held_up_at, self._streak = 0.0, 0.0, 0
        self._moved = Condition()

    @contextmanager
    def turn(self, until: float) -> Generator[None]:
        """Hold one of the places, from when there is one. `until`: of `monotonic`. Raises
        `Late`."""
        with self._moved:
            while (closed := self._closed_until - monotonic()) > 0 or self._is_full():
                left = until - monotonic()
                if left <= max(closed, 0):
                    raise Late
                self._moved.wait(closed if closed > 0 else left)
            self._under_way += 1
        try:
            yield
        finally:
            with self._moved:
                self._under_way -= 1
                self._moved.notify_all()

    def answered(self) -> None:
        with self._moved:
            self._limit = min(self._most, self._limit + 1 / self._limit)
            self._streak = 0
            self._moved.notify_all()

    def held_up(self, *, since: float) -> None:
        """`since`: when the call began, of `monotonic`. Calls that were under way together are
        held up together, and count once."""
        with self._moved:
            if since < self._held_up_at:
                return
            self._limit = max(1.0, self._limit / 2)
            pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**self._streak)
            self._streak = min(self._streak + 1, 16)
            self._held_up_at = monotonic()
            self._closed_until = self._held_up_at + pause * (0.5 + self._jitter() / 2)

    def _is_full(self) -> bool:
        return self._under_way >= int(self._limit)
