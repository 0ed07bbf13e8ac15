"""Every few minutes: the index queue, missing embeddings, and imports that nobody goes on with."""

from contextlib import suppress
from typing import Any

from keeproom import compose
from keeproom.aws.watched import seconds_left, watched
from keeproom.errors import Unavailable
from keeproom.settings import read_settings
from keeproom.vault.work import left_over, tell_lag

_composed = compose.cloud(read_settings(), patient=True)
_vault = _composed.vault


def reindex(event: object, context: Any) -> dict[str, bool]:  # noqa: ANN401  the runtime's
    def left() -> float:
        return seconds_left(context)

    done = left_over(_vault, left)
    with suppress(Unavailable):  # then a later run goes on with it
        _composed.calibrate(seconds=left())
    tell_lag(_vault)
    _vault.index.save()
    return {"done": done}


handler = watched(reindex)
