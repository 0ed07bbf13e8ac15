"""What a service token must be good for, route by route. What is not named here needs `admin`."""

import re

from keeproom.oauth.model import Scope, Scopes

# Nobody but the owner in person: a token must not be able to outlive its revocation.
_IN_PERSON = re.compile(r"/api/tokens(/.*)?", re.DOTALL)
_READ, _WRITE, _FORGET = (
    frozenset({Scope.READ}),
    frozenset({Scope.WRITE}),
    frozenset({Scope.FORGET}),
)
_BACKUP = frozenset({Scope.BACKUP})
_ONE = r"/api/memories/[^/]+"
_TABLE = tuple(
    (methods, re.compile(path, re.DOTALL), scopes)
    for methods, path, scopes in (
        ("GET", r"/api/(backup|export)", _BACKUP),
        (
            "GET",
            r"/api/(memories|recall|batches|guide|settings|exclusions|statistics|vaults)(/.*)?"
            r"|/api/openapi\.json",
            _READ,
        ),
        ("DELETE", _ONE, _FORGET),
        ("POST", rf"{_ONE}/forget", _FORGET),
        ("POST", rf"{_ONE}/(approve|reject|keep-both|undo)", _WRITE),
        ("PATCH", _ONE, _WRITE),
        ("POST", r"/api/(memories|bulk|uploads)", _WRITE),
        ("POST", r"/api/batches/[^/]+/(undo|cancel)", _WRITE),
        ("POST", r"/api/review", _WRITE | _FORGET),  # a review may confirm a forget
    )
)


def needed(method: str, path: str) -> Scopes | None:
    """All of these, or `admin`; None where no token is good enough."""
    if _IN_PERSON.fullmatch(path):
        return None
    found = (scopes for one, pattern, scopes in _TABLE if one == method and pattern.fullmatch(path))
    return next(found, frozenset({Scope.ADMIN}))


def suffices(held: Scopes, wanted: Scopes | None) -> bool:
    return wanted is not None and (Scope.ADMIN in held or wanted <= held)
