"""`python -m keeproom.api.openapi`: the description of every route, without a vault."""

import json
import sys

from keeproom.api.app import bare_app


def description() -> str:
    """OpenAPI as it is kept in `docs/openapi.json`."""
    return json.dumps(bare_app().openapi(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(description())
