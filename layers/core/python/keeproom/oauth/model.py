"""The nouns: who asks to be let in, what the owner allowed, and what proves it.

Every noun that is stored has an `id` and a `revision`, the count of its changes; a change names the
revision it was decided on, 0 for a noun that is new. `expires`: from then on it counts as gone,
whether it has been removed yet or not.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

ACCESS = timedelta(hours=1)
REFRESH = timedelta(days=90)
CODE = timedelta(seconds=60)
PENDING = timedelta(minutes=10)
UNUSED = timedelta(days=1)  # a registration that no owner has approved
REVOKED = timedelta(days=30)  # how long what was revoked is still shown
SIGN_IN = timedelta(minutes=10)  # from leaving for the provider to coming back


class Permission(StrEnum):
    READ = "read"
    PROPOSE = "propose"
    WRITE = "write"
    FORGET = "forget"


Permissions = frozenset[Permission]

ALL = frozenset(Permission)
SCOPES = {f"memory:{permission}": permission for permission in Permission}


class Scope(StrEnum):
    """What a script may do at `/api`. `ADMIN` has all the others in it."""

    READ = "read"
    WRITE = "write"
    FORGET = "forget"
    BACKUP = "backup"
    ADMIN = "admin"


Scopes = frozenset[Scope]


class AuthMethod(StrEnum):
    """How a client proves at the token endpoint that it is the one."""

    NONE = "none"
    BASIC = "client_secret_basic"
    POST = "client_secret_post"


class Kind(StrEnum):
    ACCESS = "access"
    REFRESH = "refresh"


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """An app. Its `id` is the address of its own metadata document, and then `verified_by` is the
    domain that vouches for the name; or one we gave it when it registered, and then the name is
    what it says of itself. `flagged`: hidden characters were taken out of the name. `expires`:
    while nobody has approved it. `fresh_until`: when its document is to be read again."""

    id: str
    name: str
    redirect_uris: tuple[str, ...]
    auth_method: AuthMethod
    created: datetime
    expires: datetime | None = None
    secret_hash: str = ""
    verified_by: str = ""
    flagged: bool = False
    fresh_until: datetime | None = None
    revision: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A request that waits for the owner's decision. `browser`: hash of what the browser it was
    shown in holds; `explicit`: whether the request named its redirect address."""

    id: str
    browser: str
    client_id: str
    redirect_uri: str
    explicit: bool
    challenge: str
    asked: Permissions
    resource: str
    expires: datetime
    state: str | None = None
    revision: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """The owner's standing permission to an app: this is what is revoked. `redirect_host`: where
    its code went. `anchor`: the refresh token that was used last; it and its children are good.
    `expires`: when its last token does, or when it is no longer shown."""

    id: str
    client_id: str
    client_name: str
    verified_by: str
    redirect_host: str
    vault: str
    permissions: Permissions
    resource: str
    created: datetime
    expires: datetime
    anchor: str = ""
    revoked: datetime | None = None
    revision: int = 0

    @property
    def actor(self) -> str:
        """The app, as the audit names it."""
        return f"mcp:{self.client_name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """What became of an app's calls, beside its grant so that counting never gets in the way of a
    decision. `id`: the grant's. `failures`: since the last call that went well."""

    id: str
    last_used: datetime | None = None
    failures: int = 0
    last_failure: datetime | None = None
    reason: str = ""
    expires: datetime | None = None
    revision: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """An authorization code, by its hash. Good until `good_until`, and kept for longer, so that a
    second use shows."""

    id: str
    grant_id: str
    client_id: str
    redirect_uri: str
    explicit: bool
    challenge: str
    resource: str
    good_until: datetime
    expires: datetime
    used: bool = False
    revision: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A credential under a grant, by its hash. `parent`: the refresh token it was given for.
    `narrowed`: the permissions a client has confined itself to; empty for all of the grant's."""

    id: str
    kind: Kind
    grant_id: str
    client_id: str
    resource: str
    expires: datetime
    parent: str = ""
    narrowed: Permissions = frozenset()
    revision: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How often something was done in a stretch of time that ends with `expires`."""

    id: str
    count: int
    expires: datetime
    revision: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A browser in which the owner has signed in, by the hash of what its cookie holds. `address`:
    who signed in; `issuer`: who vouched for that."""

    id: str
    address: str
    issuer: str
    created: datetime
    expires: datetime
    revision: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A sign-in that has come to its end, by the hash of its state: it ends once."""

    id: str
    expires: datetime
    revision: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceToken:
    """The owner's leave for a script, with the hash of its secret. Removed when it is revoked."""

    id: str
    hash: str
    name: str
    scopes: Scopes
    created: datetime
    expires: datetime | None = None
    last_used: datetime | None = None
    revision: int = 0

    @property
    def actor(self) -> str:
        """The script, as the audit names it."""
        return f"token:{self.name}"


type Noun = (
    Client | Pending | Grant | Use | Code | Token | Count | Session | Finished | ServiceToken
)


def has_expired(noun: Noun, now: datetime) -> bool:
    return noun.expires is not None and noun.expires <= now


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """Who decided what about which grant or client, and when."""

    id: str
    at: datetime
    actor: str
    verb: str
    subject: str
    grant: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """All that must happen together or not at all. `same`: nouns that must be as they were read."""

    put: tuple[Noun, ...] = ()
    drop: tuple[Noun, ...] = ()
    same: tuple[Noun, ...] = ()
    entry: AuditEntry | None = None


@dataclass(frozen=True, slots=True)
class Page[T]:
    """`next`: the cursor of the following page, empty at the end."""

    items: tuple[T, ...]
    next: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """A token with the grant it was given under and what is known of its use."""

    token: Token
    grant: Grant
    use: Use


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who is calling, and what the owner lets it do."""

    client_id: str
    client_name: str
    grant_id: str
    vault: str
    permissions: Permissions


def hashed(secret: str) -> str:
    """What is stored of a secret. Ours are random and long, so that one SHA-256 is enough."""
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


def scope_of(permissions: Permissions) -> str:
    """As OAuth names them, in their own order."""
    return " ".join(name for name, one in SCOPES.items() if one in permissions)
