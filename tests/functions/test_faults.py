"""What befalls the services behind the functions, met by the real handlers: whoever asks is
answered or told why not, and nothing is lost, doubled or brought back."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from keeproom.clock import tries, utc_now
from keeproom.compose import PERSONAL
from keeproom.engines.opensearch.collection import Collection
from keeproom.vault import jobs, listing
from keeproom.vault.listing import Listed
from keeproom.vault.model import Job, Profile
from keeproom.vault.vault import Vault
from tests.agents import Agent
from tests.bedrock import DENIED, THROTTLED, TITAN, WELL, Bedrock, Fault, bedrock
from tests.dynamo import emulator
from tests.dynamo.proxy import Fault as Befalls
from tests.dynamo.proxy import Proxy, proxy
from tests.functions.container import Container, container
from tests.functions.gateway import ADDRESS, Gateway
from tests.functions.place import EVERYTHING, Cloud
from tests.letting_in import Door, signed_in
from tests.search_engine.collection import Steered

MODEL = f"{TITAN}@512"
CALLS = ("TransactWriteItems", "BatchGetItem", "Query", "BatchWriteItem")


@dataclass(frozen=True, kw_only=True)
class Site:
    """A vault of its own, the services it rests on, and functions that are started there."""

    cloud: Cloud
    token: str
    folder: Path
    way: Proxy
    models: Bedrock
    running: ExitStack

    @property
    def vault(self) -> Vault:
        """As a process sees it to which nothing befalls."""
        return self.cloud.vault()

    def function(self, name: str, **told: str) -> Container:
        """A new container of it."""
        environment = {
            **self.cloud.environment,
            "AWS_ENDPOINT_URL_DYNAMODB": self.way.url,
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": self.models.url,
            **told,
        }
        return self._opened(container(name, self.folder, environment))

    def agent(self, api: Container) -> Agent:
        web = httpx.Client(transport=Gateway(api), base_url=ADDRESS)
        return Agent(self._opened(web), self.token)

    def _opened[T](self, one: AbstractContextManager[T]) -> T:
        return self.running.enter_context(one)

    def texts(self) -> list[str]:
        page = listing.memories(self.vault, Listed(), limit=200)
        assert self.vault.memories.audit_faults() == []
        return sorted(one.content for one in page.items)


@pytest.fixture
def site(cloud: Cloud, door: Door, folder: Path) -> Iterator[Site]:
    table = emulator.new_table(cloud.client)
    own = replace(cloud, vault_table=table, environment={**cloud.environment, "VAULT_TABLE": table})
    measured = Profile(model=MODEL, dims=512, mu={"": 0.0}, calibrated=True)
    own.vault().memories.keep_profile(measured)  # or the first run of `reindex` would
    token = signed_in(door, allow=EVERYTHING).access
    with (
        proxy(cloud.environment["AWS_ENDPOINT_URL"]) as way,
        bedrock() as models,
        ExitStack() as running,
    ):
        yield Site(
            cloud=own, token=token, folder=folder, way=way, models=models, running=running
        )  # fmt: skip


# ---- the table


def test_what_befalls_calls_to_the_table_reaches_no_agent(site: Site) -> None:
    agent = site.agent(site.function("api"))
    kept: list[str] = []
    for fault in Befalls:
        if fault is Befalls.STUCK:
            continue
        text = f"Ana keeps bees in {fault.name.lower()}ville"
        transaction = fault in (Befalls.CONFLICT, Befalls.THROTTLED)
        met = {call: [fault] * 3 for call in (CALLS[:1] if transaction else CALLS)}
        site.way.faults = {**met}
        told = agent.call("remember", content=text, request_id=fault.name)
        assert not site.way.faults["TransactWriteItems"], "nothing befell it"
        site.way.faults = {call: [*faults] for call, faults in met.items()}
        assert agent.call("remember", content=text, request_id=fault.name)["id"] == told["id"]
        assert told["id"] in [one["id"] for one in agent.call("recall", query=text)["hits"]]
        kept.append(text)
    assert site.texts() == sorted(kept)

    for memory in listing.memories(site.vault, Listed(), limit=50).items:
        site.way.faults = {"TransactWriteItems": [Befalls.LOST, Befalls.CONFLICT]}
        agent.call("forget", id=memory.id, request_id=memory.id)
        assert agent.refused("remember", content=memory.content).startswith("[excluded]")
    assert site.texts() == []


def test_who_is_never_answered_is_told_so_and_finds_it_done_by_asking_again(site: Site) -> None:
    agent = site.agent(site.function("api"))
    asked = {"content": "Ana keeps bees on the roof", "request_id": "r1"}
    agent.call("recall", query="anything")
    site.way.faults = {"TransactWriteItems": [Befalls.LOST] * 100_000}

    assert "may or may not be stored" in agent.refused("remember", **asked)
    site.way.faults = {}
    told = agent.call("remember", **asked)
    assert told["outcome"] == "stored"
    assert site.texts() == ["Ana keeps bees on the roof"]


# ---- the embedding model


@pytest.mark.parametrize("fault", [THROTTLED, DENIED], ids=["throttled", "denied"])
def test_while_the_model_is_away_words_do_and_afterwards_it_makes_up_for_it(
    site: Site, fault: Fault
) -> None:
    site.models.faults = [fault]
    api = site.function("api", EMBEDDING_MODEL=TITAN)
    agent = site.agent(api)
    began = time.monotonic()
    kept = agent.call("remember", content="Ana keeps bees on the roof")
    assert time.monotonic() - began < 29, "the gateway would have given up"
    brought = agent.call("bulk_remember", items=["Ben rides a horse", "Kim bakes bread"])
    assert [one["outcome"] for one in brought["outcomes"]] == ["stored", "stored"]
    told = agent.call("recall", query="bees")
    assert (told["mode"], [one["id"] for one in told["hits"]]) == ("keyword-only", [kept["id"]])
    assert "bees" not in api.log

    site.models.faults = [WELL]
    reindex = site.function("reindex", EMBEDDING_MODEL=TITAN)
    assert reindex.invoke({}, seconds=240)["done"]
    assert jobs.lag(site.vault) == 0
    for _ in tries(60.0):  # until the storm is over for this container too
        told = agent.call("recall", query="bees")
        if told["mode"] == "hybrid":
            break
    assert told["mode"] == "hybrid"
    assert kept["id"] in [one["id"] for one in told["hits"]]
    assert site.texts() == ["Ana keeps bees on the roof", "Ben rides a horse", "Kim bakes bread"]


# ---- the collection


@pytest.fixture
def searched(site: Site, collection: Steered) -> dict[str, str]:
    """What functions are told where there is a collection."""
    collection.calls()
    return {
        "SEARCH": "opensearch",
        "SEARCH_ENDPOINT": "https://abc.aoss.eu-west-1.on.aws",
        "SEARCH_INSTEAD": collection.address,
        "EMBEDDING_MODEL": TITAN,
    }


def test_a_scheduled_run_with_nothing_due_never_touches_the_collection(
    site: Site, searched: dict[str, str], collection: Steered
) -> None:
    warm = site.function("reindex", **searched)
    assert warm.invoke({}, seconds=240)["done"]
    assert collection.calls() == [], "there is nothing to index in an empty vault"
    kept = site.agent(site.function("api", **searched)).call("remember", content="Ana keeps bees")
    assert warm.invoke({}, seconds=240)["done"]
    assert "bulk" in collection.calls()

    assert warm.invoke({}, seconds=240)["done"]
    assert (jobs.lag(site.vault), collection.calls()) == (0, [])
    memories = site.vault.memories
    later = Job(
        generation=memories.head().generation, memory_id=kept["id"], revision=1,
        due=utc_now() + timedelta(minutes=30),
    )  # fmt: skip
    memories.queue([later])
    for one in (warm, site.function("reindex", **searched)):
        assert one.invoke({}, seconds=240)["done"]
    assert collection.calls() == []
    assert jobs.lag(site.vault) == 1
    memories.finish([later])
    memories.queue([replace(later, due=utc_now())])
    assert warm.invoke({}, seconds=240)["done"]
    assert "bulk" in collection.calls(), "it is touched when something is due"


def test_who_can_wait_waits_until_the_collection_is_awake(
    site: Site, searched: dict[str, str], collection: Steered
) -> None:
    site.agent(site.function("api", **searched)).call("remember", content="Ana keeps bees")
    collection.behave(wake_seconds=4)
    collection.sleep()

    assert site.function("reindex", **searched).invoke({}, seconds=240)["done"]
    assert jobs.lag(site.vault) == 0


def test_killed_between_commit_and_index_write_it_is_indexed_once_by_the_schedule(
    site: Site, searched: dict[str, str], collection: Steered
) -> None:
    api = site.function("api", **searched)
    agent, asked = site.agent(api), {"content": "Ana keeps bees", "request_id": "r1"}
    agent.call("recall", query="anything")
    site.way.faults = {"TransactWriteItems": [Befalls.STUCK]}
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(agent.call, "remember", **asked)
        assert site.way.stuck.wait(60)
        api.kill()
        assert isinstance(answer.exception(), RuntimeError)
    assert "bulk" not in collection.calls()

    again = site.agent(site.function("api", **searched))
    (hit,) = again.call("recall", query="bees")["hits"]
    assert site.function("reindex", **searched).invoke({}, seconds=240)["done"]
    shared = Collection(collection.send(), vault=PERSONAL, model=MODEL, dims=512)
    assert len(shared.find([hit["id"]])[hit["id"]]) == 1
    assert again.call("remember", **asked)["id"] == hit["id"]
    assert jobs.lag(site.vault) <= 1
    assert site.texts() == ["Ana keeps bees"]
