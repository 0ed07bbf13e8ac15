"""Works on what messages tell of. What is left lies in the store; another message tells of it."""

from typing import Any

from keeproom import compose
from keeproom.aws.watched import each_message, seconds_left, watched
from keeproom.settings import read_settings
from keeproom.vault.work import task_of, work

_settings = read_settings()
_vault = compose.cloud(_settings, patient=True).vault
_wake = compose.waker(_settings)


def go_on(event: dict[str, Any], context: Any) -> Any:  # noqa: ANN401  JSON in, JSON out
    """Begins nothing in the last 10 s of its time."""

    def one(record: Any) -> None:  # noqa: ANN401  a message as Powertools reads it
        work(_vault, task_of(record.body), seconds=seconds_left(context), again=_wake)

    return each_message(event, context, one)


handler = watched(go_on)
