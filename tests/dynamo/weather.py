"""DynamoDB's weather over a client that has none: latency, transactions that conflict, throttling,
lost answers, broken connections."""

import random
import time
from collections import Counter
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from botocore.exceptions import (  # pyright: ignore[reportMissingTypeStubs]
    ConnectionClosedError,
    ReadTimeoutError,
)

from keeproom.aws.memory_store import Client
from tests.dynamo.paper import Raw, key_of, refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """Latencies in seconds (from, to), chances between 0 and 1."""

    read: tuple[float, float] = (0.0005, 0.0015)
    write: tuple[float, float] = (0.001, 0.003)
    throttle: float = 0.0
    lost: float = 0.0  # done, but the answer never arrives
    reset: float = 0.0  # never arrived


@dataclass(slots=True)
class Weather:
    """`seen` counts what befell the calls."""

    client: Client
    forecast: Forecast = field(default_factory=Forecast)
    seen: Counter[str] = field(default_factory=Counter[str])
    _flying: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    _lock: Lock = field(default_factory=Lock)

    def close(self) -> None:
        self.client.close()

    def transact_write_items(self, **request: Any) -> Raw:
        """Items are held from arrival to answer. Who meets a held item is cancelled at once."""
        actions = [next(iter(action.values())) for action in request["TransactItems"]]
        keys = [key_of(action.get("Item") or action["Key"]) for action in actions]
        self._gust("TransactWriteItems", actions=len(keys))
        with self._lock:
            met = [key in self._flying for key in keys]
            if not any(met):
                self._flying.update(keys)
        if any(met):
            time.sleep(random.uniform(*self.forecast.read))
            self.seen["conflict"] += 1
            raise cancelled("TransactionConflict", met)
        try:
            time.sleep(random.uniform(*self.forecast.write))
            answer = self.client.transact_write_items(**request)
        finally:
            with self._lock:
                self._flying.difference_update(keys)
        if random.random() < self.forecast.lost:
            self.seen["lost"] += 1
            raise ReadTimeoutError(endpoint_url="dynamodb")
        return answer

    def batch_write_item(self, **request: Any) -> Raw:
        self._gust("BatchWriteItem")
        time.sleep(random.uniform(*self.forecast.write))
        return self.client.batch_write_item(**request)

    def batch_get_item(self, **request: Any) -> Raw:
        self._gust("BatchGetItem")
        time.sleep(random.uniform(*self.forecast.read))
        return self.client.batch_get_item(**request)

    def query(self, **request: Any) -> Raw:
        self._gust("Query")
        time.sleep(random.uniform(*self.forecast.read))
        return self.client.query(**request)

    def _gust(self, call: str, *, actions: int = 0) -> None:
        if random.random() < self.forecast.reset:
            self.seen["reset"] += 1
            raise ConnectionClosedError(endpoint_url="dynamodb")
        if random.random() < self.forecast.throttle:
            self.seen["throttle"] += 1
            if actions:
                raise cancelled("ThrottlingError", [n == 0 for n in range(actions)])
            raise refusal(call, "ProvisionedThroughputExceededException")


def cancelled(code: str, which: list[bool]) -> Exception:
    reasons: list[Raw] = [{"Code": code if one else "None"} for one in which]
    return refusal("TransactWriteItems", "TransactionCanceledException", reasons=reasons)
