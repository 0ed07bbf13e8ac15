"""Every few minutes: the index queue, missing embeddings, and imports that nobody goes on with."""

from typing import Any

from keeproom import compose
from keeproom.aws.watched import seconds_left, watched
from keeproom.settings import read_settings
from keeproom.vault.work import left_over, tell_lag

_vault = compose.cloud(read_settings()).vault


def reindex(event: object, context: Any) -> dict[str, bool]:  # noqa: ANN401  the runtime's
    def left() -> float:
        return seconds_left(context)

    done = left_over(_vault, left)
    tell_lag(_vault)
    _vault.index.save()
    return {"done": done}


handler = watched(reindex)
