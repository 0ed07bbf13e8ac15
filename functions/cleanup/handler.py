"""Once a day: removes what has expired and what the owner keeps no longer."""

from typing import Any

from keeproom import compose
from keeproom.aws.watched import seconds_left, watched
from keeproom.oauth.cleanup import clean_up as clean_up_apps
from keeproom.settings import read_settings
from keeproom.vault.retention import audit_kept_from, clean_up

_settings = read_settings()
_vault = compose.cloud(_settings, patient=True).vault
_authorization = compose.cloud_authorization(_settings)


def clean(event: object, context: Any) -> dict[str, int]:  # noqa: ANN401  the runtime's
    apps = clean_up_apps(_authorization, audit_before=audit_kept_from(_vault))
    gone = clean_up(_vault, seconds=seconds_left(context))
    return {
        "apps": apps,
        "superseded": gone.superseded,
        "rejected": gone.rejected,
        "earlier_texts": gone.earlier_texts,
        "audit": gone.audit,
    }


handler = watched(clean)
