"""Would an import skip what it must keep, and link what it should?

Every labelled pair is judged as an import would: `a` is known, `b` comes in.
Run `python evals/duplicates.py [--pairs FILE]`; `JSON=1` adds the numbers as a last line of JSON.
"""

import argparse
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from math import sumprod
from pathlib import Path

from report import Section, Table, publish

from keeproom.engines.pairs import labelled_pairs, read_pairs, superset_pairs
from keeproom.local import embedder as bundled
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


def table(numbers: Mapping[str, int | float]) -> Table:
    def share(part: str, whole: str) -> str:
        return f"{numbers[part]} of {numbers[whole]}"

    return Table(
        columns=["what an import does", "measured", "target"],
        rows=[
            ["skips an update", share("updates_skipped", "updates"), "0"],
            ["skips a text that says more", share("supersets_skipped", "supersets"), "0"],
            ["links or flags an update", share("updates_linked", "updates"), ">= 88 %"],
            ["skips a rewording", share("same_skipped", "same"), ">= 17"],
            ["flags a merely related text", share("related_flagged", "related"), "<= 5"],
            ["rewordings among what it skips", f"{numbers['precision']:.2f}", "1.00"],
        ],
    )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--pairs", type=Path, help="JSONL like engines/pairs.jsonl, instead")
    given: Path | None = arguments.parse_args().pairs
    pairs = (
        read_pairs(given.read_text(encoding="utf-8").splitlines())
        if given
        else labelled_pairs() + superset_pairs()
    )
    numbers = measured(judged(pairs, bundled.open()))
    section = Section(
        name="duplicates",
        title="Duplicates and conflicts",
        command="make eval-duplicates",
        about=(
            "Labelled pairs in six languages, each judged as an import would: the first text is "
            "known, the second comes in."
        ),
        table=table(numbers),
    )
    publish(section, numbers)


if __name__ == "__main__":
    main()
