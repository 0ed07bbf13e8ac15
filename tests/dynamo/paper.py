"""A DynamoDB client on paper: the calls, conditions, limits and answers that the table adapter
uses, in memory, so that contention can be shown with many threads."""

import random
import re
import time
from bisect import bisect_left, bisect_right, insort
from threading import RLock
from typing import Any

from botocore.exceptions import ClientError  # pyright: ignore[reportMissingTypeStubs]

type Raw = dict[str, Any]


def refusal(
    call: str, code: str, *, status: int = 400, reasons: list[Raw] | None = None
) -> ClientError:
    """The error that boto3 would raise."""
    answer: Raw = {
        "Error": {"Code": code, "Message": code},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    if reasons is not None:
        answer["CancellationReasons"] = reasons
    return ClientError(answer, call)


def key_of(raw: Raw) -> tuple[str, str]:
    return raw["pk"]["S"], raw["sk"]["S"]


def size_of(item: Raw) -> int:
    """Names and values, as DynamoDB counts them."""
    return sum(len(name.encode()) + _value_size(value) for name, value in item.items())


def _value_size(value: Raw) -> int:
    if "N" in value:
        return 21
    return len(value["B"]) if "B" in value else len(value["S"].encode())


class PaperClient:
    """One table. `portion`: the most items that one read answers, as where an answer would pass
    1 or 16 MB. `torn`: seconds over which the items of a transaction become visible, one by
    one, to readers who ask for no transaction."""

    def __init__(self, *, portion: int = 1_000_000, torn: float = 0.0) -> None:
        self._portion, self._torn = portion, torn
        self._lock = RLock()
        self._items: dict[tuple[str, str], Raw] = {}
        self._order: dict[str, list[str]] = {}
        self._done: dict[str, list[Raw]] = {}

    def close(self) -> None:
        """Nothing is held."""

    def transact_write_items(self, *, TransactItems: list[Raw], ClientRequestToken: str) -> Raw:  # noqa: N803
        actions = [next(iter(action.items())) for action in TransactItems]
        keys = [key_of(action.get("Item") or action["Key"]) for _, action in actions]
        together = sum(size_of(action.get("Item", {})) for _, action in actions)
        too_large = together > 4 * 1024 * 1024 or any(map(_too_large, actions))
        if len(actions) > 100 or len(set(keys)) < len(keys) or too_large:
            raise refusal("TransactWriteItems", "ValidationException")
        with self._lock:
            if ClientRequestToken in self._done:
                if self._done[ClientRequestToken] != TransactItems:
                    raise refusal("TransactWriteItems", "IdempotentParameterMismatchException")
                return {}
            told = [
                _holds(self._items.get(key, {}), a)
                for key, (_, a) in zip(keys, actions, strict=True)
            ]
            if not all(told):
                reasons = [{"Code": "None" if one else "ConditionalCheckFailed"} for one in told]
                raise refusal("TransactWriteItems", "TransactionCanceledException", reasons=reasons)
            self._done[ClientRequestToken] = TransactItems
            if not self._torn:
                self._apply(actions)
        if self._torn:
            self._apply_slowly(actions)
        return {}

    def _apply(self, actions: list[tuple[str, Raw]]) -> None:
        for kind, action in actions:
            if kind == "Put":
                self._put(action["Item"])
            elif kind == "Delete":
                self._drop(key_of(action["Key"]))

    def _apply_slowly(self, actions: list[tuple[str, Raw]]) -> None:
        for action in random.sample(actions, len(actions)):
            with self._lock:
                self._apply([action])
            time.sleep(random.uniform(0, 2 * self._torn / len(actions)))

    def _put(self, item: Raw) -> None:
        pk, sk = key_of(item)
        if (pk, sk) not in self._items:
            insort(self._order.setdefault(pk, []), sk)
        self._items[pk, sk] = item

    def _drop(self, key: tuple[str, str]) -> None:
        if self._items.pop(key, None):
            self._order[key[0]].remove(key[1])

    def batch_get_item(self, *, RequestItems: Raw) -> Raw:  # noqa: N803
        ((table, ask),) = RequestItems.items()
        keys = [key_of(key) for key in ask["Keys"]]
        if not ask["ConsistentRead"] or len(keys) > 100 or len(set(keys)) < len(keys):
            raise refusal("BatchGetItem", "ValidationException")
        with self._lock:
            found = [self._items.get(key) for key in keys[: self._portion]]
        left = ask["Keys"][self._portion :]
        rest = {table: {**ask, "Keys": left}} if left else {}
        answers = [dict(item) for item in found if item]
        return {"Responses": {table: answers}, "UnprocessedKeys": rest}

    def batch_write_item(self, *, RequestItems: Raw) -> Raw:  # noqa: N803
        ((table, requests),) = RequestItems.items()
        if len(requests) > 25:
            raise refusal("BatchWriteItem", "ValidationException")
        now, left = requests[: self._portion], requests[self._portion :]
        with self._lock:
            for request in now:
                if "PutRequest" in request:
                    self._put(request["PutRequest"]["Item"])
                else:
                    self._drop(key_of(request["DeleteRequest"]["Key"]))
        return {"UnprocessedItems": {table: left} if left else {}}

    def query(self, *, ExpressionAttributeValues: Raw, Limit: int, **ask: Any) -> Raw:  # noqa: N803
        pk, prefix = (ExpressionAttributeValues[name]["S"] for name in (":pk", ":sk"))
        start = ask.get("ExclusiveStartKey", {}).get("sk", {}).get("S", "")
        most = min(Limit, self._portion)
        with self._lock:
            order = self._order.get(pk, [])
            low, high = bisect_left(order, prefix), bisect_left(order, prefix + "\x7f")
            if ask["ScanIndexForward"]:
                low = max(low, bisect_right(order, start))
                names = order[low : min(high, low + most)]
            else:
                high = min(high, bisect_left(order, start)) if start else high
                names = order[max(low, high - most) : high][::-1]
            items = [dict(self._items[pk, name]) for name in names]
        # As DynamoDB: a full page never knows whether it is the last.
        last = {"pk": {"S": pk}, "sk": {"S": names[-1]}} if len(names) == most else None
        return {"Items": items, "LastEvaluatedKey": last}


def _too_large(action: tuple[str, Raw]) -> bool:
    return size_of(action[1].get("Item", {})) > 400 * 1024


def _holds(item: Raw, action: Raw) -> bool:
    names = action.get("ExpressionAttributeNames", {})
    values = action.get("ExpressionAttributeValues", {})
    clauses = re.split(r" (AND|OR) ", action.get("ConditionExpression", ""))
    told = [_clause(clause, item, names, values) for clause in clauses[::2]]
    return any(told) if "OR" in clauses else all(told)


def _clause(clause: str, item: Raw, names: Raw, values: Raw) -> bool:
    if not clause:
        return True
    if clause == "attribute_not_exists(sk)":
        return not item
    name, sign, value = clause.split()
    found, wanted = item.get(names[name]), values[value]
    if sign == "=":
        return found == wanted
    return found is not None and found["S"] < wanted["S"]
