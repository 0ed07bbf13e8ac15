"""Prefixed, URL-safe identifiers that sort by the time they were made: `mem_...`, `bat_...`."""

import secrets
from datetime import datetime
from threading import Lock

_turn = Lock()
_last = 0


def new_id(prefix: str, at: datetime) -> str:
    """13 hex digits of microseconds, then 48 random bits. Those made in one process sort in the
    order they were made, even in the same millisecond."""
    return f"{prefix}_{_tick(int(at.timestamp() * 1000) * 1000):013x}{secrets.token_hex(6)}"


def _tick(microseconds: int) -> int:
    """The time, or the next free moment after the last one when that is at most a minute ahead: a
    clock that was set back further is followed."""
    global _last  # noqa: PLW0603  one clock a process
    with _turn:
        ahead = _last - microseconds
        _last = _last + 1 if 0 <= ahead < 60_000_000 else microseconds
        return _last
