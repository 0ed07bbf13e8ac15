"""Everything the environment can change. Nothing else reads it."""

import re
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from platformdirs import user_data_path
from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from keeproom.engines.loopback import is_loopback
from keeproom.errors import Invalid
from keeproom.oauth.addresses import folded_all

_ADDRESS = re.compile(r"[^\s@*<>\"]+@[^\s@*<>\"]+")


class Settings(BaseSettings):
    """Read from the environment and from a file `.env` in the working folder."""

    model_config = SettingsConfigDict(
        env_file=".env", extra="ignore", frozen=True, env_ignore_empty=True
    )

    home: Path = Field(
        default_factory=lambda: user_data_path("keeproom"),
        alias="KEEPROOM_HOME",
        description="Folder of the vault's data. The platform's data folder unless set.",
    )
    port: int = Field(
        8787, alias="PORT", ge=0, le=65535, description="Port of `keeproom serve`; 0 picks one."
    )
    public_url: str = Field(
        "",
        alias="PUBLIC_URL",
        description="Address the vault is reached at. Off loopback, the local owner is ignored.",
    )
    dev_owner_email: str = Field(
        "owner@localhost",
        alias="DEV_OWNER_EMAIL",
        description="Who requests to localhost are signed in as.",
    )
    owner_emails: str = Field(
        "",
        alias="OWNER_EMAILS",
        description="Addresses that may sign in as the owner, separated by commas.",
    )
    oidc_issuer: str = Field(
        "",
        alias="OIDC_ISSUER",
        description="OpenID Connect provider that the owner signs in at: its issuer.",
    )
    oidc_client_id: str = Field(
        "", alias="OIDC_CLIENT_ID", description="What the provider knows this vault by."
    )
    oidc_client_secret: SecretStr = Field(
        SecretStr(""),
        alias="OIDC_CLIENT_SECRET",
        description="The secret that belongs to it. On AWS it is in `SECRETS_ARN` instead.",
    )
    oidc_logout_url: str = Field(
        "",
        alias="OIDC_LOGOUT_URL",
        description="Where Cognito ends its session (`/logout` of its domain). Other providers say "
        "so themselves.",
    )
    secrets_arn: str = Field(
        "",
        alias="SECRETS_ARN",
        description="On AWS: the secret in Secrets Manager with what must not be in settings.",
    )

    embedder: Literal["bundled", "fastembed", "endpoint", "none"] = Field(
        "bundled",
        alias="KEEPROOM_EMBEDDER",
        description="Where embeddings come from: the model that ships, a fastembed model, an "
        "OpenAI-compatible endpoint, or nowhere (recall by words alone).",
    )
    embedder_model: str = Field(
        "",
        alias="KEEPROOM_EMBEDDER_MODEL",
        description="Name of the fastembed or endpoint model.",
    )
    embedder_url: str = Field(
        "",
        alias="KEEPROOM_EMBEDDER_URL",
        description="Base address of the endpoint, for example http://localhost:11434/v1.",
    )
    embedder_dims: int = Field(
        0,
        alias="KEEPROOM_EMBEDDER_DIMS",
        ge=0,
        le=8_192,
        description="How many numbers a vector of the fastembed or endpoint model has.",
    )
    embedder_key: SecretStr = Field(
        SecretStr(""),
        alias="KEEPROOM_EMBEDDER_KEY",
        description="Key the endpoint asks for, if it does.",
    )

    cimd_test_docs: Path | None = Field(
        None,
        alias="CIMD_TEST_DOCS",
        description="JSON file of client metadata documents by address, to try clients on a "
        "machine without a way out. For loopback addresses only.",
    )

    vault_table: str = Field(
        "", alias="VAULT_TABLE", description="DynamoDB table of the vault, on AWS."
    )
    grants_table: str = Field(
        "",
        alias="GRANTS_TABLE",
        description="DynamoDB table of who has been let in, on AWS.",
    )
    blobs_bucket: str = Field(
        "", alias="BLOBS_BUCKET", description="S3 bucket of the search snapshot, on AWS."
    )
    embedding_model: str = Field(
        "amazon.titan-embed-text-v2:0",
        alias="EMBEDDING_MODEL",
        description="Bedrock's id of the embedding model, on AWS; `none`: recall by words alone.",
    )
    search: Literal["opensearch", "embedded"] = Field(
        "embedded",
        alias="SEARCH",
        description="Where recall finds candidates on AWS: in an OpenSearch collection, or only in "
        "the index inside the function.",
    )
    search_endpoint: str = Field(
        "", alias="SEARCH_ENDPOINT", description="Address of the OpenSearch collection, on AWS."
    )
    search_instead: str = Field(
        "",
        alias="SEARCH_INSTEAD",
        description="Loopback address that stands in for the collection, in an emulator.",
    )
    jobs_queue_url: str = Field(
        "", alias="JOBS_QUEUE_URL", description="SQS queue that the worker listens to, on AWS."
    )

    @field_validator("home")
    @classmethod
    def _absolute(cls, home: Path) -> Path:
        return home.expanduser().absolute()

    @field_validator("owner_emails")
    @classmethod
    def _addresses(cls, addresses: str) -> str:
        for one in filter(None, map(str.strip, addresses.split(","))):
            if not _ADDRESS.fullmatch(one):
                raise ValueError("must be e-mail addresses, separated by commas")
        return addresses

    @field_validator("public_url")
    @classmethod
    def _origin(cls, url: str) -> str:
        parts = urlsplit(url)
        if url and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise ValueError("must be an http or https address")
        return url.rstrip("/")

    @property
    def owners(self) -> frozenset[str]:
        """The addresses of `owner_emails`, folded."""
        return folded_all(self.owner_emails.split(",")) - {""}

    @property
    def signs_in(self) -> bool:
        """Whether the owner signs in at a provider. Raises `Invalid` when that is set by half, or
        cannot be safe. Addresses alone are no half: they are what signing up goes by, too."""
        secret = self.oidc_client_secret.get_secret_value()
        if not any((self.oidc_issuer, self.oidc_client_id, secret, self.oidc_logout_url)):
            return False
        needed = {
            "OIDC_ISSUER": self.oidc_issuer,
            "OIDC_CLIENT_ID": self.oidc_client_id,
            "OWNER_EMAILS": ", ".join(self.owners),
            "OIDC_CLIENT_SECRET": secret or self.secrets_arn,
        }
        missing = [name for name, value in needed.items() if not value]
        if missing:
            raise Invalid(
                f"Set {missing[0]}: signing in needs {', '.join(needed)}, and some are set.",
                param=missing[0],
            )
        if not self.is_local and not self.public_url.startswith("https:"):
            raise Invalid("Signing in needs an https address as PUBLIC_URL.", param="PUBLIC_URL")
        return True

    @property
    def is_local(self) -> bool:
        """Whether the vault is only reached from this machine."""
        return not self.public_url or is_loopback(self.public_url)


def read_settings(**changed: object) -> Settings:
    """The environment with `changed` over it. Raises `Invalid` naming the variable at fault, but
    not its value."""
    try:
        return Settings(**changed)  # pyright: ignore[reportArgumentType]
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = str(first["loc"][0]) if first["loc"] else "settings"
        raise Invalid(f"{name}: {first['msg']}.", param=name) from None
