"""Once a day: removes sign-ins and grants that have expired."""

from keeproom import compose
from keeproom.aws.watched import watched
from keeproom.oauth.cleanup import clean_up
from keeproom.settings import read_settings

_authorization = compose.letting_in_cloud(read_settings())


def clean(event: object, context: object) -> dict[str, int]:
    return {"removed": clean_up(_authorization)}


handler = watched(clean)
