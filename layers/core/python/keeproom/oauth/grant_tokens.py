"""`/token`: which client is there, what it comes with, and how often.

A client that is refused for coming too often is told when to come again, in the RFC's own word for
a server that is busy: any other error would send it to sign in anew, and round in a circle.
"""

from datetime import timedelta

from keeproom.oauth.authenticate import authenticate
from keeproom.oauth.authorization import Authorization
from keeproom.oauth.errors import OAuthError, TooMany, UnsupportedGrantType
from keeproom.oauth.exchange import exchange
from keeproom.oauth.limits import checked, limited, neighbourhood
from keeproom.oauth.model import Client, hashed
from keeproom.oauth.parameters import Parameters
from keeproom.oauth.refresh import refresh
from keeproom.oauth.tokens import Issued

WITHIN = timedelta(minutes=10)
MOST_REFUSED = 100  # from one neighbourhood: guessing, or a client in a loop
MOST_ISSUED = 120  # to one client: it needs one an hour, for each program that goes by its name


def grant_tokens(auth: Authorization, header: str, asked: Parameters, *, address: str) -> Issued:
    """`header`: the request's `Authorization`; `address`: where the client connects from. Raises
    `OAuthError`, as every part does."""
    where = f"token_refused:{neighbourhood(address)}"
    checked(auth, where, most=MOST_REFUSED, within=WITHIN)
    try:
        client = authenticate(auth, header, asked)
        limited(auth, f"token:{hashed(client.id)[:32]}", most=MOST_ISSUED, within=WITHIN)
        return _issued(auth, client, asked)
    except TooMany:
        raise
    except OAuthError:
        limited(auth, where, most=MOST_REFUSED, within=WITHIN)
        raise


def _issued(auth: Authorization, client: Client, asked: Parameters) -> Issued:
    match asked.needed("grant_type"):
        case "authorization_code":
            return exchange(auth, client, asked)
        case "refresh_token":
            return refresh(auth, client, asked)
        case _:
            raise UnsupportedGrantType("Use authorization_code or refresh_token.")
