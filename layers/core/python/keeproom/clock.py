"""Time, as a value that is passed in. Everything is UTC with milliseconds."""

from collections.abc import Callable
from datetime import UTC, datetime

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
