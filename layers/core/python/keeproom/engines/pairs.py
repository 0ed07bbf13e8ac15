"""The labelled pairs that ship with the product: what models are calibrated with."""

import json
from collections.abc import Iterable
from importlib.resources import files

from keeproom.vault.calibrate import Label, LabelledPair


def labelled_pairs() -> tuple[LabelledPair, ...]:
    """Rewordings, updates, related and unrelated pairs in six languages, and a few across two."""
    return _shipped("pairs.jsonl")


def superset_pairs() -> tuple[LabelledPair, ...]:
    """A text, and the same with a word, clause or sentence of news in it; in six languages."""
    return _shipped("supersets.jsonl")


def read_pairs(lines: Iterable[str]) -> tuple[LabelledPair, ...]:
    """From JSON objects, one a line. Raises `ValueError` or `KeyError` for any other line."""
    rows = (json.loads(line) for line in lines if line.strip())
    return tuple(
        LabelledPair(a=row["a"], b=row["b"], label=Label(row["label"]), lang=row["lang"])
        for row in rows
    )


def _shipped(name: str) -> tuple[LabelledPair, ...]:
    content = (files("keeproom.engines") / name).read_text(encoding="utf-8")
    return read_pairs(content.splitlines())


def calibration_pairs() -> tuple[LabelledPair, ...]:
    """All of them: what a model's profile is measured from."""
    return labelled_pairs() + superset_pairs()
