"""What a month costs stays within its bounds, and the documents say it."""

from collections.abc import Mapping
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest

from evals.cost import GROUPS, IDLE_AT_MOST, LOADS, PRICES, SEARCH, WORKER, table, totals, used
from evals.units import SIZES, measured

DOCUMENT = Path(__file__).parents[2] / "docs/aws.md"


@pytest.fixture(scope="module")
def told() -> Mapping[str, Mapping[str, float]]:
    return totals(measured(SIZES[-1]))


def test_a_vault_that_nobody_calls_costs_less_than_agreed(
    told: Mapping[str, Mapping[str, float]],
) -> None:
    idle = told["0"]

    assert idle["embedded"] < IDLE_AT_MOST
    assert idle["opensearch"] == pytest.approx(idle["embedded"] + idle["OpenSearch: storage"])


def test_more_calls_never_cost_less(told: Mapping[str, Mapping[str, float]]) -> None:
    for few, many in pairwise(LOADS):
        less = {name for name, paid in told[str(many)].items() if paid < told[str(few)][name]}
        assert less == set()


def test_the_worker_that_fills_the_collection_is_paid_by_the_write(
    told: Mapping[str, Mapping[str, float]],
) -> None:
    few, many = told["200"], told["2000"]

    assert many[WORKER] == pytest.approx(10 * few[WORKER]) != 0
    paid = sum(many[name] for name in ("embedded", *SEARCH, WORKER))
    assert many["opensearch"] == pytest.approx(paid)


def test_everything_used_has_a_price_a_day_and_a_source() -> None:
    kinds = {one for parts in (*GROUPS.values(), *SEARCH.values()) for one in parts}

    assert used(20, measured(SIZES[-1])).keys() == kinds == PRICES.keys() - {"seen"}
    assert isinstance(PRICES["seen"], date)
    assert all(PRICES[one]["source"] and PRICES[one]["unit"] for one in kinds)


def test_the_document_says_what_was_calculated(told: Mapping[str, Mapping[str, float]]) -> None:
    document = DOCUMENT.read_text(encoding="utf-8")

    for row in table(told).rows:
        assert f"| {' | '.join(row)} |" in document, "run `make cost`"
