"""Is a memory found in other languages too? One vault with all texts of the labelled pairs.

own      50 questions in German, Spanish, Chinese, Japanese and Russian, ten each. A memory is
         relevant when it is in the question's language and holds one of the strings named with it.
cross    6 pairs that say the same in English and another language, either text asked for the other.
english  66 English rewordings, either text asked for the other: 132 questions.

All are mean reciprocal ranks among the first 100 hits. A text that is itself asked with is taken
out of its own answer.

Run `python evals/languages.py`; `JSON=1` adds the numbers as a last line of JSON.
"""

import argparse
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from loading import fill
from ranking import reciprocal_rank
from report import Section, Table, publish
from vaults import cached_embedder, temporary_vault

from keeproom.engines.pairs import labelled_pairs
from keeproom.vault.batch import ImportItem
from keeproom.vault.calibrate import Label, LabelledPair, texts
from keeproom.vault.recall import MOST_HITS, Query, recall
from keeproom.vault.vault import Vault

QUESTIONS = Path(__file__).with_name("language_questions.jsonl")
TARGETS = {"own": 0.83, "english": 0.91}


@dataclass(frozen=True, slots=True)
class Asked:
    """`relevant`: the texts that answer it."""

    text: str
    relevant: Collection[str]


def own(pairs: Sequence[LabelledPair], questions: Iterable[str]) -> list[Asked]:
    """`questions`: JSON objects, one a line."""
    known = by_language(pairs)
    return [
        Asked(
            one["question"],
            [text for text in known[one["lang"]] if any(part in text for part in one["relevant"])],
        )
        for one in map(json.loads, questions)
    ]


def by_language(pairs: Iterable[LabelledPair]) -> Mapping[str, set[str]]:
    found: dict[str, set[str]] = {}
    for pair in pairs:
        codes = pair.lang.removeprefix("x-").split("-")
        found.setdefault(codes[0], set()).add(pair.a)
        found.setdefault(codes[-1], set()).add(pair.b)
    return found


def each_other(pairs: Iterable[LabelledPair]) -> list[Asked]:
    same = [pair for pair in pairs if pair.label is Label.SAME]
    return [Asked(pair.a, [pair.b]) for pair in same] + [Asked(pair.b, [pair.a]) for pair in same]


def mean_rank(vault: Vault, asked: Sequence[Asked]) -> float:
    return fmean(
        reciprocal_rank(
            [text for text in answered(vault, one.text) if text != one.text], one.relevant
        )
        for one in asked
    )


def answered(vault: Vault, text: str) -> list[str]:
    hits = recall(vault, Query(text=text, limit=MOST_HITS)).hits
    return [hit.memory.content for hit in hits]


def measured(vault: Vault, pairs: Sequence[LabelledPair]) -> dict[str, float]:
    questions = QUESTIONS.read_text(encoding="utf-8").splitlines()
    return {
        "own": mean_rank(vault, own(pairs, questions)),
        "cross": mean_rank(vault, each_other(one for one in pairs if one.lang.startswith("x-"))),
        "english": mean_rank(vault, each_other(one for one in pairs if one.lang == "en")),
    }


def table(numbers: Mapping[str, float]) -> Table:
    names = {
        "own": "questions in de, es, zh, ja, ru on memories in the same language",
        "cross": "the same fact in another language",
        "english": "English rewordings",
    }
    rows = [
        [names[key], f"{number:.3f}", f">= {TARGETS[key]:.2f}" if key in TARGETS else ""]
        for key, number in numbers.items()
    ]
    return Table(columns=["what is asked", "MRR", "target"], rows=rows)


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument(
        "--cache", type=Path, help="a folder that keeps embeddings for next time"
    )
    pairs = labelled_pairs()
    with temporary_vault(cached_embedder(arguments.parse_args().cache)) as vault:
        fill(vault, [ImportItem(content=text) for text in texts(pairs)])
        numbers = measured(vault, pairs)
    section = Section(
        name="languages",
        title="Recall in other languages",
        command="make eval-languages",
        about="One vault with the 368 texts of the labelled pairs that ship with the product.",
        table=table(numbers),
    )
    publish(section, numbers)


if __name__ == "__main__":
    main()
