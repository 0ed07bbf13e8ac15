"""Writing to the collection, many documents a call."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from keeproom.clock import tries
from keeproom.engines.opensearch.calls import Send, expected, lines_of, tell
from keeproom.errors import Unavailable

_MOST = 100  # documents a call
_HEAVIEST = 9 * 2**20  # bytes a call; the service takes 10 MiB
_BUSY = {429, 503}
_GONE = {200, 404}
_ACTION = b'{"index":{}}\n'


def add(
    send: Send, index: str, documents: Sequence[dict[str, Any]], *, patience: float
) -> list[str]:
    """The names of the documents that were written, in their places, and "" for the others. What
    the service is too busy for is tried again for `patience` seconds. Raises `Unavailable` when it
    is not known what became of them."""
    names = [""] * len(documents)
    lines = {place: lines_of([document]) for place, document in enumerate(documents)}
    for part in _parts(lines.items()):
        waiting = dict(part)
        for _ in tries(patience):
            told = _answers(send, index, [_ACTION + line for line in waiting.values()])
            for place, item in zip(list(waiting), told, strict=True):
                if item["status"] < 300:
                    names[place] = str(item["_id"])
                if item["status"] not in _BUSY:
                    del waiting[place]
            if not waiting:
                break
    return names


def drop(send: Send, index: str, names: Sequence[str]) -> frozenset[str]:
    """The names of those that are there no more. Raises `Unavailable`."""
    gone: set[str] = set()
    lines = ((name, lines_of([{"delete": {"_id": name}}])) for name in names)
    for part in _parts(lines):
        told = _answers(send, index, [line for _, line in part])
        pairs = zip(part, told, strict=True)
        gone |= {name for (name, _), item in pairs if item["status"] in _GONE}
    return frozenset(gone)


def _parts[K](lines: Iterable[tuple[K, bytes]]) -> Iterator[list[tuple[K, bytes]]]:
    part: list[tuple[K, bytes]] = []
    weight = 0
    for key, line in lines:
        if part and (len(part) == _MOST or weight + len(line) > _HEAVIEST):
            yield part
            part, weight = [], 0
        part.append((key, line))
        weight += len(line)
    if part:
        yield part


def _answers(send: Send, index: str, operations: Sequence[bytes]) -> list[dict[str, Any]]:
    """What became of each. A call that is refused as a whole is refused for each; whether one that
    the service was too busy for has been done is not known."""
    body = b"".join(operations)
    answer = send("POST", f"/{index}/_bulk", body, repeatable=False)
    if 400 <= answer.status < 500:
        tell(answer.status, what="bulk")
        return [{"status": answer.status}] * len(operations)
    items = expected(answer, what="bulk").json.get("items", [])
    if len(items) != len(operations):
        raise Unavailable("The search service told of other documents.")
    return [next(iter(item.values())) for item in items]
