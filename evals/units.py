"""Round trips and units of each operation on DynamoDB, counted on a table on paper.

Every operation runs in a process that is awake: its index has caught up. The vaults are made of the
texts of corpus.py, with vectors of 512 numbers, as Titan's; what an operation costs must not grow
with them.

Run `python -m evals.units`; `JSON=1` adds the numbers as a last line of JSON.
"""

import json
import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import numpy as np

from evals.corpus import memories, questions
from evals.meter import Metered, MeteredClient, Spent
from evals.report import Section, Table, print_table, write
from keeproom.aws.memory_store import DynamoTable
from keeproom.clock import Clock
from keeproom.engines.grant_store import ItemGrantStore
from keeproom.engines.item_store import layout
from keeproom.engines.item_store.store import ItemMemoryStore
from keeproom.engines.item_store.table import Item
from keeproom.engines.memory_index import InProcessIndex
from keeproom.engines.scorer import NumpyScorer
from keeproom.oauth import model as oauth
from keeproom.vault import imports, jobs, listing, rebuild, review
from keeproom.vault.batch import ImportItem
from keeproom.vault.edit import Edit, edit
from keeproom.vault.forget import forget
from keeproom.vault.import_group import work
from keeproom.vault.jobs import catch_up
from keeproom.vault.kin import embedding
from keeproom.vault.model import (
    OWNER,
    Actor,
    ApprovalMode,
    Embedding,
    Held,
    Memory,
    Profile,
    Settings,
    Status,
)
from keeproom.vault.ports import Encoded, EncodedQuery
from keeproom.vault.publish import SHOWN
from keeproom.vault.recall import Query, recall
from keeproom.vault.remember import remember
from keeproom.vault.settings import Wanted, change_settings
from keeproom.vault.underway import Underway
from keeproom.vault.vault import Vault
from tests.dynamo.paper import PaperClient
from tests.search_engine.paper import PaperIndex
from tests.search_engine.places import Watch, asking

PAGE = Path(__file__).parents[1] / "docs" / "storage.md"
SIZES = (1_000, 10_000)
DIMS = 512
AGENT = Actor("mcp:Claude", grant="grt_1")
GROWTH = 1.2
MOST = {"recall": 4, "remember": 3, "forget": 2, "check a token": 1}  # trips
START = datetime(2026, 1, 1, tzinfo=UTC)


class Directions:
    """Every text has a direction of its own, always the same."""

    model, dims = f"directions@{DIMS}", DIMS

    def passages(self, texts: Sequence[str]) -> list[Encoded]:
        return [Encoded(vectors=self.query(text).vector) for text in texts]

    def query(self, text: str) -> EncodedQuery:
        dice = np.random.default_rng(zlib.crc32(text.encode()))
        row = dice.normal(0, 1, DIMS).astype("<f4")
        return EncodedQuery(vector=(row / np.linalg.norm(row)).tobytes())


@dataclass(slots=True)
class Bench:
    """A vault on a metered table, and a second process at it."""

    spent: Spent
    watch: Watch
    vault: Vault
    other: Vault
    grants: ItemGrantStore
    texts: Iterator[str]
    ids: Sequence[str]
    told: dict[str, Spent] = field(default_factory=dict[str, Spent])

    def count(self, name: str, work: Callable[[], object]) -> None:
        for number in ("trips", "calls", "read", "written"):
            setattr(self.spent, number, 0)
        work()
        self.told[name] = Spent(**asdict(self.spent))


def bench(size: int) -> Bench:
    client = MeteredClient(PaperClient())
    table = Metered(DynamoTable(client, "vault"), client.spent)
    watch = Watch(START)
    store = ItemMemoryStore(table, "personal", clock=watch, settling=0.0)
    vault, other = (_vault(store, watch) for _ in range(2))
    texts = iter(memories(size + 200, seed=1))
    pk = layout.partition("personal", store.head().generation)
    made = [_memory(vault, next(texts)) for _ in range(size)]
    table.load(item for memory in made for item in _items(vault, pk, memory))
    table.load([layout.settings_item(pk, Settings(approval_mode=ApprovalMode.AUTO, revision=1))])
    for one in (vault, other):
        catch_up(one)
    ids = [memory.id for memory in made]
    return Bench(client.spent, watch, vault, other, ItemGrantStore(table), texts, ids)


def _vault(store: ItemMemoryStore, clock: Clock) -> Vault:
    embedder = Directions()
    profile = Profile(model=embedder.model, dims=DIMS, mu={"": 0.0}, calibrated=True)
    return Vault(
        memories=store,
        index=InProcessIndex(embedder.model, DIMS),
        embedder=embedder,
        scorer=NumpyScorer(),
        profile=lambda: profile,
        clock=clock,
    )


def _memory(vault: Vault, text: str) -> Memory:
    return Memory(
        id=vault.new_id("mem"), content=text, status=Status.ACTIVE, created_at=START,
        updated_at=START, since=START, actor=AGENT.name,
    )  # fmt: skip


def _items(vault: Vault, pk: str, memory: Memory) -> Iterator[Item]:
    (made,) = vault.embedder.passages([memory.content])
    kept: Embedding = embedding(vault, memory.id, memory.content, made)
    held = layout.holding_item(pk, memory.identity, Held(memory.id))
    assert held
    yield from (layout.memory_item(pk, memory), layout.embedding_item(pk, kept), held)


@cache
def measured(size: int) -> Mapping[str, Spent]:
    """By operation. The same every time."""
    here = bench(size)
    _recalls(here)
    _remembers(here)
    _decisions(here)
    _lists(here)
    _imports(here)
    _tokens(here)
    _scheduled(here.vault)
    here.count("a scheduled run, idle", lambda: _scheduled(here.vault))
    _collection(here)
    return here.told


def _recalls(here: Bench) -> None:
    asked = iter(questions(9, seed=2))
    recall(here.vault, Query(text=next(asked)))
    here.count("recall", lambda: recall(here.vault, Query(text=next(asked))))
    dated = f"{next(asked)} in March 2025"
    here.count("recall, with a date named", lambda: recall(here.vault, Query(text=dated)))
    _say(here.other, next(here.texts))
    here.count(
        "recall, after another process has written",
        lambda: recall(here.vault, Query(text=next(asked))),
    )


def _say(vault: Vault, text: str, **more: str) -> Memory:
    return remember(vault, ImportItem(content=text), by=AGENT, **more).memory  # pyright: ignore[reportArgumentType]


def _remembers(here: Bench) -> None:
    text = next(here.texts)
    here.count("remember", lambda: _say(here.vault, next(here.texts)))
    here.count("remember, with receipt", lambda: _say(here.vault, text, request_id="r1"))
    here.count("the same request again", lambda: _say(here.vault, text, request_id="r1"))
    here.count("a duplicate, skipped", lambda: _say(here.vault, text))
    here.count(
        "remember and supersede",
        lambda: _say(here.vault, next(here.texts), supersedes=here.ids[3]),
    )


def _decisions(here: Bench) -> None:
    vault = here.vault
    here.count(
        "edit",
        lambda: edit(vault, here.ids[4], Edit(content=next(here.texts)), revision=None, by=OWNER),
    )
    here.count("forget", lambda: forget(vault, here.ids[5], by=OWNER))
    here.count("forget, by an app", lambda: forget(vault, here.ids[6], by=AGENT))
    _review(here)
    here.count("forget, by an app in review mode", lambda: forget(vault, here.ids[7], by=AGENT))
    first, second = (_say(vault, next(here.texts)) for _ in range(2))
    here.count("approve", lambda: review.approve(vault, first.id, by=OWNER))
    here.count("reject", lambda: review.reject(vault, second.id, by=OWNER))


def _review(here: Bench) -> None:
    wanted = Wanted(approval_mode=ApprovalMode.REVIEW)
    change_settings(here.vault, wanted, expected=None, by=OWNER)
    recall(here.vault, Query(text="warm"))


def _lists(here: Bench) -> None:
    waiting = listing.Listed(status=Status.PROPOSED)
    for _ in range(5):
        _say(here.vault, next(here.texts))
    here.count("read one memory", lambda: listing.memory(here.vault, here.ids[9]))
    here.count("list 50 memories", lambda: listing.memories(here.vault, listing.Listed(), limit=50))
    here.count("list what waits for review", lambda: listing.memories(here.vault, waiting))


def _imports(here: Bench) -> None:
    items = [ImportItem(content=next(here.texts)) for _ in range(40)]
    batch = work(here.vault, imports.begin(here.vault, items, by=OWNER))
    here.count("import, 8 texts of it", lambda: work(here.vault, batch))
    imports.carry_on(here.vault, batch.id)
    here.count("undo of 40 memories", lambda: imports.undo(here.vault, batch.id, by=OWNER))


def _scheduled(vault: Vault) -> None:
    """What is looked at every few minutes, whether or not there is work."""
    while imports.resume(vault, seconds=1.0) or jobs.work_off(vault) or jobs.embed_lacking(vault):
        pass
    jobs.lag(vault)


def _collection(here: Bench) -> None:
    """Two processes at a collection that is complete: one that answers, and the worker."""
    shared = PaperIndex(here.vault.embedder.model, DIMS)
    shared.late = True
    answering, worker = (_asking(here, shared, later) for later in (lambda: None, None))
    catch_up(worker)
    while rebuild.carry_on(worker) or rebuild.progress(worker).running:
        shared.show()
        here.watch.wait(SHOWN)
    recall(answering, Query(text="warm"))
    here.watch.wait(2 * SHOWN)
    asked = iter(questions(9, seed=3))

    def ask() -> None:
        recall(answering, Query(text=next(asked)))

    ask()
    here.count("recall, with a collection", ask)
    here.count("remember, with a collection", lambda: _say(answering, next(here.texts)))
    here.count("put one memory into the collection", lambda: jobs.work_off(worker))
    here.watch.wait(SHOWN)
    here.count("recall, with a collection that may not show all yet", ask)


def _asking(here: Bench, shared: PaperIndex, later: Callable[[], None] | None) -> Vault:
    index = asking(shared, here.vault.embedder, here.watch)
    return replace(here.vault, index=index, underway=Underway(), publish_later=later)


def _tokens(here: Bench) -> None:
    until = START + timedelta(days=1)
    grant = oauth.Grant(
        id="grt_1", client_id="cli_1", client_name="Claude", verified_by="", redirect_host="",
        vault="personal", permissions=frozenset(oauth.Permission), resource="https://m.example/mcp",
        created=START, expires=until,
    )  # fmt: skip
    token = oauth.Token(
        id="a" * 64, kind=oauth.Kind.ACCESS, grant_id="grt_1", client_id="cli_1",
        resource="https://m.example/mcp", expires=until, parent="",
    )  # fmt: skip
    use = oauth.Use(id="grt_1", last_used=START)
    here.grants.commit(oauth.Change(put=(grant, token, use)))
    here.grants.credential(token.id)
    here.count("check a token", lambda: here.grants.credential(token.id))


def table(told: Mapping[int, Mapping[str, Spent]]) -> Table:
    few, many = (told[size] for size in SIZES)
    rows = [
        [
            name,
            str(many[name].trips) + (f" (at most {MOST[name]})" if name in MOST else ""),
            str(many[name].calls),
            _at_each(few[name].written, many[name].written),
            _at_each(few[name].read, many[name].read),
        ]
        for name in many
    ]
    units = [f"{kind}, at {SIZES[0]:,} / {SIZES[1]:,}" for kind in ("write units", "read units")]
    return Table(columns=["operation", "trips", "calls", *units], rows=rows)


def _at_each(few: int, many: int) -> str:
    return str(few) if few == many else f"{few} / {many}"


def section(told: Mapping[int, Mapping[str, Spent]]) -> Section:
    return Section(
        name="units",
        title="What it costs",
        command="make units",
        about=(
            "Trips are calls that wait for each other; what does not is asked for at once. Units "
            "are those of an on-demand table, for consistent reads. In a process that is awake, in "
            "vaults of two sizes, with vectors of 512 numbers and no token signs. What a verb has "
            "put into the index is taken off the queue while the next one reads: one of the calls, "
            "and no trip."
        ),
        table=table(told),
    )


def main() -> None:
    told = {size: measured(size) for size in SIZES}
    made = section(told)
    print_table(made.table)
    write(made, page=PAGE)
    if os.environ.get("JSON") == "1":
        plain = {
            str(size): {name: asdict(one) for name, one in each.items()}
            for size, each in told.items()
        }
        print(json.dumps(plain))


if __name__ == "__main__":
    main()
