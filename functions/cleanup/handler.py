"""Once a day: removes what the owner keeps no longer, and sign-ins and grants that have expired."""

from typing import Any

from keeproom import compose
from keeproom.aws.watched import seconds_left, watched
from keeproom.oauth.cleanup import clean_up
from keeproom.settings import read_settings
from keeproom.vault import retention

_settings = read_settings()
_vault = compose.cloud(_settings).vault
_authorization = compose.letting_in_cloud(_settings)


def clean(event: object, context: Any) -> dict[str, int]:  # noqa: ANN401  the runtime's
    retention.clean_up(_vault, seconds=seconds_left(context) / 2)
    before = retention.audit_kept_from(_vault)
    return {"removed": clean_up(_authorization, audit_before=before)}


handler = watched(clean)
