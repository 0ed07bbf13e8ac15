"""Goes on with imports when a message says that there is work. What is left lies in the store."""

from typing import Any

from keeproom import compose
from keeproom.aws.watched import each_message, seconds_left, watched
from keeproom.settings import read_settings
from keeproom.vault import chores

_settings = read_settings()
_vault = compose.cloud(_settings).vault
_wake = compose.waker(_settings)


def work(event: dict[str, Any], context: Any) -> Any:  # noqa: ANN401  JSON in, JSON out
    """Ends 10 s before its time does, and then has somebody go on."""

    def go_on(_: object) -> None:
        if not chores.imports(_vault, lambda: seconds_left(context)):
            _wake()

    return each_message(event, context, go_on)


handler = watched(work)
