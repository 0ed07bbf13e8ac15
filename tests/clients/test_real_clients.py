"""The clients that need no account, each from nothing to its refusal, against a running vault.

Each is left out by name where Node, its packages or the older library are not installed.
"""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from clients.all import CLIENTS
from clients.node import OLD_PYTHON, PACKAGES, node
from clients.owner import Owner, owner_of
from clients.places import Place, served
from clients.visit import Visit

NEEDS_NODE = ("typescript1", "typescript2", "mcp-remote", "inspector", "conformance")
EVERYWHERE = ("python2", "python1", "typescript1", "typescript2")  # the fast ones
ON_UVICORN = (*EVERYWHERE, "mcp-remote", "inspector", "conformance", "stdio", "doctor")
VISITS = [
    *((Place.UVICORN, name) for name in ON_UVICORN),
    *((Place.LAMBDA, name) for name in EVERYWHERE),
]
_numbers = count()


def missing(name: str) -> str:
    """What the client needs and this machine does not have."""
    if name == "python1" and not OLD_PYTHON.exists():
        return "the older MCP library is not installed: make .venv-clients/.ready"
    if name in NEEDS_NODE and not (PACKAGES / ".package-lock.json").exists():
        return "the packages for Node are not installed: make clients/node_modules/.tested"
    try:
        node()
    except FileNotFoundError as error:
        return str(error)
    return ""


@pytest.fixture(scope="module", params=list(Place))
def vault(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Place, str, Owner, Path]]:
    folder = tmp_path_factory.mktemp("clients")
    with served(request.param, folder) as address, owner_of(address) as owner:
        yield request.param, address, owner, folder


@pytest.mark.parametrize(
    ("vault", "name"), VISITS, indirect=["vault"], ids=[f"{name}-{place}" for place, name in VISITS]
)
def test_a_client_connects_works_and_is_refused_once_revoked(
    vault: tuple[Place, str, Owner, Path], name: str
) -> None:
    if lacking := missing(name):
        pytest.skip(lacking)
    _, address, owner, folder = vault
    owner.revoke_all()  # what a visit that failed has left

    _, drive = CLIENTS[name]
    drive(Visit(address=address, owner=owner, home=folder / f"{name}{next(_numbers)}"))
