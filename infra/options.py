"""What whoever deploys may choose: `-c name=value`, or `context` in cdk.json."""

from dataclasses import dataclass
from typing import Self

from constructs import Node

SEARCH, MODEL = "opensearch", "amazon.titan-embed-text-v2:0"
SIGN_IN = {"password", "passkey", "email_code", "mfa"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Federated:
    """An OpenID Connect provider that Cognito asks. `secret`: the name of a secret of Secrets
    Manager that holds its client secret as plain text."""

    issuer: str
    client_id: str
    secret: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """`zone`: id of the Route 53 zone that the name is in; without it, `certificate` is the ARN of
    one for the name, and whoever deploys lets the name point to the output `DomainTarget`."""

    name: str
    zone: str = ""
    certificate: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """`sign_in`: some of `SIGN_IN`. `alarm_email`: who is told of alarms; that address has to
    confirm it once. `vault_table`, `grants_table`: names of tables that are there already, kept by
    an earlier stack or restored; the stack makes those that are not named."""

    owner_emails: tuple[str, ...]
    search: str = SEARCH
    domain: Domain | None = None
    embedding_model: str = MODEL
    sign_in: frozenset[str] = frozenset({"password"})
    federated: Federated | None = None
    alarm_email: str = ""
    vault_table: str = ""
    grants_table: str = ""

    def __post_init__(self) -> None:
        """Raises `ValueError`, with a sentence for whoever deploys."""
        if not self.owner_emails or not all("@" in one for one in self.owner_emails):
            raise ValueError("Say whose vault it is: -c owner_emails=you@example.com")
        if self.search not in ("opensearch", "embedded"):
            raise ValueError("search is `opensearch` or `embedded`")
        if self.sign_in - SIGN_IN or not self.sign_in & {"password", "passkey", "email_code"}:
            raise ValueError(f"sign_in is some of: {', '.join(sorted(SIGN_IN))}")
        if "mfa" in self.sign_in and self.sign_in & {"passkey", "email_code"}:
            raise ValueError("Cognito asks for a second factor after passwords only: leave out mfa")
        if self.domain and not (self.domain.zone or self.domain.certificate):
            raise ValueError("A domain needs hosted_zone, or the ARN of a certificate")

    @classmethod
    def read(cls, node: Node) -> Self:
        def told(name: str, default: str = "") -> str:
            return str(node.try_get_context(name) or default).strip()

        def several(name: str, default: str = "") -> tuple[str, ...]:
            return tuple(one for one in map(str.strip, told(name, default).split(",")) if one)

        domain = Domain(
            name=told("domain"), zone=told("hosted_zone"), certificate=told("certificate")
        )
        federated = Federated(
            issuer=told("oidc_issuer"),
            client_id=told("oidc_client_id"),
            secret=told("oidc_secret"),
        )
        return cls(
            owner_emails=several("owner_emails"),
            search=told("search", SEARCH),
            domain=domain if domain.name else None,
            embedding_model=told("embedding_model", MODEL),
            sign_in=frozenset(several("sign_in", "password")),
            federated=federated if federated.issuer else None,
            alarm_email=told("alarm_email"),
            vault_table=told("vault_table"),
            grants_table=told("grants_table"),
        )
