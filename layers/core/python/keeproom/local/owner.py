"""Who vouches for the owner, away from AWS: any OpenID Connect provider."""

from keeproom.engines.oidc import OidcProvider


def open(
    issuer: str,
    client_id: str,
    *,
    secret: str,
    home: str,
    logout_url: str = "",
    found_at: str = "",
) -> OidcProvider:
    """`home`: the vault's own address, below which the browser comes back; `found_at`: where the
    issuer's description lies, if not at the issuer. Asks nobody yet. Raises `Invalid`."""
    return OidcProvider(
        issuer,
        client_id,
        secret=lambda: secret,
        home=home,
        logout_url=logout_url,
        found_at=lambda: found_at,
    )
