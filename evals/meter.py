"""What a table is asked for: calls, calls one after the other, and DynamoDB's units."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from keeproom.aws.memory_store import Client
from keeproom.engines.item_store.table import Item, Key, Page, Step, Table
from tests.dynamo.paper import Raw, key_of, size_of

READ, WRITTEN = 4_096, 1_024  # bytes of an item that one unit pays for


@dataclass(slots=True)
class Spent:
    """`trips`: calls that wait for each other. Units as on-demand tables bill them, for consistent
    reads; an item of a transaction costs twice. A check is counted as a write."""

    trips: int = 0
    calls: int = 0
    read: int = 0
    written: int = 0


@dataclass(slots=True)
class MeteredClient:
    """Counts calls and units of a client that sets no portions."""

    client: Client
    spent: Spent = field(default_factory=Spent)
    _adding: Lock = field(default_factory=Lock)  # a table asks for portions at once

    def _add(self, *, read: int = 0, written: int = 0) -> None:
        with self._adding:
            self.spent.calls += 1
            self.spent.read += read
            self.spent.written += written

    def close(self) -> None:
        self.client.close()

    def batch_get_item(self, **asked: Any) -> Raw:
        answer = self.client.batch_get_item(**asked)
        ((table, ask),) = asked["RequestItems"].items()
        found = [size_of(item) for item in answer["Responses"][table]]
        missing = len(ask["Keys"]) - len(found)
        self._add(read=sum(_units(size, READ) for size in found) + missing)
        return answer

    def query(self, **asked: Any) -> Raw:
        """Sizes are summed before they are rounded."""
        answer = self.client.query(**asked)
        self._add(read=_units(sum(size_of(item) for item in answer["Items"]), READ))
        return answer

    def transact_write_items(self, **asked: Any) -> Raw:
        actions = [next(iter(action.values())) for action in asked["TransactItems"]]
        units = sum(self._written(action) for action in actions)
        self._add(written=2 * units)
        return self.client.transact_write_items(**asked)

    def batch_write_item(self, **asked: Any) -> Raw:
        ((_, requests),) = asked["RequestItems"].items()
        actions = [next(iter(request.values())) for request in requests]
        self._add(written=sum(self._written(action) for action in actions))
        return self.client.batch_write_item(**asked)

    def _written(self, action: Raw) -> int:
        """The larger of the item as it was and as it is then."""
        item = action.get("Item", {})
        was = self._stored(key_of(item or action["Key"]))
        return _units(max(size_of(item), size_of(was)), WRITTEN)

    def _stored(self, key: tuple[str, str]) -> Raw:
        keys = [{"pk": {"S": key[0]}, "sk": {"S": key[1]}}]
        asked = {"t": {"Keys": keys, "ConsistentRead": True}}
        found = self.client.batch_get_item(RequestItems=asked)["Responses"]["t"]
        return found[0] if found else {}


def _units(size: int, unit: int) -> int:
    return max(1, -(-size // unit))


@dataclass(slots=True)
class Metered:
    """A table on that client. What it asks for at once waits once."""

    table: Table
    spent: Spent

    def _along[T](self, call: Callable[[], T]) -> T:
        before = self.spent.calls
        answer = call()
        self.spent.trips += self.spent.calls - before
        return answer

    def get(self, keys: Sequence[Key]) -> dict[Key, Item]:
        """All portions of a hundred keys are asked for at once."""
        self.spent.trips += 1 if keys else 0
        return self.table.get(keys)

    def page(self, pk: str, prefix: str, *, after: str, limit: int, newest: bool = False) -> Page:
        return self._along(
            lambda: self.table.page(pk, prefix, after=after, limit=limit, newest=newest)
        )

    def both[One, Other](
        self, one: Callable[[], One], other: Callable[[], Other]
    ) -> tuple[One, Other]:
        start = self.spent.trips
        first, reached = one(), self.spent.trips
        self.spent.trips = start
        second = other()
        self.spent.trips = max(reached, self.spent.trips)
        return first, second

    def transact(self, steps: Sequence[Step]) -> None:
        self._along(lambda: self.table.transact(steps))

    def load(self, items: Iterable[Item]) -> None:
        self._along(lambda: self.table.load(items))

    def drop(self, keys: Sequence[Key]) -> None:
        self._along(lambda: self.table.drop(keys))

    def close(self) -> None:
        self.table.close()
