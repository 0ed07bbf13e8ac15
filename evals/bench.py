"""How fast is it? Recall and import beside what the embedding model alone takes, and the start.

import   5,000 texts through an import, in turns with embedding the same texts alone.
recall   in vaults of 1,000, 10,000 and 100,000 memories, in turns with embedding other questions
         alone. Every question is new to its process. Each size is measured in a process of its own,
         on an index read from the store.
mcp      what the door for agents adds to a recall and to nothing: see mcp_door.py.
start    `keeproom serve` on 10,000 memories: seconds until /health answers, and its memory then.

Run `python evals/bench.py`; `JSON=1` adds the numbers as a last line of JSON.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from corpus import memories, questions
from large_vault import grown
from loading import Text, load
from mcp_door import door_numbers
from mcp_door import rows as door_rows
from report import Section, Table, publish
from serving import resident_mb, start
from vaults import opened

from keeproom.local import embedder as bundled
from keeproom.vault.batch import BatchState, ImportItem
from keeproom.vault.import_group import GROUP
from keeproom.vault.imports import begin, carry_on
from keeproom.vault.jobs import catch_up
from keeproom.vault.model import OWNER
from keeproom.vault.ports import Embedder
from keeproom.vault.recall import Query, recall

SIZES = (1_000, 10_000, 100_000)
STARTED_AT = 10_000
IMPORTED = 5_000
TIMED, WARMING = 200, 10  # questions a size, and those before that are not counted
TURN = 2.0  # seconds the import works before the model alone has its turn
RATIO = {10_000: 1.6, 100_000: 3.0}  # recall over the bare embedding, at most
IMPORT_RATIO = 0.80

type Numbers = dict[str, Any]


@dataclass(slots=True)
class Stopwatch:
    seconds: float = 0.0

    def time[T](self, work: Callable[[], T]) -> T:
        begun = perf_counter()
        done = work()
        self.seconds += perf_counter() - begun
        return done


def imported(home: Path, embedder: Embedder, contents: Sequence[str]) -> tuple[Numbers, list[Text]]:
    """And the texts as the model alone embedded them."""
    whole, bare, made = Stopwatch(), Stopwatch(), list[Text]()
    items = [ImportItem(content=content) for content in contents]
    with opened(home, embedder) as vault:
        batch = whole.time(lambda: begin(vault, items, by=OWNER))
        while batch.state is BatchState.RUNNING:
            batch = whole.time(lambda id=batch.id: carry_on(vault, id, seconds=TURN))
            for group in _groups(items[len(made) : batch.position]):
                texts = [item.content for item in group]
                made += map(Text, group, bare.time(lambda texts=texts: embedder.passages(texts)))
    numbers: Numbers = {
        "ratio": bare.seconds / whole.seconds,
        "items_per_s": len(items) / whole.seconds,
        "embed_per_s": len(items) / bare.seconds,
    }
    return numbers, made


def _groups[T](items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[n : n + GROUP] for n in range(0, len(items), GROUP))


def recalled(home: Path, seed: int) -> Numbers:
    """In milliseconds, and the process's memory in MB."""
    embedder = bundled.open()
    asked = questions(2 * (TIMED + WARMING), seed=seed)
    times: list[tuple[float, float]] = []
    with opened(home, embedder) as vault:
        catch_up(vault)
        for question, other in zip(asked[::2], asked[1::2], strict=True):
            whole, bare = Stopwatch(), Stopwatch()
            whole.time(lambda text=question: recall(vault, Query(text=text)))
            bare.time(lambda text=other: embedder.query(text))
            times.append((1000 * whole.seconds, 1000 * bare.seconds))
        vault.index.save()
    recalls, embeds = zip(*times[WARMING:], strict=True)
    return {
        "p50_ms": median(recalls),
        "p95_ms": quantiles(recalls, n=20)[-1],
        "embed_p50_ms": median(embeds),
        "ratio": median(recalls) / median(embeds),
        "memory_mb": resident_mb(),
    }


def measured(sizes: Sequence[int], imports: int) -> Numbers:
    embedder = bundled.open()
    told: Numbers = {"recall": {}}
    with TemporaryDirectory() as folder:
        _say(f"importing {imports} texts")
        told["import"], base = imported(Path(folder, "import"), embedder, memories(imports, seed=1))
        _say("calling tools")
        told["mcp"] = door_numbers(Path(folder, "import"), embedder)
        for size in sizes:
            home = Path(folder, str(size))
            _say(f"making a vault of {size} memories")
            with opened(home, embedder) as vault:
                load(vault, grown(base, size, seed=size))
            _say("recalling in it")
            found = _apart(recalled, home, size)
            told["memory_mb"] = found.pop("memory_mb")
            told["recall"][str(size)] = found
            if size == STARTED_AT:
                told["start"] = start(home)
    return told


def _apart[**P, T](work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """In a new process, which has nothing of this one's memory."""
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as process:
        return process.submit(work, *args, **kwargs).result()


def _say(what: str) -> None:
    print(what, file=sys.stderr)


def table(told: Numbers) -> Table:
    rows = [_recall_row(size, found) for size, found in told["recall"].items()]
    found = told["import"]
    rows.append(
        [
            "import: share of the time that is embedding",
            f"{found['ratio']:.2f} ({found['items_per_s']:.0f}/s of {found['embed_per_s']:.0f}/s)",
            f">= {IMPORT_RATIO:.2f}",
        ]
    )
    rows += door_rows(told["mcp"])
    if told["memory_mb"]:
        rows.append(["memory with the largest vault open", f"{told['memory_mb']:.0f} MB", ""])
    if "start" in told:
        rows.append(["start to /health", f"{told['start']['seconds']:.2f} s", "< 3 s"])
        memory = told["start"]["rss_mb"]
        rows.append(["memory at the start", f"{memory:.0f} MB" if memory else "-", ""])
    return Table(columns=["what", "measured", "target"], rows=rows)


def _recall_row(size: str, found: Mapping[str, float]) -> list[str]:
    return [
        f"recall in {int(size):,} memories over the bare embedding",
        f"{found['ratio']:.2f} (p50 {found['p50_ms']:.1f} ms, p95 {found['p95_ms']:.1f} ms, "
        f"embedding {found['embed_p50_ms']:.1f} ms)",
        f"<= {RATIO[int(size)]:.1f}" if int(size) in RATIO else "",
    ]


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="memories")
    arguments.add_argument("--imports", type=int, default=IMPORTED, help="texts")
    given = arguments.parse_args()
    told = measured(given.sizes, given.imports)
    section = Section(
        name="bench",
        title="Speed",
        command="make bench",
        about=(
            "Recall takes turns with embedding other questions alone, an import with embedding "
            "its own texts alone. Vaults above 5,000 memories are made from 5,000 embedded texts; "
            "`evals/large_vault.py` says how."
        ),
        table=table(told),
    )
    publish(section, told)


if __name__ == "__main__":
    main()
