"""Time, as a value that is passed in. Everything is UTC with milliseconds."""

import random
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import count

type Clock = Callable[[], datetime]


def utc_now() -> datetime:
    return to_millisecond(datetime.now(UTC))


def to_millisecond(at: datetime) -> datetime:
    """Cut to what is stored, so that a value written and read again is equal."""
    return at.replace(microsecond=at.microsecond // 1000 * 1000)


def iso(at: datetime) -> str:
    """`2026-11-30T13:49:37.123Z`: fixed width, so that texts sort as times do."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03}Z"


def from_iso(text: str) -> datetime:
    """Read what `iso` wrote. Raises `ValueError`."""
    return datetime.fromisoformat(text).astimezone(UTC)


def tries(patience: float = 10.0) -> Iterator[int]:
    """Count attempts, pausing a random, growing while before each but the first (5 ms doubling to
    200 ms), until `patience` seconds are over."""
    until, longest = time.monotonic() + patience, 0.005
    yield 1
    for attempt in count(2):
        time.sleep(random.uniform(0, longest))
        longest = min(longest * 2, 0.2)
        if time.monotonic() > until:
            return
        yield attempt
