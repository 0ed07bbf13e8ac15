"""A shared index on paper, which can be made to fail."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count

from keeproom.engines.memory_index import InProcessIndex
from keeproom.engines.opensearch.searches import Found, Ranked
from keeproom.errors import Unavailable
from keeproom.vault.ports import Added, Indexed, Sought


class PaperIndex:
    """Gives names, replaces nothing, and shows what was written at once or, with `late`, when
    `show` is called. `down`: does not answer; `deaf`: not to writes. `refused`: memories it takes
    nothing of. `before` and `after` are called around the next `add`, and may raise. `touched`
    counts the calls."""

    def __init__(self, model: str, dims: int, *, name: str = "paper-1") -> None:
        self.name = name
        self.down, self.deaf, self.late, self.touched, self.made = False, False, False, 0, False
        self.refused: set[str] = set()
        self.before: Callable[[], object] | None = None
        self.after: Callable[[], object] | None = None
        self.tidied = 0
        self._numbers = count(1)
        self.holds: dict[str, tuple[str, Indexed]] = {}  # by name: generation and memory
        self._owner: dict[str, str] = {}
        self._shown = InProcessIndex(model, dims)
        self._showing: set[str] = set()

    def _answer(self, *, write: bool = False) -> None:
        self.touched += 1
        if self.down or (self.deaf and write):
            raise Unavailable("The paper is away.")

    def prepare(self) -> bool:
        self._answer(write=True)
        made, self.made = not self.made, True
        return made

    def burn(self) -> None:
        """It is there no more."""
        self.drop(list(self.holds))
        self.made = False

    def add(self, rows: Sequence[Indexed], *, generation: str) -> Mapping[str, Added]:
        act, self.before = self.before, None
        if act:
            act()
        self._answer(write=True)
        told: dict[str, Added] = {}
        for row in rows:
            taken = row.id not in self.refused
            told[row.id] = Added(
                names=(self._added(row, generation),) if taken else (), whole=taken
            )
        act, self.after = self.after, None
        if act:
            act()
        return told

    def _added(self, row: Indexed, generation: str) -> str:
        name = f"doc_{next(self._numbers)}"
        self.holds[name] = generation, row
        self._owner[name] = row.id
        if not self.late:
            self.show()
        return name

    def show(self) -> None:
        for name, (_, row) in self.holds.items():
            if name not in self._showing:
                self._showing.add(name)
                self._shown.put([replace(row, id=name)])

    def drop(self, names: Sequence[str]) -> frozenset[str]:
        self._answer(write=True)
        for name in names:
            self.holds.pop(name, None)
        self._shown.remove(names)
        return frozenset(names)

    def find(self, ids: Sequence[str]) -> Mapping[str, Sequence[str]]:
        self._answer()
        found: dict[str, list[str]] = defaultdict(list)
        for name, (_, row) in self.holds.items():
            if row.id in ids and name in self._showing:
                found[row.id].append(name)
        return found

    def documents(self, *, after: str, limit: int) -> tuple[Sequence[tuple[str, str]], str]:
        self._answer()
        every = sorted(
            (row.id, name) for name, (_, row) in self.holds.items() if name in self._showing
        )
        found = [pair for pair in every if pair[0] >= after][:limit]
        return found, found[-1][0] if len(found) == limit else ""

    def tidy(self) -> None:
        self._answer()
        self.tidied += 1

    def search(self, sought: Sought, *, generation: str) -> Found | None:
        self._answer()
        if not self.made:
            return None
        found = self._shown.candidates(replace(sought, limit=10_000))
        most = 2 * sought.limit
        return Found(
            near=self._ranked(found.near, generation, most),
            matching=self._ranked(found.matching, generation, most),
        )

    def _ranked(self, names: Sequence[str], generation: str, most: int) -> Ranked:
        """Of as many documents as a search gives at most."""
        own = [name for name in names if self._of(name) == generation][:most]
        return Ranked(list(dict.fromkeys(self._owner[one] for one in own)), cut=len(own) == most)

    def _of(self, name: str) -> str:
        return self.holds[name][0] if name in self.holds else ""
