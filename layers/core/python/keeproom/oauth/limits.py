"""How often something may be done: counted in the store, since a process may be one of many."""

import hashlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from ipaddress import IPv6Address, ip_address
from math import ceil

from keeproom.oauth.authorization import Authorization, decided
from keeproom.oauth.errors import TooMany
from keeproom.oauth.model import Change, Count


def checked(auth: Authorization, what: str, *, most: int, within: timedelta) -> None:
    """Raises `TooMany` when there were `most` already, and counts nothing."""
    found = _counted(auth, what, within)
    if found.count >= most:
        raise _too_many(auth, found)


def limited(auth: Authorization, what: str, *, most: int, within: timedelta) -> None:
    """Count one more in the stretch of time that is running. Raises `TooMany` when there were
    `most` already."""

    def count() -> None:
        found = _counted(auth, what, within)
        if found.count >= most:
            raise _too_many(auth, found)
        auth.grants.commit(Change(put=(replace(found, count=found.count + 1),)))

    decided(auth, count)


def _counted(auth: Authorization, what: str, within: timedelta) -> Count:
    """The count of the stretch of time that is running."""
    now = auth.clock()
    begun = now - (now - datetime(2000, 1, 1, tzinfo=UTC)) % within
    name = f"{what}:{begun:%Y%m%dT%H%M%S}"
    return auth.grants.find(Count, name) or Count(id=name, count=0, expires=begun + within)


def _too_many(auth: Authorization, found: Count) -> TooMany:
    left = found.expires - auth.clock()
    return TooMany("Too many at once. Try again later.", retry_after=ceil(left.total_seconds()))


def neighbourhood(address: str) -> str:
    """What stands for whoever connects from an address, which itself is not kept: one who has an
    IPv6 address has the 2^64 beside it."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(found, IPv6Address):
        found = found.ipv4_mapped or IPv6Address(int(found) >> 64 << 64)
    return hashlib.sha256(str(found).encode()).hexdigest()[:16]
