"""A vault whose embedding model is a service: measured on first use, and missed when it is away."""

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta

import pytest

from keeproom.aws.client import client
from keeproom.aws.embedder import BedrockEmbedder
from keeproom.clock import Clock, tries, utc_now
from keeproom.engines.bedrock_models import bedrock_model
from keeproom.engines.item_store.store import ItemMemoryStore
from keeproom.engines.item_store.table import Table
from keeproom.engines.memory_index import InProcessIndex
from keeproom.engines.pairs import labelled_pairs
from keeproom.engines.scorer import NumpyScorer
from keeproom.errors import Unavailable
from keeproom.vault import jobs
from keeproom.vault.batch import ImportItem, Stored
from keeproom.vault.model import OWNER
from keeproom.vault.profiles import Profiles
from keeproom.vault.recall import Query, RecallMode, recall
from keeproom.vault.remember import remember
from keeproom.vault.vault import Vault
from tests.bedrock import COHERE, DENIED, THROTTLED, TITAN, WELL, Bedrock, Fault, bedrock

PAIRS = labelled_pairs()[:120]
TEXTS = len({text for pair in PAIRS for text in (pair.a, pair.b)})


@pytest.fixture
def cloud(aws_keys: None) -> Iterator[Bedrock]:
    with bedrock() as told:
        yield told


@pytest.fixture
def table(sqlite: Table) -> Table:
    """One is enough: where the memories lie makes no difference here."""
    return sqlite


def opened(cloud: Bedrock, model: str, *, patience: float = 10.0) -> closing[BedrockEmbedder]:
    runtime = client("bedrock-runtime", endpoint=cloud.url)
    known = bedrock_model(model)
    return closing(BedrockEmbedder(runtime, known, deadline=patience, query_deadline=patience))


@pytest.fixture(params=[TITAN, COHERE])
def embedder(request: pytest.FixtureRequest, cloud: Bedrock) -> Iterator[BedrockEmbedder]:
    with opened(cloud, request.param) as made:
        yield made


@pytest.fixture
def titan(cloud: Bedrock) -> Iterator[BedrockEmbedder]:
    with opened(cloud, TITAN, patience=4.0) as made:
        yield made


@pytest.fixture
def hasty(cloud: Bedrock) -> Iterator[BedrockEmbedder]:
    """Gives up soon."""
    with opened(cloud, TITAN, patience=0.3) as made:
        yield made


def profiles(
    store: ItemMemoryStore, embedder: BedrockEmbedder, *, clock: Clock = utc_now
) -> Profiles:
    """As each process has them."""
    return Profiles(
        memories=store, embedder=embedder, scorer=NumpyScorer(), pairs=lambda: PAIRS, clock=clock
    )


def vault_with(store: ItemMemoryStore, embedder: BedrockEmbedder) -> Vault:
    return Vault(
        memories=store,
        index=InProcessIndex(embedder.model, embedder.dims),
        embedder=embedder,
        scorer=NumpyScorer(),
        profile=profiles(store, embedder).current,
    )


def test_the_first_process_asks_the_model_and_all_others_the_store(
    store: ItemMemoryStore, embedder: BedrockEmbedder, cloud: Bedrock
) -> None:
    first = profiles(store, embedder).current()
    asked = len(cloud.asked)

    assert not first.calibrated
    assert asked > 0
    assert profiles(store, embedder).current() == first
    measured = profiles(store, embedder).measure()
    asked = len(cloud.asked)
    assert measured.calibrated
    assert profiles(store, embedder).current() == measured
    assert len(cloud.asked) == asked


def test_a_process_hears_within_a_minute_that_another_has_measured(
    store: ItemMemoryStore, embedder: BedrockEmbedder
) -> None:
    now = [utc_now()]
    one = profiles(store, embedder, clock=lambda: now[0])
    assert not one.current().calibrated

    measured = profiles(store, embedder).measure()
    now[0] += timedelta(minutes=1, seconds=1)
    assert one.current() == measured


def test_a_measure_that_ran_out_of_time_or_into_a_storm_goes_on_where_it_was(
    store: ItemMemoryStore, titan: BedrockEmbedder, cloud: Bedrock
) -> None:
    now, told = [utc_now()], list[int]()

    def later(done: int, of: int) -> None:
        told.append(done)
        now[0] += timedelta(seconds=10)

    here = profiles(store, titan, clock=lambda: now[0])
    with pytest.raises(Unavailable, match="Go on later"):
        here.measure(seconds=15, told=later)
    assert told[-1] < TEXTS
    cloud.faults = [THROTTLED]
    with pytest.raises(Unavailable, match="overrun"):
        here.measure(seconds=15, told=later)
    assert not here.is_measured()
    cloud.faults, before = [WELL], set(list(dict.fromkeys(cloud.texts))[: told[-1]])
    asked = len(cloud.texts)
    for _ in tries(60.0):
        try:
            measured = here.measure(seconds=300)
            break
        except Unavailable:
            continue
    else:
        pytest.fail("the storm never ended")
    assert measured.calibrated
    assert before.isdisjoint(cloud.texts[asked:]), "what was embedded is embedded again"


@pytest.mark.parametrize("fault", [THROTTLED, DENIED], ids=["throttled", "denied"])
def test_what_is_written_while_the_model_is_away_is_embedded_afterwards(
    store: ItemMemoryStore, hasty: BedrockEmbedder, cloud: Bedrock, fault: Fault
) -> None:
    cloud.faults = [fault]
    vault = vault_with(store, hasty)
    told = remember(vault, ImportItem(content="Anna drinks green tea."), by=OWNER)

    assert isinstance(told.outcome, Stored)
    found = recall(vault, Query(text="green tea"))
    assert (found.mode, len(found.hits)) == (RecallMode.KEYWORD_ONLY, 1)
    assert jobs.lag(vault) == 1
    cloud.faults = [WELL]
    for _ in tries(60.0):
        jobs.embed_lacking(vault)
        found = recall(vault, Query(text="green tea"))
        if found.mode is RecallMode.HYBRID and store.embeddings([told.memory.id]):
            break
    assert found.hits[0].signals.similarity is not None
