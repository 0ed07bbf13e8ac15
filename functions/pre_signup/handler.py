"""Asked by Cognito before anybody gets an account: only the owner's addresses do."""

from typing import Any

from keeproom.aws.watched import watched
from keeproom.oauth.addresses import folded
from keeproom.settings import read_settings

_owners = read_settings().owners


class NotInvited(Exception):
    """The address is not on the list."""


def pre_signup(event: dict[str, Any], context: object) -> dict[str, Any]:
    address = event["request"]["userAttributes"].get("email", "")
    if folded(address) not in _owners:
        raise NotInvited
    return event


handler = watched(pre_signup)
