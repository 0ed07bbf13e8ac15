"""The owner's door of any vault, without the cost of making its routes anew for every test."""

from functools import cache
from typing import Any, cast

from fastapi import FastAPI

from keeproom.api import build_app
from keeproom.oauth.authorization import Authorization
from keeproom.oauth.sign_in import SignIn
from keeproom.vault.vault import Vault

OWNER = "owner@localhost"


def application(
    vault: Vault,
    *,
    owner: str = OWNER,
    public_url: str = "",
    authorization: Authorization | None = None,
    sign_in: SignIn | None = None,
    **more: Any,
) -> FastAPI:
    """As `build_app` makes it; the routes are those of the first one with the same doors, which
    took a tenth of a second to answer each of them for the first time."""
    made = build_app(
        vault,
        owner=owner,
        public_url=public_url,
        authorization=authorization,
        sign_in=sign_in,
        **more,
    )
    first = _first(authorization is not None, sign_in is not None, public_url)
    made.router, made.middleware_stack = first.router, first.middleware_stack
    return made


@cache
def _first(lets_in: bool, signs_in: bool, public_url: str) -> FastAPI:  # noqa: FBT001
    something = cast("Any", object())
    made = build_app(
        something,
        owner="",
        public_url=public_url,
        authorization=something if lets_in else None,
        sign_in=something if signs_in else None,
    )
    made.middleware_stack = made.build_middleware_stack()
    return made
