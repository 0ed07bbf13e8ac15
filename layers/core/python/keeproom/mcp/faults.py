"""What a model is told when a call fails: what was wrong and what to do next, never what was
sent."""

import re
from collections.abc import Mapping
from typing import Any, cast

from pydantic import ValidationError

from keeproom.errors import (
    Conflict,
    Duplicate,
    Excluded,
    Invalid,
    LimitReached,
    NotFound,
    Refused,
    RequestIdReused,
    SecretLike,
    TooLarge,
    Unavailable,
    Unusable,
    VaultError,
    WrongState,
)
from keeproom.mcp.asked import whole
from keeproom.mcp.tool import AnyTool
from keeproom.oauth.model import Permissions

# What an error adds is its own or of the nearest kind above it.
NEXT: dict[type[VaultError], str] = {
    VaultError: "Tell the owner.",
    Invalid: "Correct the argument and call again.",
    TooLarge: "Send it in parts.",
    NotFound: "Use ids from recall or list_memories.",
    Conflict: "Look again before you repeat this.",
    Refused: "Do not repeat this.",
    SecretLike: "Leave the secret out.",
    Excluded: "Do not save it in other words.",
    Duplicate: "Use the memory that says it.",
    LimitReached: "Try again in an hour.",
    WrongState: "Look at it again with list_memories.",
    RequestIdReused: "",
    Unavailable: "Try again in a few seconds.",
    Unusable: "Tell the owner.",
}
_OWN_NAME = re.compile(r"[a-z][a-z_]{0,30}")  # anything else might be a secret in the wrong place


def refusal(error: VaultError) -> str:
    """Its code, its message, and what to do next."""
    then = next(NEXT[kind] for kind in type(error).__mro__ if kind in NEXT)
    return whole(f"[{error.code}] {error} {then}".strip())


def misshapen(error: ValidationError, tool: AnyTool) -> str:
    """The first fault of arguments that do not have the form asked for."""
    fault = error.errors(include_url=False, include_context=True, include_input=False)[0]
    place = tuple(str(part) for part in fault["loc"])
    known = list(tool.takes.model_fields)
    if fault["type"] == "extra_forbidden" and len(place) == 1:
        name = f" `{place[0]}`" if _OWN_NAME.fullmatch(place[0]) else " of that name"
        return f"[invalid] There is no argument{name}. {tool.name} takes: {', '.join(known)}."
    where = place[0] if place and place[0] in known else "arguments"
    nth = next((f" {int(part) + 1}" for part in place[1:] if part.isdigit()), "")
    said = _said(cast("Mapping[str, Any]", fault))
    return f"[invalid] `{where}`{nth and f', entry{nth}'}: {said} Correct it and call again."


_SAYINGS = {
    "missing": "this is needed.",
    "extra_forbidden": "there is a field that is not taken here.",
    "enum": "send one of {expected}.",
    "literal_error": "send one of {expected}.",
    "list_type": 'send a list, such as ["one", "two"].',
    "string_type": "send a text.",
    "model_type": "send an object.",
    "too_long": "at most {max_length} are taken.",
    "string_too_long": "at most {max_length} characters are taken.",
    "greater_than_equal": "send a number of at least {ge}.",
    "less_than_equal": "send a number of at most {le}.",
    "value_error": "{error}",
    "int": "send a whole number.",
    "bool": "send true or false.",
}


def _said(fault: Mapping[str, Any]) -> str:
    kind = cast("str", fault["type"])
    saying = _SAYINGS.get(kind) or _SAYINGS.get(kind.partition("_")[0])
    context = cast("Mapping[str, object]", fault.get("ctx", {}))
    return (saying or "this is not what the tool's schema asks for.").format_map(context)


def not_allowed(needs: Permissions) -> str:
    """For a tool that the app's grant does not reach."""
    names = " or ".join(f"`{one}`" for one in sorted(needs))
    return (
        f"[not_allowed] The owner has not given this app the permission {names}. Ask the owner to "
        "allow it among the connected apps; do not repeat this until then."
    )
