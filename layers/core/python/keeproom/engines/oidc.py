"""Any OpenID Connect provider as the one who vouches for the owner: code flow with PKCE, the code
exchanged from here, never in the browser."""

from collections.abc import Callable, Mapping
from functools import cached_property
from ssl import SSLContext
from time import monotonic
from typing import Any, cast
from urllib.parse import quote, urlsplit

import httpx

from keeproom.engines.id_token import claims_of
from keeproom.engines.loopback import is_loopback
from keeproom.engines.signing_keys import SigningKeys
from keeproom.errors import Invalid, Unavailable
from keeproom.oauth.errors import SignInFailed
from keeproom.oauth.ports import Person
from keeproom.oauth.redirects import with_query

CALLBACK = "/auth/callback"
SIGNED_OUT = "/auth/signed-out"
_PATIENCE = httpx.Timeout(5.0, connect=3.0)
_LARGEST = 256_000  # bytes of an answer
_AGAIN = 3600.0  # seconds until the provider's description is read again


def is_trusted_address(url: str) -> bool:
    """Whether what is sent there cannot be read on the way: https, or this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(url)))


class OidcProvider:
    """`Provider`. `home`: the vault's own address; `secret`: read when it is first needed;
    `logout_url`: a place that ends the session as Cognito's does, where the provider's description
    names none; `found_at`: where that description lies, if not at the issuer. Raises `Invalid` for
    an address that others could listen in on. Safe for threads."""

    def __init__(
        self,
        issuer: str,
        client_id: str,
        *,
        secret: Callable[[], str],
        home: str,
        logout_url: str = "",
        found_at: Callable[[], str] = lambda: "",
        ticks: Callable[[], float] = monotonic,
    ) -> None:
        for name, url in (("OIDC_ISSUER", issuer), ("OIDC_LOGOUT_URL", logout_url or issuer)):
            if not is_trusted_address(url):
                raise Invalid(f"{name} must be an https address.", param=name)
        self._issuer, self._client_id, self._secret = issuer, client_id, secret
        self._home, self._logout_url, self._found_at = home, logout_url, found_at
        self._ticks = ticks
        self._keys = SigningKeys(read=lambda: self._get(self._place("jwks_uri")), ticks=ticks)
        self._description: tuple[float, Mapping[str, Any]] | None = None

    @property
    def issuer(self) -> str:
        return self._issuer

    def entrance(self, *, state: str, nonce: str, challenge: str, anew: bool = False) -> str:
        asked = {
            "response_type": "code",
            "client_id": self._client_id,
            "redirect_uri": self._home + CALLBACK,
            "scope": "openid email",
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            **({"prompt": "select_account"} if anew else {}),
        }
        return with_query(self._place("authorization_endpoint"), asked)

    def person(self, code: str, *, verifier: str, nonce: str) -> Person:
        given = self._exchanged(code, verifier)
        claims = claims_of(
            str(given.get("id_token", "")),
            keys=self._keys,
            issuer=str(self._described()["issuer"]),
            client_id=self._client_id,
            nonce=nonce,
        )
        if "email" not in claims:
            claims = {**claims, **self._more(claims, str(given.get("access_token", "")))}
        return Person(
            subject=str(claims["sub"]),
            address=str(claims.get("email", "")),
            # As a text where a provider keeps all attributes as texts.
            verified=claims.get("email_verified") in (True, "true"),
        )

    def exit(self) -> str:
        back = self._home + SIGNED_OUT
        if self._logout_url:
            return with_query(self._logout_url, {"client_id": self._client_id, "logout_uri": back})
        place = self._described().get("end_session_endpoint")
        if not isinstance(place, str) or not is_trusted_address(place):
            return ""
        asked = {"client_id": self._client_id, "post_logout_redirect_uri": back}
        return with_query(place, asked)

    def _exchanged(self, code: str, verifier: str) -> Mapping[str, Any]:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._home + CALLBACK,
            "code_verifier": verifier,
        }
        client_id, secret = self._client_id, self._secret()
        ways = self._described().get("token_endpoint_auth_methods_supported")
        basic = not isinstance(ways, list) or "client_secret_basic" in ways
        if not basic:
            form |= {"client_id": client_id, "client_secret": secret}
        # Both halves are percent-encoded (RFC 6749, 2.3.1).
        auth = httpx.BasicAuth(quote(client_id, safe=""), quote(secret, safe="")) if basic else None
        answer = self._sent("POST", self._place("token_endpoint"), data=form, auth=auth)
        if answer.status_code in (400, 401, 403):
            raise _refusal(answer)
        return _object(answer)

    def _more(self, claims: Mapping[str, Any], access_token: str) -> Mapping[str, Any]:
        """The address, from the provider that has it only for those who ask."""
        if "userinfo_endpoint" not in self._described():
            return {}
        place = self._place("userinfo_endpoint")
        found = self._get(place, {"Authorization": f"Bearer {access_token}"})
        if found.get("sub") != claims["sub"]:
            raise SignInFailed("The sign-in service speaks of two people.", reason="bad_token")
        return {name: found[name] for name in ("email", "email_verified") if name in found}

    def _place(self, name: str) -> str:
        found = self._described().get(name)
        if isinstance(found, str) and is_trusted_address(found):
            return found
        raise Unavailable(f"The sign-in service does not say where its {name} is.")

    def _described(self) -> Mapping[str, Any]:
        """What the provider says of itself: kept for an hour, and longer while it is silent."""
        kept, now = self._description, self._ticks()
        if kept is not None and now - kept[0] < _AGAIN:
            return kept[1]
        at = (self._found_at() or self._issuer).rstrip("/")
        try:
            found = self._get(f"{at}/.well-known/openid-configuration")
        except Unavailable:
            if kept is None:
                raise
            return kept[1]
        # Some providers' names end in a slash that people leave out.
        if str(found.get("issuer")).rstrip("/") != self._issuer.rstrip("/"):
            raise Unavailable("OIDC_ISSUER is not what the sign-in service calls itself.")
        self._description = (now, found)
        return found

    def _get(self, url: str, headers: Mapping[str, str] | None = None) -> Mapping[str, Any]:
        return _object(self._sent("GET", url, headers=headers))

    def _sent(
        self,
        method: str,
        url: str,
        *,
        data: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        auth: httpx.BasicAuth | None = None,
    ) -> httpx.Response:
        try:
            with self._web() as web:
                return web.request(method, url, data=data, headers=headers, auth=auth)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unavailable("The sign-in service does not answer.") from error

    def _web(self) -> httpx.Client:
        """For one call: sign-ins are too rare to keep a connection for."""
        return httpx.Client(
            verify=self._certificates,
            timeout=_PATIENCE,
            follow_redirects=False,
            trust_env=False,
            headers={"Accept": "application/json"},
        )

    @cached_property
    def _certificates(self) -> SSLContext:
        """Those of the system, read when they are needed: that takes a while."""
        return httpx.create_ssl_context(trust_env=False)


def _refusal(answer: httpx.Response) -> SignInFailed | Unavailable:
    """The code may be anybody's fault; everything else is the fault of the settings."""
    try:
        refused = cast("object", answer.json())
    except (ValueError, RecursionError):
        refused = None
    if isinstance(refused, dict) and "invalid_grant" in cast("dict[str, Any]", refused).values():
        return SignInFailed("The sign-in service did not take the code.")
    return Unavailable(
        "The sign-in service refuses this vault: OIDC_CLIENT_ID or its secret may be wrong."
    )


def _object(answer: httpx.Response) -> Mapping[str, Any]:
    """Raises `Unavailable` for anything but a JSON object."""
    try:
        content = answer.json() if len(answer.content) <= _LARGEST else None
    except (ValueError, RecursionError):
        content = None
    if answer.status_code != 200 or not isinstance(content, dict):
        raise Unavailable("The sign-in service does not answer as it should.")
    return cast("dict[str, Any]", content)
