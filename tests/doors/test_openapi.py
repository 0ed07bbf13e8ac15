"""The description of the API is true, and it is the one in `docs/`."""

# Schemathesis is generic over types that it leaves open.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportMissingTypeArgument=false

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.schemas import BaseSchema
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from keeproom.api.app import bare_app
from keeproom.api.openapi import description
from keeproom.local import memory_store
from keeproom.vault import imports
from keeproom.vault.batch import ImportItem
from keeproom.vault.model import OWNER as MODEL_OWNER
from keeproom.vault.remember import remember
from keeproom.vault.vault import Vault
from tests.applications import application
from tests.embedders import WordEmbedder
from tests.http import Local
from tests.letting_in import Door, code_for, door_in, registered
from tests.vaults import vault_on

KEPT = Path(__file__).parents[2] / "docs/openapi.json"
API: dict[str, Any] = bare_app().openapi()
OPERATIONS = [(path, method) for path, operations in API["paths"].items() for method in operations]
EXAMPLES = 3  # of each kind for each route; more only now and then: they cost seconds
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


def test_the_description_kept_in_docs_is_the_one_served() -> None:
    """`python -m keeproom.api.openapi > docs/openapi.json` brings it into step."""
    assert KEPT.read_text(encoding="utf-8") == description()


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_every_route_says_what_it_does_and_how_it_fails(path: str, method: str) -> None:
    operation = API["paths"][path][method]

    assert operation["description"].endswith(".")
    assert {"400", "403", "default"} <= set(operation["responses"])
    for status, answer in operation["responses"].items():
        if not status.startswith("2"):
            schema = answer["content"]["application/json"]["schema"]
            assert schema == {"$ref": "#/components/schemas/Problem"}


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    with closing(memory_store.open(tmp_path_factory.mktemp("api") / "vault.db")) as store:
        yield vault_on(store, WordEmbedder())


@pytest.fixture(scope="module")
def door(vault: Vault, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    with door_in(tmp_path_factory.mktemp("grants"), vault) as opened:
        yield opened


@pytest.fixture(scope="module")
def schema(vault: Vault, door: Door) -> BaseSchema:
    app = application(vault, import_seconds=1, authorization=door.auth)
    return schemathesis.openapi.from_asgi("/api/openapi.json", Local(app))


def real(vault: Vault, door: Door, path: str) -> str:
    """The id of something that is there."""
    if path.startswith("/api/oauth"):
        client = registered(door)["client_id"]
        code_for(door, client)
        grants = door.http.get("/api/oauth/grants", params={"limit": 200}).json()["data"]
        return client if "clients" in path else grants[-1]["id"]
    item = ImportItem(content=vault.new_id("text"))
    if path.startswith("/api/batches"):
        return imports.begin(vault, [item], by=MODEL_OWNER).id
    return remember(vault, item, by=MODEL_OWNER).memory.id


TAKE_NOTHING = ("/health", "/api/owner")  # so nothing to get wrong
GOOD, BAD = GenerationMode.POSITIVE, GenerationMode.NEGATIVE


@pytest.mark.parametrize(
    ("path", "method", "mode"),
    [(*one, GOOD) for one in OPERATIONS]
    + [(*one, BAD) for one in OPERATIONS if one[0] not in TAKE_NOTHING],
)
def test_whatever_is_sent_is_answered_as_described(
    vault: Vault, door: Door, schema: BaseSchema, path: str, method: str, mode: GenerationMode
) -> None:
    """To the vault there is, and where the request makes sense to a memory or import there is."""
    operation = schema[path][method.upper()]

    @settings(
        max_examples=EXAMPLES, deadline=None, database=None, derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )  # fmt: skip
    @given(case=operation.as_strategy(generation_mode=mode))
    def holds(case: Case) -> None:
        case.headers.pop("Keeproom-Vault", None)
        case.query.pop("vault", None)
        if mode is GOOD and "id" in case.path_parameters:
            case.path_parameters["id"] = real(vault, door, path)
        case.call_and_validate(checks=CHECKS)

    holds()
