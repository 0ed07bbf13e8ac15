"""Calling the collection, and what its answers mean."""

import json
import logging
from dataclasses import dataclass
from time import monotonic
from typing import Any, Protocol

from keeproom.errors import Unavailable

_log = logging.getLogger(__name__)
_NOT_THERE = "The search service did not answer."


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes

    @property
    def json(self) -> Any:  # noqa: ANN401  whatever the service says
        """Raises `Unavailable` when it is none."""
        try:
            return json.loads(self.body or b"{}")
        except ValueError as error:
            raise Unavailable("The search service answered what is no JSON.") from error


class Send(Protocol):
    def __call__(self, method: str, path: str, body: bytes = b"", *, repeatable: bool) -> Answer:
        """One signed call; a second one does no harm when it is `repeatable`. Raises `Unavailable`
        when there is no answer in time: then the call may have been done all the same."""
        ...


class Rest:
    """After a call without an answer the service is left alone for `pause` seconds: it may be
    waking up, and each call would wait for it again."""

    def __init__(self, pause: float) -> None:
        self._pause = pause
        self._until = float("-inf")

    def check(self) -> None:
        """Raises `Unavailable` while it lasts."""
        if monotonic() < self._until:
            raise Unavailable(_NOT_THERE)

    def begin(self) -> None:
        self._until = monotonic() + self._pause


def expected(answer: Answer, *, what: str) -> Answer:
    """The answer when it is a success. Else raises `Unavailable`. The reason the service gives is
    not logged: it may quote what was sent."""
    if answer.status < 300:
        return answer
    tell(answer.status, what=what)
    raise Unavailable(_NOT_THERE)


def tell(status: int, *, what: str) -> None:
    """Log that the service did not do what it should."""
    extra = {"event": "search_refused", "what": what, "status": status}
    _log.warning("search service refused: %s status=%d", what, status, extra=extra)


def lines_of(documents: list[dict[str, Any]]) -> bytes:
    """One compact JSON text a line."""
    texts = (json.dumps(one, separators=(",", ":")) for one in documents)
    return "".join(f"{text}\n" for text in texts).encode()


def text_of(document: dict[str, Any]) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()
