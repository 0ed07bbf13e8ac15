"""Removing what has expired: nothing relies on it, but it should not pile up."""

from contextlib import suppress
from datetime import datetime
from itertools import batched

from keeproom.errors import Contended
from keeproom.oauth.authorization import Authorization
from keeproom.oauth.model import (
    Change,
    Client,
    Code,
    Count,
    Finished,
    Grant,
    Noun,
    Pending,
    ServiceToken,
    Session,
    Token,
    Use,
    has_expired,
)
from keeproom.pages import every

_KINDS: tuple[type[Noun], ...] = (
    Pending,
    Code,
    Token,
    Count,
    Use,
    Grant,
    Client,
    Finished,
    Session,
    ServiceToken,
)
_AT_ONCE = 25


def clean_up(auth: Authorization, *, audit_before: datetime | None = None) -> int:
    """Remove what has expired and the audit's entries from before then, and count all of it.
    Whatever somebody changes meanwhile is left for the next time."""
    removed = auth.grants.cut_audit(audit_before) if audit_before else 0
    for kind in _KINDS:
        for some in batched(_expired(auth, kind), _AT_ONCE):
            with suppress(Contended):
                auth.grants.commit(Change(drop=some))
                removed += len(some)
    return removed


def _expired(auth: Authorization, kind: type[Noun]) -> list[Noun]:
    now = auth.clock()
    kept = every(lambda cursor: auth.grants.page(kind, cursor=cursor, limit=500))
    return [one for one in kept if has_expired(one, now)]
