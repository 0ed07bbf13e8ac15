"""The memory store in one DynamoDB table."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import batched
from typing import Any, Protocol, cast
from uuid import uuid4

from botocore.exceptions import (  # pyright: ignore[reportMissingTypeStubs]
    ClientError,
    ConnectionError,
    HTTPClientError,
)

from keeproom.aws.client import client
from keeproom.clock import Clock, tries, utc_now
from keeproom.engines.item_store.store import ItemMemoryStore
from keeproom.engines.item_store.table import (
    Absent,
    Busy,
    Check,
    Condition,
    Erase,
    Failed,
    Item,
    Key,
    Page,
    Same,
    Step,
    Value,
    Write,
    key_of,
)
from keeproom.errors import Unavailable

type Raw = dict[str, Any]

_LATER = {
    "InternalServerError",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ServiceUnavailable",
    "ThrottlingException",
    "TransactionInProgressException",
}
_CANCELLED = {"TransactionCanceledException", "TransactionConflictException"}
_FAILED, _CONFLICT = "ConditionalCheckFailed", "TransactionConflict"
_PASSING = {"None", _CONFLICT, "ProvisionedThroughputExceeded", "ThrottlingError"}
_BUSY = "The table is busy. Nothing was stored: try again."
_UNKNOWN = "The table did not answer, so this may or may not be stored: look before trying again."


class Client(Protocol):
    """The calls of a boto3 client that are used. It must not try again by itself: a second try
    that meets its own first one would be told of a conflict."""

    @property
    def batch_get_item(self) -> Callable[..., Any]: ...
    @property
    def batch_write_item(self) -> Callable[..., Any]: ...
    @property
    def query(self) -> Callable[..., Any]: ...
    @property
    def transact_write_items(self) -> Callable[..., Any]: ...
    @property
    def close(self) -> Callable[[], None]: ...


def open(
    table: str, *, endpoint: str | None = None, vault: str = "personal", clock: Clock = utc_now
) -> ItemMemoryStore:
    """The vault in that table, which must exist, with the string keys `pk` and `sk`; the vault is
    made when there is none. `endpoint`: another than the region's own."""
    return ItemMemoryStore(
        DynamoTable(client("dynamodb", endpoint=endpoint), table), vault, clock=clock
    )


class DynamoTable:
    """Every call is tried again for `patience` seconds: the SDK does not do so for a cancelled
    transaction. The kind of an item (`M` of `M#mem_1`) is part of its partition key, since one
    partition takes 1,000 write units a second and a remember is 22."""

    def __init__(self, client: Client, name: str, *, patience: float = 10.0) -> None:
        self._client, self._name, self._patience = client, name, patience

    def close(self) -> None:
        self._client.close()

    def get(self, keys: Sequence[Key]) -> dict[Key, Item]:
        """A hundred in one call, and the calls at once."""
        parts = list(batched(dict.fromkeys(keys), 100, strict=False))
        found: dict[Key, Item] = {}
        for some in _at_once([partial(self._get, part) for part in parts]):
            found |= some
        return found

    def _get(self, keys: Sequence[Key]) -> dict[Key, Item]:
        asked = {"Keys": [_key(key) for key in keys], "ConsistentRead": True}
        items = (
            _item(raw)
            for answer in self._all(
                self._client.batch_get_item, {self._name: asked}, rest="UnprocessedKeys"
            )
            for raw in answer["Responses"].get(self._name, [])
        )
        return {key_of(item): item for item in items}

    def both[One, Other](
        self, one: Callable[[], One], other: Callable[[], Other]
    ) -> tuple[One, Other]:
        first, second = _at_once([one, other])
        return cast("One", first), cast("Other", second)

    def page(self, pk: str, prefix: str, *, after: str, limit: int, newest: bool = False) -> Page:
        start = {"ExclusiveStartKey": _key((pk, after))} if after else {}
        items: list[Item] = []
        while True:
            answer = self._answered(
                self._client.query,
                TableName=self._name,
                ConsistentRead=True,
                Limit=limit - len(items),
                KeyConditionExpression="pk = :pk AND begins_with(sk, :sk)",
                ExpressionAttributeValues={
                    ":pk": {"S": _partition((pk, prefix))},
                    ":sk": {"S": prefix},
                },
                ScanIndexForward=not newest,
                **start,
            )
            items += map(_item, answer["Items"])
            last = answer.get("LastEvaluatedKey")
            if last is None or len(items) >= limit:
                return Page(items, last is not None)
            start = {"ExclusiveStartKey": last}

    def transact(self, steps: Sequence[Step]) -> None:
        """One token for all tries of one payload, so that a commit whose answer was lost is found
        again. A conflict is told only when no earlier try is in doubt. Raises `Unavailable`, and
        the steps may have been done, when the doubt stays."""
        actions, token = [_action(self._name, step) for step in steps], uuid4().hex
        doubt = False
        for _ in tries(self._patience):
            try:
                self._client.transact_write_items(TransactItems=actions, ClientRequestToken=token)
                return
            except ClientError as error:
                _raise_definite(error, doubt=doubt)
                doubt = doubt or _status(error) >= 500
            except (ConnectionError, HTTPClientError):
                doubt = True
        raise Unavailable(_UNKNOWN if doubt else _BUSY)

    def load(self, items: Iterable[Item]) -> None:
        self._batch({"PutRequest": {"Item": _raw(item)}} for item in items)

    def drop(self, keys: Sequence[Key]) -> None:
        self._batch({"DeleteRequest": {"Key": _key(key)}} for key in keys)

    def _batch(self, requests: Iterable[Raw]) -> None:
        for part in batched(requests, 25):
            asked = {self._name: list(part)}
            for _ in self._all(self._client.batch_write_item, asked, rest="UnprocessedItems"):
                pass

    def _all(self, call: Callable[..., Any], asked: Raw, *, rest: str) -> Iterator[Raw]:
        """The answers until nothing is left undone."""
        for _ in tries(self._patience):
            answer = self._answered(call, RequestItems=asked)
            yield answer
            asked = answer.get(rest) or {}
            if not asked:
                return
        raise Unavailable(_BUSY)

    def _answered(self, call: Callable[..., Any], **request: object) -> Raw:
        """For calls that may be made twice."""
        for _ in tries(self._patience):
            try:
                return call(**request)
            except ClientError as error:
                if _code(error) not in _LATER | _CANCELLED:
                    raise
            except (ConnectionError, HTTPClientError):
                continue
        raise Unavailable(_BUSY)


def _at_once[T](calls: Sequence[Callable[[], T]]) -> list[T]:
    """Threads of their own: calls that wait for calls would exhaust a pool."""
    if len(calls) < 2:
        return [call() for call in calls]
    with ThreadPoolExecutor(len(calls)) as pool:
        return [done.result() for done in [pool.submit(call) for call in calls]]


def _raise_definite(error: ClientError, *, doubt: bool) -> None:
    """Return when the same payload should be tried again."""
    reasons = _reasons(error)
    if _FAILED in reasons:
        failed = [n for n, reason in enumerate(reasons) if reason == _FAILED]
        raise Failed(failed) from error
    passing = set(reasons) <= _PASSING if reasons else _code(error) in _LATER | _CANCELLED
    if not passing:
        raise error
    conflict = _CONFLICT in reasons or (not reasons and _code(error) in _CANCELLED)
    if conflict and not doubt:
        raise Busy from error


def _code(error: ClientError) -> str:
    return str(_response(error)["Error"]["Code"])


def _status(error: ClientError) -> int:
    return int(_response(error)["ResponseMetadata"]["HTTPStatusCode"])


def _reasons(error: ClientError) -> list[str]:
    """Why a transaction was cancelled, step by step; empty for other errors."""
    reasons: list[Raw] = _response(error).get("CancellationReasons", [])
    return [reason.get("Code", "None") for reason in reasons]


def _response(error: ClientError) -> Raw:
    return cast("Raw", error.response)


def _action(table: str, step: Step) -> Raw:
    request = {"TableName": table, **_condition(step.condition)}
    match step:
        case Write(item):
            return {"Put": {**request, "Item": _raw(item)}}
        case Erase(key):
            return {"Delete": {**request, "Key": _key(key)}}
        case Check(key):
            return {"ConditionCheck": {**request, "Key": _key(key)}}


def _condition(condition: Condition) -> Raw:
    match condition:
        case None:
            return {}
        case Absent(""):
            return {"ConditionExpression": "attribute_not_exists(sk)"}
        case Absent(expired):
            return {
                "ConditionExpression": "attribute_not_exists(sk) OR #e < :e",
                "ExpressionAttributeNames": {"#e": "expires"},
                "ExpressionAttributeValues": {":e": {"S": expired}},
            }
        case Same(attributes):
            return _same(attributes)


def _same(attributes: Mapping[str, Value]) -> Raw:
    pairs = list(enumerate(attributes.items()))
    return {
        "ConditionExpression": " AND ".join(f"#n{n} = :v{n}" for n, _ in pairs),
        "ExpressionAttributeNames": {f"#n{n}": name for n, (name, _) in pairs},
        "ExpressionAttributeValues": {f":v{n}": _value(value) for n, (_, value) in pairs},
    }


def _partition(key: Key) -> str:
    return f"{key[0]}#{key[1].partition('#')[0]}"


def _key(key: Key) -> Raw:
    return {"pk": {"S": _partition(key)}, "sk": {"S": key[1]}}


def _value(value: Value) -> Raw:
    match value:
        case str():
            return {"S": value}
        case bytes():
            return {"B": value}
        case int():
            return {"N": str(value)}


def _raw(item: Item) -> Raw:
    raw = {name: _value(value) for name, value in item.items()}
    return {**raw, **_key((str(item["pk"]), str(item["sk"])))}


def _item(raw: Raw) -> Item:
    found: dict[str, Value] = {name: _plain(value) for name, value in raw.items()}
    found["pk"] = str(found["pk"]).rpartition("#")[0]
    return found


def _plain(value: Raw) -> Value:
    if "N" in value:
        return int(value["N"])
    return value["S"] if "S" in value else value["B"]
