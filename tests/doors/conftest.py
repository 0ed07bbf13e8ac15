from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from keeproom.aws.memory_store import DynamoTable
from keeproom.clock import utc_now
from keeproom.engines.item_store.store import ItemMemoryStore
from keeproom.local import memory_store
from keeproom.vault.vault import Vault
from tests.applications import application
from tests.dynamo.paper import PaperClient
from tests.embedders import WordEmbedder
from tests.http import client_of
from tests.issuer import Issuer, issuer
from tests.letting_in import Door, SignedIn, door_in, signed_in
from tests.signing_in import House, house_in, provider_at
from tests.vaults import vault_on

PLACES = ["sqlite", "dynamodb"]
SECRET = "ghp_" + "16C7e42F292c" * 3  # in the form of a token, and none


@pytest.fixture(scope="session")
def place() -> str:
    """Where vaults lie, one of `PLACES`; a module may ask for every one."""
    return "sqlite"


def store_in(place: str, folder: Path) -> ItemMemoryStore:
    if place == "sqlite":
        return memory_store.open(folder / "vault.db")
    return ItemMemoryStore(DynamoTable(PaperClient(), "vault"), "personal", clock=utc_now)


@pytest.fixture
def store(place: str, tmp_path: Path) -> Iterator[ItemMemoryStore]:
    with closing(store_in(place, tmp_path)) as opened:
        yield opened


@pytest.fixture
def embedder() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
def vault(store: ItemMemoryStore, embedder: WordEmbedder) -> Vault:
    """In review mode, as a new vault is."""
    return vault_on(store, embedder)


@pytest.fixture
def client(vault: Vault) -> Iterator[httpx.Client]:
    with client_of(application(vault)) as opened:
        yield opened


@pytest.fixture
def door(vault: Vault, tmp_path: Path) -> Iterator[Door]:
    """A vault that lets apps in, by a clock that is set by hand."""
    with door_in(tmp_path, vault) as opened:
        yield opened


@pytest.fixture
def app(door: Door) -> SignedIn:
    """An app that has been let in to do everything."""
    return signed_in(door)


@pytest.fixture
def provider() -> Iterator[Issuer]:
    with issuer() as running:
        yield running


@pytest.fixture
def house(vault: Vault, provider: Issuer, tmp_path: Path) -> Iterator[House]:
    """A vault whose owner signs in at the provider."""
    with house_in(tmp_path, vault, provider_at(provider)) as opened:
        yield opened


@contextmanager
def client_in(folder: Path, place: str = "sqlite") -> Generator[httpx.Client]:
    """The same, for tests that share a vault because they must leave it as it is."""
    with closing(store_in(place, folder)) as store:
        app = application(vault_on(store, WordEmbedder()))
        with client_of(app) as opened:
            yield opened


@pytest.fixture
def auto(client: httpx.Client) -> httpx.Client:
    """The same vault, where what is remembered takes effect at once."""
    assert client.put("/api/settings", json={"approval_mode": "auto"}).status_code == 200
    return client


@pytest.fixture(scope="module")
def folder(place: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp(place)


@pytest.fixture(scope="module")
def shared(place: str, folder: Path) -> Iterator[httpx.Client]:
    with client_in(folder, place) as client:
        yield client


@pytest.fixture
def empty(shared: httpx.Client, folder: Path) -> Iterator[httpx.Client]:
    """The vault is as empty after the test as it was before it: a refusal leaves no memory, no
    import and no audit entry, and the secret is in none of its files."""
    yield shared
    assert shared.get("/api/memories").json() == {"data": [], "next": None}
    assert shared.get("/api/batches").json()["data"] == []
    assert shared.get("/api/audit").json()["data"] == []
    assert SECRET.encode() not in held(folder)


def held(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


def error_of(answer: httpx.Response, status: int) -> dict[str, Any]:
    """In the one form, with a sentence, without a trace."""
    assert answer.status_code == status, answer.text
    assert list(answer.json()) == ["error"]
    error = answer.json()["error"]
    assert error["message"].endswith(".")
    assert "Traceback" not in answer.text
    return error
