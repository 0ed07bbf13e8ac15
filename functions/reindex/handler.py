"""Every few minutes: the index queue, missing embeddings, and imports that nobody goes on with."""

from typing import Any

from keeproom import compose
from keeproom.aws.watched import seconds_left, watched
from keeproom.settings import read_settings
from keeproom.vault import chores

_vault = compose.cloud(read_settings()).vault


def reindex(event: object, context: Any) -> dict[str, bool]:  # noqa: ANN401  the runtime's
    def left() -> float:
        return seconds_left(context)

    done = chores.imports(_vault, left) and chores.index(_vault, left)
    chores.tell_lag(_vault)
    _vault.index.save()
    return {"done": done}


handler = watched(reindex)
