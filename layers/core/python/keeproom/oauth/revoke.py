"""`/revoke` (RFC 7009): an app gives back what it has."""

from keeproom.oauth.authorization import Authorization, decided
from keeproom.oauth.grants import end
from keeproom.oauth.model import Change, Client, Grant, Kind, Token, hashed


def revoke(auth: Authorization, client: Client, token: str) -> None:
    """A refresh token ends its grant, an access token itself alone. What is unknown or another
    client's is left as it is, without a word: the answer must not tell which tokens exist."""

    def decide() -> None:
        found = auth.grants.find(Token, hashed(token))
        if found is None or found.client_id != client.id:
            return
        if found.kind is Kind.ACCESS:
            auth.grants.commit(Change(drop=(found,)))
            return
        grant = auth.grants.find(Grant, found.grant_id)
        if grant is not None:
            end(auth, grant, by=grant.actor, verb="disconnect")

    decided(auth, decide)
