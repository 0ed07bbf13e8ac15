"""What a place must offer: a sorted table with conditional transactions."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from keeproom.errors import TooLarge

type Value = str | int | bytes
type Item = Mapping[str, Value]  # its key under "pk" and "sk"
type Key = tuple[str, str]

LIMIT = 100  # actions in a transaction
HEAVIEST = 400_000  # bytes of an item, names and values


@dataclass(frozen=True, slots=True)
class Absent:
    """Nothing may be there. An item whose `expires` lies before `expired` counts as nothing."""

    expired: str = ""


@dataclass(frozen=True, slots=True)
class Same:
    """An item must be there, and these attributes must have these values."""

    attributes: Mapping[str, Value]


type Condition = Absent | Same | None


@dataclass(frozen=True, slots=True)
class Write:
    item: Item
    condition: Condition = None

    @property
    def key(self) -> Key:
        return key_of(self.item)


@dataclass(frozen=True, slots=True)
class Erase:
    key: Key
    condition: Condition = None


@dataclass(frozen=True, slots=True)
class Check:
    """Nothing is done, but the condition must hold."""

    key: Key
    condition: Condition


type Step = Write | Erase | Check


@dataclass(frozen=True, slots=True)
class Page:
    """`more`: something may follow the last item."""

    items: Sequence[Item]
    more: bool


class Failed(Exception):
    """Conditions did not hold, and nothing was written. `places`: the steps, counted from 0."""

    def __init__(self, places: Iterable[int]) -> None:
        super().__init__("a condition did not hold")
        self.places = frozenset(places)


class Busy(Exception):
    """Another transaction held some of the items; certainly nothing was written."""


class Table(Protocol):
    """Every call raises `Unavailable` when the place does not answer in time."""

    def get(self, keys: Sequence[Key]) -> dict[Key, Item]:
        """Those that exist; a key may be asked for twice. Each read sees every finished
        transaction."""
        ...

    def page(self, pk: str, prefix: str, *, after: str, limit: int, newest: bool = False) -> Page:
        """Items whose `sk` starts with `prefix` (which ends with `#`), in order of `sk` (`newest`:
        the other way round), behind the key `after`, which need not exist; "" for the start."""
        ...

    def both[One, Other](
        self, one: Callable[[], One], other: Callable[[], Other]
    ) -> tuple[One, Other]:
        """The answers of two readings that do not rest on each other: at once, where that saves
        time. Raises what either raises."""
        ...

    def transact(self, steps: Sequence[Step]) -> None:
        """All or nothing; at most `LIMIT` steps, one a key. Raises `Failed` or `Busy`."""
        ...

    def load(self, items: Iterable[Item]) -> None:
        """Put without conditions and piece by piece: for what nobody reads yet."""
        ...

    def drop(self, keys: Sequence[Key]) -> None:
        """Delete piece by piece: what nobody reads any more."""
        ...

    def close(self) -> None:
        """Give back what it holds."""
        ...


def check_weight(item: Item) -> None:
    """Raises `TooLarge` for more than one item takes, everywhere alike."""
    if sum(len(name) + _weight(value) for name, value in item.items()) > HEAVIEST:
        raise TooLarge("That is more than is kept in one place. Nothing was stored.")


def _weight(value: Value) -> int:
    match value:
        case str():
            return len(value.encode(errors="replace"))
        case bytes():
            return len(value)
        case int():
            return 21


def key_of(item: Item) -> Key:
    return str(item["pk"]), str(item["sk"])
