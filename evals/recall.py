"""Does recall find the evidence? LoCoMo, through the product's own `recall` on a real vault.

One vault for each conversation; once what was said is remembered, once the facts noted down from
it. The recall of a question is the share of its evidence turns that the first hits cover; some
turns have no fact, so facts cannot reach more than .81.

Run `python evals/recall.py --data locomo10.json`; `JSON=1` adds the numbers as a last line of JSON.
"""

import argparse
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from typing import Any

from loading import fill
from locomo import CATEGORIES, Conversation, Kind, Question, Text, conversations
from ranking import DEEPEST, Ranked, mean_reciprocal_rank, ranked, recall_at
from report import Section, Table, print_table, publish
from vaults import cached_embedder, temporary_vault

from keeproom.vault.batch import ImportItem
from keeproom.vault.model import Preset
from keeproom.vault.ports import Embedder
from keeproom.vault.recall import Query, recall
from keeproom.vault.vault import Vault

EMBEDDED, OPENSEARCH = "embedded", "opensearch"
SKIPPED = 2  # exit code: nothing was measured
PRESETS = (Preset.DEFAULT, Preset.CLASSIC)
TARGETS = {  # R@10, and how far above the classic preset
    Kind.DIALOGUE: (0.71, 0.06),
    Kind.FACTS: (0.67, 0.05),
}
MISSING = """Skipped: nothing was measured, since the questions are missing.
They are LoCoMo's, and its licence keeps them out of this project. Fetch locomo10.json from its
authors (snap-research/locomo), then run: python evals/recall.py --data locomo10.json"""


type Asking = Callable[[Vault], AbstractContextManager[Vault]]


def judged(
    conversation: Conversation, kind: Kind, embedder: Embedder, asking: Asking
) -> Mapping[Preset, list[Ranked]]:
    with temporary_vault(embedder) as vault:
        covers = remembered(vault, conversation.texts[kind])
        with asking(vault) as asked:
            return {
                preset: [
                    answered(asked, one, covers, preset=preset) for one in conversation.questions
                ]
                for preset in PRESETS
            }


def remembered(vault: Vault, texts: Sequence[Text]) -> Mapping[str, frozenset[str]]:
    """What each memory is evidence for. A text that was said twice is one memory."""
    items = [ImportItem(content=text.content, source_date=text.said_on) for text in texts]
    covers: dict[str, frozenset[str]] = {}
    for text, memory_id in zip(texts, fill(vault, items), strict=True):
        covers[memory_id] = covers.get(memory_id, frozenset()) | text.covers
    return covers


def answered(
    vault: Vault, question: Question, covers: Mapping[str, frozenset[str]], *, preset: Preset
) -> Ranked:
    hits = recall(vault, Query(text=question.text, limit=DEEPEST, preset=preset)).hits
    found = [covers[hit.memory.id] for hit in hits]
    return ranked(found, question.evidence, category=question.category)


def figures(questions: Sequence[Ranked]) -> dict[str, Any]:
    by_category = {
        category: recall_at(10, [one for one in questions if one.category == category])
        for category in CATEGORIES.values()
    }
    return {
        **{f"r{cut}": recall_at(cut, questions) for cut in (5, 10, 20)},
        "mrr": mean_reciprocal_rank(questions),
        "by_category": by_category,
    }


def measured(
    data: Path, embedder: Embedder, asking: Asking, *, first: int | None
) -> dict[Preset, dict[Kind, dict[str, Any]]]:
    """Of the `first` conversations, or all."""
    told: dict[tuple[Preset, Kind], list[Ranked]] = {}
    for number, conversation in enumerate(islice(conversations(data), first), start=1):
        for kind in Kind:
            print(f"conversation {number}, {kind}", file=sys.stderr)
            for preset, questions in judged(conversation, kind, embedder, asking).items():
                told.setdefault((preset, kind), []).extend(questions)
    return {preset: {kind: figures(told[preset, kind]) for kind in Kind} for preset in PRESETS}


def table(found: Mapping[Preset, Mapping[Kind, Mapping[str, Any]]]) -> Table:
    columns = ["texts, preset", "R@5", "R@10", "R@20", "MRR", *CATEGORIES.values(), "R@10 target"]
    rows: list[list[str]] = []
    for kind in Kind:
        least, above = TARGETS[kind]
        targets = {Preset.DEFAULT: f">= {least:.2f}, classic + {above:.2f}", Preset.CLASSIC: ""}
        for preset in PRESETS:
            got = found[preset][kind]
            numbers = [got["r5"], got["r10"], got["r20"], got["mrr"], *got["by_category"].values()]
            cells = [f"{number:.3f}" for number in numbers]
            rows.append([f"{kind}, {preset}", *cells, targets[preset]])
    return Table(columns=columns, rows=rows)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--data", type=Path, help="locomo10.json")
    arguments.add_argument(
        "--cache", type=Path, help="a folder that keeps embeddings for next time"
    )
    arguments.add_argument(
        "--search", choices=[EMBEDDED, OPENSEARCH], default=EMBEDDED, help="who names candidates"
    )
    arguments.add_argument("--first", type=int, help="how many conversations, for a quick look")
    given = arguments.parse_args()
    if given.data is None or not given.data.is_file():
        print(MISSING, file=sys.stderr)
        return SKIPPED
    with asking_in(given.search) as asking:
        found = measured(given.data, cached_embedder(given.cache), asking, first=given.first)
    numbers = {**found[Preset.DEFAULT], "classic": found[Preset.CLASSIC]}
    if given.first:
        print_table(table(found))
        return 0
    publish(SECTIONS[given.search](table(found)), numbers)
    return 0


@contextmanager
def asking_in(search: str) -> Generator[Asking]:
    if search == EMBEDDED:
        yield nullcontext
        return
    # Here, because the other needs neither the tests nor Java.
    from asked_collection import collection  # noqa: PLC0415

    with collection() as asking:
        yield asking


def embedded_section(found: Table) -> Section:
    return Section(
        name="recall",
        title="Recall quality",
        command="make eval-recall DATA=locomo10.json",
        about=(
            "LoCoMo, categories 1 to 4, one vault a conversation: the share of a question's "
            "evidence among the first hits. `classic` is the preset of that name. Categories: "
            "R@10. Facts cannot reach more than .81, since some turns have none."
        ),
        table=found,
    )


def opensearch_section(found: Table) -> Section:
    return Section(
        name="recall-opensearch",
        title="Recall quality with OpenSearch",
        command="make eval-recall SEARCH=opensearch DATA=locomo10.json",
        about=(
            "The same, with the candidates named by a real OpenSearch that behaves as the "
            "serverless service does. It must come within half a point of the index in the process."
        ),
        table=found,
    )


SECTIONS = {EMBEDDED: embedded_section, OPENSEARCH: opensearch_section}


if __name__ == "__main__":
    sys.exit(main())
