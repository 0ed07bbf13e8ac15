"""What became of an app's calls, for the owner to see: counted at hardly any cost."""

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

from keeproom.errors import Contended, Unavailable
from keeproom.oauth.authorization import Authorization
from keeproom.oauth.model import REFRESH, Change, Use

NOTED = timedelta(minutes=1)  # uses closer together than this count as one: no write a call
COUNTED = timedelta(seconds=1)  # the same for failures: a client that loops costs one write


def used(auth: Authorization, use: Use) -> None:
    """A call went well."""
    now = auth.clock()
    if use.last_used is None or use.failures or now - use.last_used >= NOTED:
        _note(auth, replace(use, last_used=now, failures=0))


def failed(auth: Authorization, use: Use, reason: str) -> None:
    """A call was refused. `reason`: in one word."""
    now = auth.clock()
    if use.last_failure is None or now - use.last_failure >= COUNTED:
        _note(auth, replace(use, failures=use.failures + 1, last_failure=now, reason=reason))


def _note(auth: Authorization, use: Use) -> None:
    """A count that is lost to another one, or to a busy store, is not worth failing a call."""
    kept = replace(use, expires=auth.clock() + REFRESH)
    with suppress(Contended, Unavailable):
        auth.grants.commit(Change(put=(kept,)))
