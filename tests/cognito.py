"""A user pool of Cognito in the emulator, and its login page as a person uses it."""

import html
import re
import uuid
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

import httpx

from tests.dynamo import emulator

PASSWORD = "Correct-Horse-Battery-9"
REGION = "eu-west-1"


def person(cognito: Any, pool: str, address: str, *, verified: bool = True) -> None:
    """Somebody whom an administrator has let in, and who has a password."""
    attributes = {"email": address, "email_verified": str(verified).lower()}
    cognito.admin_create_user(
        UserPoolId=pool,
        Username=address,
        UserAttributes=[{"Name": name, "Value": value} for name, value in attributes.items()],
        MessageAction="SUPPRESS",
        TemporaryPassword=PASSWORD,
    )
    cognito.admin_set_user_password(
        UserPoolId=pool, Username=address, Password=PASSWORD, Permanent=True
    )


@dataclass(frozen=True, kw_only=True)
class Pool:
    """`issuer`: what it calls itself, which is its name on AWS; `place`: where it really is."""

    cognito: Any
    id: str
    issuer: str
    place: str
    logout_url: str

    def person(self, address: str, *, verified: bool = True) -> str:
        """Somebody whom an administrator has let in."""
        person(self.cognito, self.id, address, verified=verified)
        return address

    def client(self, home: str) -> tuple[str, str]:
        """Id and secret of an app client for the vault at this address."""
        made = self.cognito.create_user_pool_client(
            UserPoolId=self.id,
            ClientName=uuid.uuid4().hex,
            GenerateSecret=True,
            AllowedOAuthFlows=["code"],
            AllowedOAuthFlowsUserPoolClient=True,
            AllowedOAuthScopes=["openid", "email"],
            CallbackURLs=[f"{home}/auth/callback"],
            LogoutURLs=[f"{home}/auth/signed-out"],
            SupportedIdentityProviders=["COGNITO"],
        )["UserPoolClient"]
        return made["ClientId"], made["ClientSecret"]


@contextmanager
def new_pool(endpoint: str) -> Generator[Pool]:
    with closing(emulator.aws(endpoint, "cognito-idp")) as cognito:
        name = f"test-{uuid.uuid4().hex}"
        made = cognito.create_user_pool(PoolName=name, UsernameAttributes=["email"])
        pool = made["UserPool"]["Id"]
        yield Pool(
            cognito=cognito,
            id=pool,
            issuer=f"https://cognito-idp.{REGION}.amazonaws.com/{pool}",
            place=f"{endpoint}/{pool}",
            logout_url=f"{endpoint}/logout",
        )


def logs_in(entrance: str, address: str, password: str = PASSWORD) -> httpx.Response:
    """Fill in the login page that the address leads to, and press the button."""
    with httpx.Client(trust_env=False) as web:
        page = web.get(entrance)
        assert page.status_code == 200, page.text
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page.text))
        form = {name: html.unescape(value) for name, value in hidden.items()}
        form |= {"username": address, "password": password}
        return web.post(urljoin(entrance, "/login"), data=form)
