"""The one place where adapters meet the product. Each place is imported only where it is used."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from keeproom.clock import utc_now
from keeproom.engines.no_embedder import NoEmbedder
from keeproom.engines.pairs import calibration_pairs
from keeproom.engines.scorer import NumpyScorer
from keeproom.errors import Invalid, Unusable
from keeproom.oauth.authorization import Authorization
from keeproom.oauth.ports import Documents
from keeproom.oauth.sign_in import SignIn
from keeproom.settings import Settings
from keeproom.vault.blobs import Blobs
from keeproom.vault.jobs import catch_up
from keeproom.vault.ports import Embedder, MemoryStore, SearchIndex
from keeproom.vault.profiles import Profiles
from keeproom.vault.vault import Vault
from keeproom.vault.work import INDEX, Wake

PERSONAL = "personal"  # the one vault so far
SNAPSHOT = "index.snapshot"


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """A vault and the profiles it goes by. `place`: the folder or the table it lies in."""

    vault: Vault
    profiles: Profiles
    place: str

    def prepare(self) -> None:
        """What can wait until the doors are open: the index, and the measure of a new model.
        Raises `Unavailable` while there is no model."""
        catch_up(self.vault)
        self.calibrate()

    def calibrate(self, *, seconds: float | None = None) -> None:
        """Measure a new model, for `seconds` at most. Raises `Unavailable` when it is not done."""
        if not isinstance(self.vault.embedder, NoEmbedder) and not self.profiles.is_measured():
            self.profiles.measure(seconds=seconds)


@contextmanager
def local(settings: Settings) -> Generator[Composed]:
    """The vault in the settings' folder, which is made if need be. Raises `Unusable`."""
    from keeproom.local import blobs, memory_store, search_index

    home = settings.home
    _make_private(home)
    store, embedder = memory_store.open(home / "vault.db", clock=utc_now), embedder_of(settings)
    index = search_index.open(blobs.open(home), SNAPSHOT, model=embedder.model, dims=embedder.dims)
    try:
        yield _composed(store, index, embedder, place=str(home))
    finally:
        store.close()


def cloud(settings: Settings, *, patient: bool = False) -> Composed:
    """The vault in the settings' table, bucket and model. `patient`: nobody waits for an answer, so
    a collection that sleeps may take its time; else a worker is told to bring it up to date. It is
    not closed: a container does not end, it is gone. Raises `Invalid` when the settings name no
    table or bucket, or a model that is not known, and `Unavailable`."""
    from keeproom.aws import blobs, memory_store

    table = _needed(settings.vault_table, "VAULT_TABLE")
    store, embedder = memory_store.open(table, clock=utc_now), cloud_embedder_of(settings)
    kept = blobs.open(_needed(settings.blobs_bucket, "BLOBS_BUCKET"))
    index = cloud_index_of(settings, store, kept, embedder, patient=patient)
    later = None if patient or index.shared is None else partial(waker(settings), INDEX)
    return _composed(store, index, embedder, place=table, publish_later=later)


def cloud_index_of(
    settings: Settings, store: MemoryStore, kept: Blobs, embedder: Embedder, *, patient: bool
) -> SearchIndex:
    """In the collection, or where there is none inside the process alone. `patient`: as for
    `cloud`. Raises `Invalid`."""
    if settings.search == "embedded" or isinstance(embedder, NoEmbedder):
        from keeproom.local import search_index as embedded

        return embedded.open(kept, SNAPSHOT, model=embedder.model, dims=embedder.dims)
    from keeproom.aws import search_index

    return search_index.open(
        _needed(settings.search_endpoint, "SEARCH_ENDPOINT"),
        kept,
        SNAPSHOT,
        vault=PERSONAL,
        model=embedder.model,
        dims=embedder.dims,
        instead=settings.search_instead,
        read=search_index.PATIENT if patient else search_index.READ,
    )


def cloud_embedder_of(settings: Settings) -> Embedder:
    """Raises `Invalid` for a model that is not known. Asks nobody."""
    if settings.embedding_model == "none":
        return NoEmbedder()
    from keeproom.aws import embedder

    return embedder.open(settings.embedding_model)


def _composed(
    store: MemoryStore,
    index: SearchIndex,
    embedder: Embedder,
    *,
    place: str,
    publish_later: Callable[[], None] | None = None,
) -> Composed:
    scorer = NumpyScorer()
    profiles = Profiles(
        memories=store, embedder=embedder, scorer=scorer, pairs=calibration_pairs, clock=utc_now
    )
    vault = Vault(
        memories=store,
        index=index,
        embedder=embedder,
        scorer=scorer,
        profile=profiles.current,
        publish_later=publish_later,
    )
    return Composed(vault=vault, profiles=profiles, place=place)


@contextmanager
def local_authorization(settings: Settings, issuer: str) -> Generator[Authorization]:
    """What lets apps into the vault of the settings' folder. `issuer`: the address it is reached
    at. Raises `Unusable` and `Invalid`."""
    from keeproom.local import grant_store

    documents = documents_of(settings)
    _make_private(settings.home)
    store = grant_store.open(settings.home / "grants.db")
    try:
        yield Authorization(grants=store, documents=documents, issuer=issuer)
    finally:
        store.close()


def cloud_authorization(settings: Settings) -> Authorization:
    """What lets apps into the vault at the settings' public address. Raises `Invalid` when they
    name no address or no table."""
    from keeproom.aws import grant_store

    store = grant_store.open(_needed(settings.grants_table, "GRANTS_TABLE"))
    issuer = _needed(settings.public_url, "PUBLIC_URL")
    return Authorization(grants=store, documents=documents_of(settings), issuer=issuer)


def local_sign_in(settings: Settings, authorization: Authorization) -> SignIn | None:
    """How the owner signs in, if at a provider. Raises `Invalid` for settings that are incomplete
    or not safe."""
    from keeproom.local import owner

    if not settings.signs_in:
        return None
    secret = settings.oidc_client_secret.get_secret_value()
    provider = owner.open(
        settings.oidc_issuer,
        settings.oidc_client_id,
        secret=_needed(secret, "OIDC_CLIENT_SECRET"),
        home=authorization.issuer,
        logout_url=settings.oidc_logout_url,
    )
    return SignIn(auth=authorization, provider=provider, owners=settings.owners)


def cloud_sign_in(settings: Settings, authorization: Authorization) -> SignIn | None:
    """The same on AWS, where the secret is not in the settings. Raises `Invalid`."""
    from keeproom.aws import owner

    if not settings.signs_in:
        return None
    provider = owner.open(
        settings.oidc_issuer,
        settings.oidc_client_id,
        secrets_arn=_needed(settings.secrets_arn, "SECRETS_ARN"),
        home=authorization.issuer,
        logout_url=settings.oidc_logout_url,
    )
    return SignIn(auth=authorization, provider=provider, owners=settings.owners)


def waker(settings: Settings) -> Wake:
    """Tells the worker on AWS that there is work. Raises `Invalid` when the settings name no
    queue."""
    from keeproom.aws import queue

    return queue.open(_needed(settings.jobs_queue_url, "JOBS_QUEUE_URL")).wake


def documents_of(settings: Settings) -> Documents:
    """Raises `Invalid` for documents of one's own where others come too: they would vouch for
    anybody."""
    from keeproom.engines.documents import FiledDocuments, WebDocuments

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
            from keeproom.local import embedder

            return embedder.open()
        case "fastembed":
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
        raise Invalid(f"Set {name}: it is needed here.", param=name)
    return value
