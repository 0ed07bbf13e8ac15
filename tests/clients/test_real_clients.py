"""The clients that are light enough, each from nothing to its refusal, against a running vault.

Each is left out by name where Node, its packages or the older library are not installed.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from clients.all import CLIENTS
from clients.node import OLD_PYTHON, PACKAGES, node
from clients.owner import Owner, owner_of
from clients.places import Place, served
from clients.visit import Visit

NEEDS_NODE = ("typescript1", "typescript2", "mcp-remote", "inspector", "conformance")
IN_LAMBDA = ("python2", "typescript1", "typescript2")  # both eras, for little time
VISITS = [
    *((Place.UVICORN, name) for name in CLIENTS if name not in ("codex", "claude")),
    *((Place.LAMBDA, name) for name in IN_LAMBDA),
    (Place.RENAMED, "typescript1"),
]


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


class Vaults:
    """One in each place, opened when a client first comes to it."""

    def __init__(self, opened: ExitStack, folder: Path) -> None:
        self._opened, self._folder = opened, folder
        self._at: dict[Place, tuple[str, Owner]] = {}

    def visit(self, place: Place, name: str) -> Visit:
        if place not in self._at:
            address = self._opened.enter_context(served(place, self._folder / place))
            self._at[place] = address, self._opened.enter_context(owner_of(address))
        address, owner = self._at[place]
        owner.revoke_all()  # what a visit that failed has left
        return Visit(address=address, owner=owner, home=self._folder / f"{name}-{place}")


@pytest.fixture(scope="module")
def vaults(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vaults]:
    with ExitStack() as opened:
        yield Vaults(opened, tmp_path_factory.mktemp("clients"))


@pytest.mark.parametrize(
    ("place", "name"), VISITS, ids=[f"{name}-{place}" for place, name in VISITS]
)
def test_a_client_connects_works_and_is_refused_once_revoked(
    vaults: Vaults, place: Place, name: str
) -> None:
    if lacking := missing(name):
        pytest.skip(lacking)

    _, drive = CLIENTS[name]
    drive(vaults.visit(place, name))
