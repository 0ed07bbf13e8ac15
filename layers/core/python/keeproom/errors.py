"""Every error the product raises on purpose. `code` is stable; the message is for people.

VaultError
├── Invalid            the caller's input makes no sense; `param` names the part
│   └── TooLarge       more than is taken at once
├── NotFound           no such thing, or not for this caller
├── Conflict           the caller's own revision is stale; `current` is what is there now
├── Refused            understood, and not done
│   ├── SecretLike     looks like a credential; nothing was stored
│   ├── Excluded       the owner forgot or rejected this text
│   ├── Duplicate      the text is another memory's; `memory_id` names it
│   ├── LimitReached   done as often as the owner allows in an hour
│   ├── WrongState     the memory or batch is past the point where this can be done
│   └── RequestIdReused   an idempotency key came back with other arguments
├── Unavailable        a part is down or busy; nothing was stored, try again
└── Unusable           a data or model file cannot be used as it is; it was left untouched
"""

from typing import ClassVar


class VaultError(Exception):
    code: ClassVar[str] = "vault_error"

    def __init__(self, message: str, *, param: str = "") -> None:
        super().__init__(message)
        self.param = param


class Invalid(VaultError):
    code = "invalid"


class TooLarge(Invalid):
    code = "too_large"


class NotFound(VaultError):
    code = "not_found"


class Conflict(VaultError):
    """`current` is the memory, guide version or settings as they are now."""

    code = "conflict"

    def __init__(self, message: str, *, current: object) -> None:
        super().__init__(message)
        self.current = current


class Refused(VaultError):
    code = "refused"


class SecretLike(Refused):
    code = "secret_like"


class Excluded(Refused):
    code = "excluded"


class Duplicate(Refused):
    code = "duplicate"

    def __init__(self, message: str, *, memory_id: str) -> None:
        super().__init__(message)
        self.memory_id = memory_id


class LimitReached(Refused):
    code = "limit_reached"


class WrongState(Refused):
    code = "wrong_state"


class RequestIdReused(Refused):
    code = "request_id_reused"


class Unavailable(VaultError):
    code = "unavailable"


class Unusable(VaultError):
    code = "unusable"


class Contended(Exception):
    """Something a decision rested on has changed: decide again. Never reaches a caller."""


def place_of(error: BaseException) -> str:
    """Module and line where it was raised, for a log: the message may hold what was sent."""
    trace = error.__traceback__
    if trace is None:
        return "-"
    while trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_globals.get('__name__', '-')}:{trace.tb_lineno}"
