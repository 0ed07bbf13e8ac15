"""The one place where adapters meet the product."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from keeproom.clock import utc_now
from keeproom.engines.documents import FiledDocuments, WebDocuments
from keeproom.engines.memory_index import InProcessIndex
from keeproom.engines.no_embedder import NoEmbedder
from keeproom.engines.pairs import calibration_pairs
from keeproom.engines.scorer import NumpyScorer
from keeproom.errors import Invalid, Unusable
from keeproom.local import grant_store, memory_store, owner
from keeproom.local.embedder import BundledEmbedder
from keeproom.local.snapshots import FileSnapshots
from keeproom.oauth.addresses import folded_all
from keeproom.oauth.authorization import Authorization
from keeproom.oauth.ports import Documents
from keeproom.oauth.sign_in import SignIn
from keeproom.settings import Settings
from keeproom.vault.jobs import catch_up
from keeproom.vault.ports import Embedder
from keeproom.vault.profiles import Profiles
from keeproom.vault.vault import Vault


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """A vault on this machine and the profiles it goes by."""

    vault: Vault
    profiles: Profiles
    home: Path

    def prepare(self) -> None:
        """What can wait until the doors are open: the index, and the measure of a new model.
        Raises `Unavailable` while there is no model."""
        catch_up(self.vault)
        if not isinstance(self.vault.embedder, NoEmbedder) and not self.profiles.is_measured():
            self.profiles.measure()


@contextmanager
def local(settings: Settings) -> Generator[Composed]:
    """The vault in the settings' folder, which is made if need be. Raises `Unusable`."""
    home = settings.home
    _make_private(home)
    store = memory_store.open(home / "vault.db", clock=utc_now)
    embedder, scorer = embedder_of(settings), NumpyScorer()
    profiles = Profiles(
        memories=store, embedder=embedder, scorer=scorer, pairs=calibration_pairs, clock=utc_now
    )
    vault = Vault(
        memories=store,
        index=InProcessIndex.open(
            embedder.model, embedder.dims, snapshots=FileSnapshots(home / "index.snapshot")
        ),
        embedder=embedder,
        scorer=scorer,
        profile=profiles.current,
    )
    try:
        yield Composed(vault=vault, home=home, profiles=profiles)
    finally:
        store.close()


@contextmanager
def letting_in(settings: Settings, issuer: str) -> Generator[Authorization]:
    """What lets apps into the vault of the settings' folder. `issuer`: the address it is reached
    at. Raises `Unusable` and `Invalid`."""
    documents = documents_of(settings)
    _make_private(settings.home)
    store = grant_store.open(settings.home / "grants.db")
    try:
        yield Authorization(grants=store, documents=documents, issuer=issuer)
    finally:
        store.close()


def signing_in(settings: Settings, authorization: Authorization) -> SignIn | None:
    """How the owner signs in, if at a provider. Raises `Invalid` for settings that are incomplete
    or not safe."""
    if not settings.signs_in:
        return None
    secret = settings.oidc_client_secret.get_secret_value()
    if not secret:
        raise Invalid("Set OIDC_CLIENT_SECRET: SECRETS_ARN is for AWS.", param="OIDC_CLIENT_SECRET")
    provider = owner.open(
        settings.oidc_issuer,
        settings.oidc_client_id,
        secret=secret,
        home=authorization.issuer,
        logout_url=settings.oidc_logout_url,
    )
    return SignIn(auth=authorization, provider=provider, owners=folded_all(settings.owners))


def documents_of(settings: Settings) -> Documents:
    """Raises `Invalid` for documents of one's own where others come too: they would vouch for
    anybody."""
    if settings.cimd_test_docs is None:
        return WebDocuments()
    if not settings.is_local:
        raise Invalid("CIMD_TEST_DOCS is for loopback addresses only.", param="CIMD_TEST_DOCS")
    return FiledDocuments.read(settings.cimd_test_docs, otherwise=WebDocuments())


def _make_private(home: Path) -> None:
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Unusable(f"The folder {home} cannot be used: {error.strerror}.") from error
    if not home.is_dir():
        raise Unusable(f"{home} is not a folder. Set KEEPROOM_HOME to one.")


def embedder_of(settings: Settings) -> Embedder:
    """Raises `Invalid` when the settings name a model only by half. Loads nothing."""
    match settings.embedder:
        case "none":
            return NoEmbedder()
        case "bundled":
            return BundledEmbedder.open()
        case "fastembed":
            # Imported here: an extra that is installed only where it is used.
            from keeproom.engines.fastembed_embedder import FastEmbedder

            return FastEmbedder(
                _needed(settings.embedder_model, "KEEPROOM_EMBEDDER_MODEL"),
                dims=_needed(settings.embedder_dims, "KEEPROOM_EMBEDDER_DIMS"),
            )
        case "endpoint":
            from keeproom.engines.openai_embedder import EndpointEmbedder

            return EndpointEmbedder(
                _needed(settings.embedder_url, "KEEPROOM_EMBEDDER_URL"),
                _needed(settings.embedder_model, "KEEPROOM_EMBEDDER_MODEL"),
                key=settings.embedder_key.get_secret_value(),
                dims=_needed(settings.embedder_dims, "KEEPROOM_EMBEDDER_DIMS"),
            )


def _needed[T: (str, int)](value: T, name: str) -> T:
    if not value:
        raise Invalid(f"Set {name}: KEEPROOM_EMBEDDER asks for it.", param=name)
    return value
