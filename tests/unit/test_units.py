"""What an operation asks of DynamoDB stays within its bounds, and the documents say it."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from evals.meter import Spent
from evals.units import GROWTH, MOST, SIZES, measured, table

DOCUMENT = Path(__file__).parents[2] / "docs/storage.md"


@pytest.fixture(scope="module")
def told() -> Mapping[int, Mapping[str, Spent]]:
    return {size: measured(size) for size in SIZES}


def test_no_operation_waits_for_the_table_more_often_than_agreed(
    told: Mapping[int, Mapping[str, Spent]],
) -> None:
    over = {
        name: spent.trips
        for each in told.values()
        for name, spent in each.items()
        if spent.trips > MOST.get(name.partition(",")[0], 99)
    }
    assert over == {}


def test_what_an_operation_costs_does_not_grow_with_the_vault(
    told: Mapping[int, Mapping[str, Spent]],
) -> None:
    few, many = (told[size] for size in SIZES)

    assert {name for name in many if many[name].read > GROWTH * few[name].read} == set()
    assert {name for name in many if many[name].written > GROWTH * few[name].written} == set()
    assert {name: spent.trips for name, spent in few.items()} == {
        name: spent.trips for name, spent in many.items()
    }


def test_the_document_says_what_was_counted(told: Mapping[int, Mapping[str, Spent]]) -> None:
    document = DOCUMENT.read_text(encoding="utf-8")

    for row in table(told).rows:
        assert f"| {' | '.join(row)} |" in document, "run `make units`"
