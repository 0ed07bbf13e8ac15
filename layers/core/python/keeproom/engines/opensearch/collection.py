"""The collection as the shared index."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import batched
from typing import Any

from keeproom.engines.opensearch import writes
from keeproom.engines.opensearch.calls import Answer, Rest, Send, expected, text_of
from keeproom.engines.opensearch.searches import Found, Searches
from keeproom.engines.opensearch.shape import definition, documents, index_name, prefix
from keeproom.errors import Unavailable
from keeproom.vault.ports import Added, Indexed, Sought

_SOUGHT = 1000  # documents found at once
_MISSING, _ALREADY = 404, 400


class Collection:
    """`SharedIndex`, and the candidates of a search. It names the documents itself, has no update
    and no refresh, and shows a write after some ten seconds. Safe for threads. `patience`: seconds
    for what it is too busy for; `pause`: seconds in which it is left alone after it has not
    answered, for searching and for writing apart, as each wakes up by itself."""

    def __init__(
        self,
        send: Send,
        *,
        vault: str,
        model: str,
        dims: int,
        patience: float = 2.0,
        pause: float = 5.0,
    ) -> None:
        self._dims, self._patience = dims, patience
        self._name, self._prefix = index_name(vault, model, dims), prefix(vault)
        self._searching, self._writing = Rest(pause), Rest(3 * pause)
        self._ready = False
        self._ask = _resting(send, self._searching)
        self._tell = _resting(send, self._writing)
        self._searches = Searches(self._ask, self._name)

    @property
    def name(self) -> str:
        return self._name

    def search(self, sought: Sought, *, generation: str) -> Found | None:
        """None when there is no such index. Raises `Unavailable`."""
        found = self._searches.ask(sought, generation=generation)
        if found is None:
            self._ready = False
        return found

    def prepare(self) -> bool:
        self._writing.check()
        if self._ready:
            return False
        answer = self._tell("HEAD", f"/{self._name}", repeatable=True)
        made = answer.status == _MISSING
        if made:
            body = text_of(definition(self._dims))
            answer = self._tell("PUT", f"/{self._name}", body, repeatable=False)
            if answer.status == _ALREADY and b"resource_already_exists" in answer.body:
                answer, made = Answer(200, b""), False
        expected(answer, what="create index")
        self._ready = True
        return made

    def add(self, rows: Sequence[Indexed], *, generation: str) -> Mapping[str, Added]:
        owners: list[str] = []
        made: list[dict[str, Any]] = []
        for row in rows:
            for one in documents(row, generation=generation, dims=self._dims):
                owners.append(row.id)
                made.append(one)
        names = writes.add(self._tell, self._name, made, patience=self._patience)
        given: dict[str, list[str]] = {row.id: [] for row in rows}
        for owner, name in zip(owners, names, strict=True):
            given[owner].append(name)
        return {
            one: Added(names=tuple(filter(None, names)), whole=all(names))
            for one, names in given.items()
        }

    def drop(self, names: Sequence[str]) -> frozenset[str]:
        return writes.drop(self._tell, self._name, names)

    def find(self, ids: Sequence[str]) -> Mapping[str, Sequence[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for part in batched(ids, 100, strict=False):
            query = {"terms": {"memory_id": list(part)}}
            for memory_id, name in self._documents({"query": query}):
                found[memory_id].append(name)
        return found

    def documents(self, *, after: str, limit: int) -> tuple[Sequence[tuple[str, str]], str]:
        """The place is a memory's id, whose documents come again with the next call: some of them
        may have stood behind the end. `limit` must be more than one memory has."""
        query: dict[str, Any] = {"range": {"memory_id": {"gte": after}}}
        found = self._documents({"query": query, "sort": [{"memory_id": "asc"}], "size": limit})
        more = len(found) == limit and found[-1][0] != after
        return found, found[-1][0] if more else ""

    def _documents(self, body: dict[str, Any]) -> list[tuple[str, str]]:
        asked = {"size": _SOUGHT, "_source": ["memory_id"]} | body
        answer = self._ask("POST", f"/{self._name}/_search", text_of(asked), repeatable=True)
        if answer.status == _MISSING:
            return []
        hits = expected(answer, what="find").json["hits"]["hits"]
        return [(str(hit["_source"]["memory_id"]), str(hit["_id"])) for hit in hits]

    def tidy(self) -> None:
        path = f"/_cat/indices/{self._prefix}*?format=json&h=index"
        listed = expected(self._ask("GET", path, repeatable=True), what="list indexes").json
        for one in listed:
            name = str(one["index"])
            if name.startswith(self._prefix) and name != self._name:
                answer = self._tell("DELETE", f"/{name}", repeatable=False)
                if answer.status != _MISSING:
                    expected(answer, what="delete index")


def _resting(send: Send, rest: Rest) -> Send:
    def call(method: str, path: str, body: bytes = b"", *, repeatable: bool) -> Answer:
        rest.check()
        try:
            answer = send(method, path, body, repeatable=repeatable)
        except Unavailable:
            rest.begin()
            raise
        if answer.status >= 500:
            rest.begin()
        return answer

    return call
