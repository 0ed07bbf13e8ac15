"""Asking the collection."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from keeproom.engines.opensearch.calls import Answer, Send, expected, lines_of, text_of
from keeproom.engines.opensearch.shape import narrowed, numbers
from keeproom.errors import Unavailable
from keeproom.vault.ports import Sought

# Asked for more than is wanted: some are chunks of one memory, copies, or there no more, and the
# service ranks by words with constants of its own.
_MORE = 2
_MOST_TERMS = 128  # the service takes 1,024 clauses
_REFUSALS = {400, 403, 404, 405}  # of a call that the service may not know
_MISSING = 404


@dataclass(frozen=True, slots=True)
class Ranked:
    """Memory ids, best first, each once. `cut`: there may be more."""

    ids: Sequence[str] = ()
    cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """By meaning, and by words."""

    near: Ranked
    matching: Ranked


class Searches:
    """Both searches of a recall go together, in one call where the service knows it."""

    def __init__(self, send: Send, index: str) -> None:
        self._send, self._index = send, index
        self._together = True

    def ask(self, sought: Sought, *, generation: str) -> Found | None:
        """None when there is no such index. Raises `Unavailable`. Of the terms the first are
        asked for."""
        wanted = {
            name: body
            for name, body in (
                ("near", _near(sought, generation)),
                ("matching", _matching(sought, generation)),
            )
            if body is not None
        }
        answers = self._answers(list(wanted.values()))
        if any(answer.get("status") == _MISSING for answer in answers):
            return None
        size = _MORE * sought.limit
        told = {name: _ranked(answer, size) for name, answer in zip(wanted, answers, strict=True)}
        return Found(near=told.get("near", Ranked()), matching=told.get("matching", Ranked()))

    def _answers(self, bodies: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        if len(bodies) < 2:
            return [self._alone(body) for body in bodies]
        answers = self._at_once(bodies) if self._together else None
        if answers is not None:
            return answers
        with ThreadPoolExecutor(len(bodies)) as pool:
            found = list(pool.map(self._alone, bodies))
        self._together = False
        return found

    def _at_once(self, bodies: Sequence[dict[str, Any]]) -> list[dict[str, Any]] | None:
        """None when the service does not know how."""
        lines = [line for body in bodies for line in ({}, body)]
        path = f"/{self._index}/_msearch"
        answer = self._send("POST", path, lines_of(lines), repeatable=True)
        if answer.status in _REFUSALS:
            return None
        return expected(answer, what="msearch").json["responses"]

    def _alone(self, body: dict[str, Any]) -> dict[str, Any]:
        answer = self._send("POST", f"/{self._index}/_search", text_of(body), repeatable=True)
        return _read(answer)


def _read(answer: Answer) -> dict[str, Any]:
    if answer.status == _MISSING:
        return {"status": _MISSING}
    return expected(answer, what="search").json


def _near(sought: Sought, generation: str) -> dict[str, Any] | None:
    """None when nothing is near: the service refuses a vector of zeros."""
    vector = numbers(sought.vector)
    if not any(vector):
        return None
    only = {"bool": {"filter": narrowed(sought.where, generation=generation)}}
    size = _MORE * sought.limit
    return _search({"knn": {"vector": {"vector": vector, "k": size, "filter": only}}}, size)


def _matching(sought: Sought, generation: str) -> dict[str, Any] | None:
    if not sought.terms:
        return None
    words = {"match": {"terms": " ".join(sought.terms[:_MOST_TERMS])}}
    narrow = narrowed(sought.where, generation=generation)
    return _search({"bool": {"must": words, "filter": narrow}}, _MORE * sought.limit)


def _search(query: dict[str, Any], size: int) -> dict[str, Any]:
    return {"size": size, "query": query, "_source": ["memory_id"]}


def _ranked(answer: dict[str, Any], size: int) -> Ranked:
    """Of an answer with `size` documents at most. Raises `Unavailable` for one that tells of a
    failure."""
    if "hits" not in answer or answer.get("timed_out"):
        expected(Answer(int(answer.get("status", 500)), b""), what="search")
        raise Unavailable("The search service broke off.")
    hits = answer["hits"]["hits"]
    ids = dict.fromkeys(str(hit["_source"]["memory_id"]) for hit in hits)
    return Ranked(list(ids), cut=len(hits) >= size)
