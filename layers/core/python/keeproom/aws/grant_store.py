"""The grant store in one DynamoDB table of its own."""

from keeproom.aws.client import client
from keeproom.aws.memory_store import DynamoTable
from keeproom.engines.grant_store import ItemGrantStore


def open(table: str, *, endpoint: str | None = None) -> ItemGrantStore:
    """The grants in that table, which must exist, with the string keys `pk` and `sk`; its time to
    live is the attribute `ttl`. `endpoint`: another than the region's own."""
    return ItemGrantStore(DynamoTable(client("dynamodb", endpoint=endpoint), table))
