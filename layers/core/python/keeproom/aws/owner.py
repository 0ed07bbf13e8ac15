"""Who vouches for the owner on AWS: a Cognito user pool, by its managed login."""

import json
from functools import cache
from typing import Any, cast
from urllib.parse import urlsplit

from botocore.exceptions import (  # pyright: ignore[reportMissingTypeStubs]
    BotoCoreError,
    ClientError,
)

from keeproom.aws.client import client
from keeproom.engines.loopback import is_loopback
from keeproom.engines.oidc import OidcProvider
from keeproom.errors import Unavailable, Unusable

SECRET = "OIDC_CLIENT_SECRET"


def open(
    issuer: str,
    client_id: str,
    *,
    secrets_arn: str,
    home: str,
    logout_url: str = "",
    endpoint: str | None = None,
) -> OidcProvider:
    """`secrets_arn`: a secret of Secrets Manager, a JSON object with `OIDC_CLIENT_SECRET` in it,
    which is read once, when somebody signs in. `home`: the vault's own address, below which the
    browser comes back; `endpoint`: another than the region's own. Asks nobody yet. Raises
    `Invalid`."""

    @cache
    def manager() -> Any:  # noqa: ANN401  boto3 makes the methods as it runs
        return client("secretsmanager", endpoint=endpoint, attempts=2)

    @cache
    def secret() -> str:
        return _secret(manager(), secrets_arn)

    @cache
    def found_at() -> str:
        """A pool in an emulator goes by the name it would have on AWS."""
        here = str(manager().meta.endpoint_url)
        pool = urlsplit(issuer).path
        return here + pool if is_loopback(here) else ""

    return OidcProvider(
        issuer,
        client_id,
        secret=secret,
        home=home,
        logout_url=logout_url,
        found_at=found_at,
    )


def _secret(manager: Any, arn: str) -> str:  # noqa: ANN401
    try:
        answer = manager.get_secret_value(SecretId=arn)
    except (BotoCoreError, ClientError) as error:
        raise Unavailable("The secret of the sign-in cannot be read.") from error
    finally:
        manager.close()
    try:
        kept = json.loads(answer["SecretString"])
    except (KeyError, ValueError):
        kept = None
    found = cast("dict[str, object]", kept).get(SECRET) if isinstance(kept, dict) else None
    if not isinstance(found, str) or not found:
        raise Unusable(f"The secret that SECRETS_ARN names holds no {SECRET}.")
    return found
