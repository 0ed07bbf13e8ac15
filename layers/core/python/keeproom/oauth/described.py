"""What a client says of itself, in a registration or in its own document: one reading of both."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from keeproom.oauth import redirects
from keeproom.oauth.errors import InvalidClientMetadata
from keeproom.oauth.model import AuthMethod

LONGEST_NAME = 60
MOST_REDIRECTS = 20
UNNAMED = "Unnamed app"

_SUPPORTED = "token_endpoint_auth_methods_supported"
_HIDDEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}  # Unicode categories nobody can see


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """`name`: empty when there is none. `flagged`: hidden characters were taken out of it.
    `auth_method`: None when it names none."""

    name: str
    flagged: bool
    redirect_uris: tuple[str, ...]
    auth_method: AuthMethod | None


def described(content: Mapping[str, object]) -> Described:
    """Fields we have no use for are ignored. Raises `InvalidClientMetadata` or
    `InvalidRedirectUri`."""
    _check_list(content, "grant_types", needs="authorization_code")
    _check_list(content, "response_types", needs="code")
    name = content.get("client_name", "")
    if not isinstance(name, str):
        raise InvalidClientMetadata("client_name must be a text.")
    visible = visible_name(name)
    return Described(
        name=visible,
        flagged=any(unicodedata.category(one) in _HIDDEN for one in name),
        redirect_uris=_redirect_uris(content),
        auth_method=_auth_method(content),
    )


def visible_name(name: str) -> str:
    """On one line, without hidden characters, at most `LONGEST_NAME` characters."""
    seen = (one for one in name if one.isspace() or unicodedata.category(one) not in _HIDDEN)
    line = " ".join("".join(seen).split())
    return line if len(line) <= LONGEST_NAME else line[: LONGEST_NAME - 1].rstrip() + "…"


def _texts(content: Mapping[str, object], field: str) -> Sequence[str]:
    value = content.get(field)
    if value is None:
        return ()
    if isinstance(value, list):
        found = cast("list[object]", value)
        texts = [one for one in found if isinstance(one, str)]
        if len(texts) == len(found):
            return texts
    raise InvalidClientMetadata(f"{field} must be a list of texts.")


def _check_list(content: Mapping[str, object], field: str, *, needs: str) -> None:
    found = _texts(content, field)
    if found and needs not in found:
        raise InvalidClientMetadata(f"{field} must have {needs}.")


def _redirect_uris(content: Mapping[str, object]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(_texts(content, "redirect_uris")))
    if not 1 <= len(found) <= MOST_REDIRECTS:
        raise InvalidClientMetadata(f"redirect_uris must have 1 to {MOST_REDIRECTS} addresses.")
    return tuple(map(redirects.checked, found))


def _auth_method(content: Mapping[str, object]) -> AuthMethod | None:
    """A client that would rather sign is taken at its second word when that is `none`."""
    wanted = content.get("token_endpoint_auth_method")
    if wanted is None:
        return None
    if isinstance(wanted, str) and wanted in set(AuthMethod):
        return AuthMethod(wanted)
    if AuthMethod.NONE in _texts(content, _SUPPORTED):
        return AuthMethod.NONE
    raise InvalidClientMetadata(
        "token_endpoint_auth_method must be none, client_secret_basic or client_secret_post."
    )
