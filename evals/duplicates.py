"""Would an import skip what it must keep, and link what it should?

Every labelled pair is judged as an import would: `a` is known, `b` comes in.
Run `python evals/duplicates.py [--pairs FILE]`; `JSON=1` adds the numbers as a last line of JSON.
"""

import argparse
import json
import os
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from math import sumprod
from pathlib import Path

from keeproom.engines.pairs import labelled_pairs, read_pairs, superset_pairs
from keeproom.local.embedder import BundledEmbedder
from keeproom.vault.calibrate import Label, LabelledPair, texts
from keeproom.vault.model import Profile
from keeproom.vault.ports import Embedder
from keeproom.vault.similarity import BUNDLED, Kinship, calibrated, kinship, mu_between
from keeproom.vault.words import script_of

type Tally = Counter[tuple[Label, Kinship]]


def judged(
    pairs: Sequence[LabelledPair], embedder: Embedder, *, profile: Profile = BUNDLED
) -> Tally:
    """How often each label was found to be each kinship. The texts must fit the model's window."""
    vectors = first_rows(texts(pairs), embedder)
    return Counter((pair.label, kinship_of(pair, vectors, profile=profile)) for pair in pairs)


def first_rows(texts: Sequence[str], embedder: Embedder) -> dict[str, array[float]]:
    rows = (array("f", passage.vectors) for passage in embedder.passages(texts))
    return {text: row[: embedder.dims] for text, row in zip(texts, rows, strict=True)}


def kinship_of(
    pair: LabelledPair, vectors: Mapping[str, array[float]], *, profile: Profile
) -> Kinship:
    mu = mu_between(profile, script_of(pair.a), script_of(pair.b))
    similarity = calibrated(sumprod(vectors[pair.a], vectors[pair.b]), mu)
    return kinship(pair.a, pair.b, similarity=similarity, whole=True, profile=profile)


def measured(tally: Tally) -> dict[str, int | float]:
    """Linked: similar or flagged. Precision: rewordings among everything skipped; 1 for nothing."""

    def count(label: Label, *found: Kinship) -> int:
        return sum(tally[label, kind] for kind in found or Kinship)

    skipped = {label: count(label, Kinship.NEAR_DUPLICATE) for label in Label}
    judged_for_precision = sum(skipped.values()) - skipped[Label.UNRELATED]
    return {
        "updates": count(Label.UPDATE),
        "updates_skipped": skipped[Label.UPDATE],
        "updates_linked": count(Label.UPDATE, Kinship.SIMILAR, Kinship.CONFLICT),
        "same": count(Label.SAME),
        "same_skipped": skipped[Label.SAME],
        "related": count(Label.RELATED),
        "related_flagged": count(Label.RELATED, Kinship.CONFLICT),
        "supersets": count(Label.SUPERSET),
        "supersets_skipped": skipped[Label.SUPERSET],
        "precision": (skipped[Label.SAME] / judged_for_precision if judged_for_precision else 1.0),
    }


def print_table(tally: Tally) -> None:
    print(f"{'label':<12}{'pairs':>7}" + "".join(f"{kind:>16}" for kind in Kinship))
    for label in Label:
        found = [tally[label, kind] for kind in Kinship]
        print(f"{label:<12}{sum(found):>7}" + "".join(f"{number:>16}" for number in found))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--pairs", type=Path, help="JSONL like engines/pairs.jsonl, instead")
    given: Path | None = arguments.parse_args().pairs
    pairs = (
        read_pairs(given.read_text(encoding="utf-8").splitlines())
        if given
        else labelled_pairs() + superset_pairs()
    )
    tally = judged(pairs, BundledEmbedder.open())
    numbers = measured(tally)
    print_table(tally)
    print()
    for name, number in numbers.items():
        print(f"{name:<20}{number:>8.2f}" if name == "precision" else f"{name:<20}{number:>8}")
    if os.environ.get("JSON") == "1":
        print(json.dumps(numbers))


if __name__ == "__main__":
    main()
