"""Tables on a DynamoDB emulator, and the owner who lets an app in, for functions to work on."""

from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import boto3  # pyright: ignore[reportMissingTypeStubs]
import httpx

from keeproom.aws.memory_store import Client, DynamoTable
from keeproom.clock import utc_now
from keeproom.engines.grant_store import ItemGrantStore
from keeproom.engines.item_store.store import ItemMemoryStore
from keeproom.oauth.authorization import Authorization
from keeproom.vault.vault import Vault
from tests.applications import application
from tests.dynamo import emulator
from tests.embedders import WordEmbedder
from tests.functions.gateway import ADDRESS
from tests.http import InProcess
from tests.letting_in import Door, Papers, Watch
from tests.vaults import vault_on

KEYS = {
    "AWS_REGION": "eu-west-1",
    "AWS_DEFAULT_REGION": "eu-west-1",
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
}
EVERYTHING = {"read", "propose", "write", "forget"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloud:
    """Both tables, and what a function is told of them."""

    client: Client
    vault_table: str
    grants_table: str
    environment: dict[str, str]

    def vault(self) -> Vault:
        """As another process would have it."""
        store = ItemMemoryStore(
            DynamoTable(self.client, self.vault_table), "personal", clock=utc_now
        )
        return vault_on(store, WordEmbedder(), auto=True)


@contextmanager
def cloud_in(folder: Path) -> Generator[Cloud]:
    with emulator.emulator(folder) as endpoint:
        client = emulator.client(endpoint)
        tables = emulator.new_table(client), emulator.new_table(client)
        with closing(DynamoTable(client, tables[0])):
            yield Cloud(
                client=client,
                vault_table=tables[0],
                grants_table=tables[1],
                environment={
                    "AWS_ENDPOINT_URL": endpoint,
                    **KEYS,
                    "JOBS_QUEUE_URL": _queue(endpoint),
                    "BLOBS_BUCKET": _bucket(endpoint),
                    "EMBEDDING_MODEL": "none",
                    "VAULT_TABLE": tables[0],
                    "GRANTS_TABLE": tables[1],
                    "PUBLIC_URL": ADDRESS,
                    "OWNER_EMAILS": "Ana@example.com, ben@example.com",
                },
            )


def _made(service: str, endpoint: str) -> Any:
    make = cast("Any", boto3.client)  # pyright: ignore[reportUnknownMemberType]
    return make(
        service,
        endpoint_url=endpoint,
        region_name=KEYS["AWS_REGION"],
        aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
    )


def _queue(endpoint: str) -> str:
    """Its URL."""
    with closing(_made("sqs", endpoint)) as sqs:
        return sqs.create_queue(QueueName="jobs")["QueueUrl"]


def _bucket(endpoint: str) -> str:
    """Its name."""
    with closing(_made("s3", endpoint)) as s3:
        return emulator.new_bucket(s3)


@contextmanager
def door_of(grants: DynamoTable, vault: Vault, *, address: str = ADDRESS) -> Generator[Door]:
    """Where the owner, on their own machine, lets apps into the vault that is reached at the
    address."""
    watch = Watch()
    papers = Papers(watch)
    auth = Authorization(grants=ItemGrantStore(grants), documents=papers, issuer=address)
    owner = InProcess(application(vault, authorization=auth))
    with httpx.Client(transport=owner, base_url="https://localhost") as http:
        yield Door(http=http, auth=auth, watch=watch, papers=papers)
