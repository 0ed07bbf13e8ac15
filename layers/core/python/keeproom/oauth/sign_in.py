"""The person signs in at a provider who vouches for them; whether it is the owner is decided here.

Between leaving and coming back nothing is kept but in the browser: whoever has not signed in must
not be able to fill a store, or to use up a limit that the owner needs.
"""

import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from keeproom.errors import Contended
from keeproom.oauth.addresses import folded, masked
from keeproom.oauth.authorization import Authorization
from keeproom.oauth.errors import NotAllowed, SignInFailed, TooMany
from keeproom.oauth.limits import checked, limited, neighbourhood
from keeproom.oauth.model import SIGN_IN, Change, Finished, Session, hashed
from keeproom.oauth.pkce import challenge_of
from keeproom.oauth.ports import Person, Provider
from keeproom.oauth.sessions import IDLE

MOST_FAILED = 30  # from one neighbourhood, within `SIGN_IN`: each costs a call to the provider
RECORDED = 60  # refusals in an hour: anybody can have many addresses vouched for


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """How the owner signs in. `owners`: the addresses that are let in, folded."""

    auth: Authorization
    provider: Provider
    owners: frozenset[str]

    def lets_in(self, address: str) -> bool:
        return folded(address) in self.owners


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What only the browser knows that has left for the provider. `back`: where it wants to go."""

    state: str
    nonce: str
    verifier: str
    begun: datetime
    back: str


@dataclass(frozen=True, slots=True)
class Entered:
    """`secret`: what the browser's cookie is to hold."""

    secret: str
    session: Session


def begin(sign_in: SignIn, *, back: str) -> Attempt:
    """A new attempt, with nothing in it that could be guessed."""
    return Attempt(
        state=secrets.token_urlsafe(32),
        nonce=secrets.token_urlsafe(32),
        verifier=secrets.token_urlsafe(48),
        begun=sign_in.auth.clock(),
        back=back,
    )


def entrance(sign_in: SignIn, attempt: Attempt, *, anew: bool = False) -> str:
    """Where the browser goes. `anew`: as `Provider.entrance` takes it. Raises `Unavailable`."""
    return sign_in.provider.entrance(
        state=attempt.state,
        nonce=attempt.nonce,
        challenge=challenge_of(attempt.verifier),
        anew=anew,
    )


def finish(sign_in: SignIn, attempt: Attempt, code: str, *, address: str) -> Entered:
    """A session for the owner, under a secret that no browser has held before. Once for an attempt.
    `address`: where the browser connects from. Raises `NotAllowed` for anybody else, who leaves
    nothing behind but an audit entry without their address; `SignInFailed` for everything that
    proves nobody; `TooMany` after too many of those; and `Unavailable`."""
    auth, where = sign_in.auth, f"sign_in:{neighbourhood(address)}"
    checked(auth, where, most=MOST_FAILED, within=SIGN_IN)
    now = auth.clock()
    until = attempt.begun + SIGN_IN
    if not attempt.begun - timedelta(minutes=5) <= now < until:
        raise SignInFailed("This took too long.")
    try:
        person = sign_in.provider.person(code, verifier=attempt.verifier, nonce=attempt.nonce)
        _check(sign_in, person)
    except SignInFailed as error:
        limited(auth, where, most=MOST_FAILED, within=SIGN_IN)
        _record(auth, error)
        raise
    secret = secrets.token_urlsafe(32)
    session = Session(
        id=hashed(secret),
        address=person.address,
        issuer=sign_in.provider.issuer,
        created=now,
        expires=now + IDLE,
    )
    finished = Finished(id=hashed(attempt.state), expires=until)
    entry = auth.audit("sign_in", masked(person.address), by="owner")
    try:
        auth.grants.commit(Change(put=(finished, session), entry=entry))
    except Contended:
        raise SignInFailed("This sign-in was finished already.") from None
    return Entered(secret, session)


def _check(sign_in: SignIn, person: Person) -> None:
    if not person.verified:
        raise NotAllowed("This address is not verified, so it opens nothing.", reason="unverified")
    if not sign_in.lets_in(person.address):
        raise NotAllowed("This is not an owner's address.", reason="not_allowed")


def _record(auth: Authorization, error: SignInFailed) -> None:
    if not error.reason:
        return
    with suppress(TooMany):
        limited(auth, "sign_in_refused", most=RECORDED, within=timedelta(hours=1))
        entry = auth.audit("sign_in_refused", error.reason, by="visitor")
        auth.grants.commit(Change(entry=entry))
