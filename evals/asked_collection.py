"""The vault that is measured, asking a real OpenSearch that behaves as the service does."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from keeproom.engines.opensearch.collection import Collection
from keeproom.vault import rebuild
from keeproom.vault.jobs import catch_up
from keeproom.vault.recall import Query, recall
from keeproom.vault.vault import Vault
from keeproom.vault.work import index_step
from tests.search_engine.collection import Steered, serving
from tests.search_engine.node import running
from tests.search_engine.places import Watch, asking

LATER = timedelta(minutes=10)

type Asking = Callable[[Vault], AbstractContextManager[Vault]]


@contextmanager
def collection() -> Generator[Asking]:
    """What makes a filled vault ask the collection, whose index is gone afterwards."""
    with TemporaryDirectory() as folder, running(Path(folder)) as node, serving(node) as steered:
        yield lambda vault: _asking(vault, steered)


@contextmanager
def _asking(vault: Vault, steered: Steered) -> Generator[Vault]:
    watch, embedder = Watch(), vault.embedder
    send = steered.send(read=60)
    shared = Collection(send, vault="measured", model=embedder.model, dims=embedder.dims)
    index = asking(shared, embedder, watch)
    asked = replace(vault, index=index, clock=watch)
    catch_up(asked)
    while rebuild.progress(asked).finished_at is None:
        index_step(asked)
        watch.wait(LATER)
        steered.show()
    asked = replace(asked, index=asking(shared, embedder, watch))
    for _ in range(3):  # until nothing counts as fresh
        recall(asked, Query(text="What is there?"))
        watch.wait(LATER)
    steered.calls()
    yield asked
    calls = set(steered.calls())
    if "msearch" not in calls or calls - {"msearch", "search"}:
        raise RuntimeError("the collection was not asked, or was written to")
    send("DELETE", f"/{shared.name}", repeatable=False)
