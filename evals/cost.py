"""What a month costs: counted requests and units times the prices of prices.toml.

Requests of the table are those of units.py, in a vault of 10,000 memories. How people call is
assumed, and stands in `Habits`; the rest follows. Nothing here was read off a bill.

Run `python -m evals.cost`; `JSON=1` adds the numbers as a last line of JSON.
"""

import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.meter import Spent
from evals.report import Section, Table, print_table, write
from evals.units import SIZES, measured

PRICES: Mapping[str, Any] = tomllib.loads(
    Path(__file__).with_name("prices.toml").read_text(encoding="utf-8")
)
PAGE = Path(__file__).parents[1] / "docs" / "aws.md"
DAYS = 30.4
LOADS = (0, 20, 200, 2_000)  # calls of tools a day
IDLE_AT_MOST = 1.50


@dataclass(frozen=True, slots=True)
class Habits:
    """`shares`: of the calls, by the name of the operation. A session is a few calls in a row, with
    the requests a client makes before its first; it finds no container awake. `awake`: hours a day
    in which sessions begin. Seconds are those a function of 1 GB is billed for."""

    shares: tuple[tuple[str, float], ...] = (
        ("recall", 0.60),
        ("remember, with receipt", 0.25),
        ("list 50 memories", 0.07),
        ("read one memory", 0.05),
        ("forget, by an app in review mode", 0.03),
    )
    calls: float = 6
    before: float = 3
    awake: float = 16
    minutes: float = 2
    seconds: float = 0.3
    seconds_at_start: float = 2.5
    tokens_a_text: float = 60
    tokens_a_question: float = 15
    log_bytes: float = 1_500


@dataclass(frozen=True, slots=True)
class Standing:
    """What is there whether anybody calls or not. `runs`: of the schedule an hour, one of them in a
    container that was not awake. `polls`: empty ones of the queue a month, by five pollers that
    wait 20 s each. `bytes`: of a memory with all its items, in the table, and in an index."""

    memories: int = 10_000
    table_bytes: int = 4_000
    index_bytes: int = 2_600
    search_bytes: int = 6_000
    runs: int = 12
    seconds: float = 0.2
    polls: float = 5 * 3 * 60 * 24 * DAYS
    alarms: int = 10
    metrics: int = 8


HABITS, STANDING = Habits(), Standing()
SLEEPS_AFTER = 10.0  # minutes without a request, until the collection costs nothing
WRITES = ("remember, with receipt", "forget, by an app in review mode")
REQUESTS_A_MESSAGE = 2  # the queue is asked to take it and to drop it; polls come by themselves
OCUS = 1.5  # two workers for search and one for indexing, half a unit each

GROUPS: Mapping[str, Sequence[str]] = {
    "API Gateway": ("request_gateway",),
    "Lambda": ("request_lambda", "gb_second"),
    "DynamoDB": ("table_read", "table_write", "table_storage", "table_backup"),
    "Bedrock (Titan V2)": ("titan_token",),
    "S3": ("bucket_put", "bucket_get", "bucket_storage"),
    "SQS": ("queue_request",),
    "Scheduler": ("schedule",),
    "CloudWatch": ("alarm", "metric", "dashboard", "log"),
    "Cognito": ("person",),
    "Secrets Manager": ("secret",),
}
SEARCH: Mapping[str, Sequence[str]] = {
    "OpenSearch: compute": ("ocu_hour",),
    "OpenSearch: storage": ("search_storage",),
}
WORKER = "OpenSearch: the worker"


def used(calls: int, spent: Mapping[str, Spent]) -> dict[str, float]:
    """How much of each thing in `PRICES` a month takes, at so many calls a day, and a collection
    beside it that is kept in step by nobody."""
    month, runs = calls * DAYS, STANDING.runs * 24 * DAYS
    sessions = month / HABITS.calls
    requests = month + sessions * HABITS.before
    starts, starts_of_runs = sessions, 24 * DAYS
    written = month * dict(HABITS.shares)["remember, with receipt"]
    read, wrote = _units(month, requests, runs, spent)
    gigabyte = STANDING.memories / 1e9
    return {
        "request_gateway": requests,
        "request_lambda": requests + runs,
        "gb_second": requests * HABITS.seconds
        + runs * STANDING.seconds
        + (starts + starts_of_runs) * HABITS.seconds_at_start,
        "table_read": read,
        "table_write": wrote,
        "table_storage": gigabyte * STANDING.table_bytes,
        "table_backup": gigabyte * STANDING.table_bytes,
        "titan_token": written * HABITS.tokens_a_text
        + month * dict(HABITS.shares)["recall"] * HABITS.tokens_a_question,
        "bucket_put": min(written, runs),
        "bucket_get": starts + starts_of_runs,
        "bucket_storage": gigabyte * STANDING.index_bytes,
        "queue_request": STANDING.polls,
        "schedule": runs + DAYS,
        "alarm": STANDING.alarms,
        "metric": STANDING.metrics,
        "dashboard": 1,
        "log": (requests + runs) * HABITS.log_bytes / 1e9,
        "person": 1,
        "secret": 1,
        "ocu_hour": OCUS * _hours_awake(calls / HABITS.calls) * DAYS,
        "search_storage": gigabyte * STANDING.search_bytes,
    }


def used_in_step(calls: int, spent: Mapping[str, Spent]) -> dict[str, float]:
    """The same, and the worker puts into the collection what was written, each by itself."""
    amounts, shares = used(calls, spent), dict(HABITS.shares)
    writes = calls * DAYS * sum(shares[one] for one in WRITES)
    put = spent["put one memory into the collection"]
    more = {
        "request_lambda": writes,
        "gb_second": writes * HABITS.seconds,
        "table_read": writes * put.read,
        "table_write": writes * put.written,
        "queue_request": writes * REQUESTS_A_MESSAGE,
    }
    return {name: amount + more.get(name, 0.0) for name, amount in amounts.items()}


def _units(
    month: float, requests: float, runs: float, spent: Mapping[str, Spent]
) -> tuple[float, float]:
    """Of the table: read and written."""
    times = [(spent[name], month * share) for name, share in HABITS.shares]
    times += [(spent["check a token"], requests), (spent["a scheduled run, idle"], runs)]
    return sum(one.read * n for one, n in times), sum(one.written * n for one, n in times)


def _hours_awake(sessions: float) -> float:
    """Of the search collection, a day: each session keeps it awake a while, and sessions that
    overlap do so together."""
    return min(sessions * (HABITS.minutes + SLEEPS_AFTER) / 60, HABITS.awake)


def bill(amounts: Mapping[str, float], *, allowances: bool = True) -> dict[str, float]:
    """In dollars, by what is used."""
    return {
        name: max(0.0, amount - (PRICES[name]["free"] if allowances else 0)) * PRICES[name]["price"]
        for name, amount in amounts.items()
    }


def totals(spent: Mapping[str, Spent]) -> dict[str, dict[str, float]]:
    """By calls a day: what both ways to search come to, with and without what is always free."""
    told: dict[str, dict[str, float]] = {}
    for calls in LOADS:
        amounts = used(calls, spent)
        dollars, full = bill(amounts), bill(amounts, allowances=False)
        in_step = bill(used_in_step(calls, spent))
        told[str(calls)] = {
            **{group: sum(dollars[one] for one in parts) for group, parts in GROUPS.items()},
            "embedded": _sum(dollars, GROUPS),
            **{group: sum(dollars[one] for one in parts) for group, parts in SEARCH.items()},
            WORKER: _sum(in_step, GROUPS) - _sum(dollars, GROUPS),
            "opensearch": _sum(in_step, GROUPS) + _sum(in_step, SEARCH),
            "embedded, without allowances": _sum(full, GROUPS),
        }
    return told


def _sum(dollars: Mapping[str, float], groups: Mapping[str, Sequence[str]]) -> float:
    return sum(dollars[one] for parts in groups.values() for one in parts)


TOTALS = {
    "embedded": "**all, with `search=embedded`**",
    "opensearch": "**all, with `search=opensearch`**",
    "embedded, without allowances": "with `search=embedded`, had AWS no free allowances",
}


def table(told: Mapping[str, Mapping[str, float]]) -> Table:
    loads = ["idle", *(f"{calls:,} calls a day" for calls in LOADS[1:])]
    names = list(told[str(LOADS[0])])
    rows = [
        [TOTALS.get(name, name), *(_dollars(told[str(n)][name]) for n in LOADS)] for name in names
    ]
    return Table(columns=["a month", *loads], rows=rows)


def _dollars(amount: float) -> str:
    return "-" if amount < 0.005 else f"${amount:,.2f}"


def section(told: Mapping[str, Mapping[str, float]]) -> Section:
    shares = ", ".join(f"{share:.0%} {name}" for name, share in HABITS.shares)
    return Section(
        name="cost",
        title="What it costs",
        command="make cost",
        about=(
            f"A month in a vault of {STANDING.memories:,} memories, in us-east-1 at the prices of "
            f"{PRICES['seen']} (`evals/prices.toml`), less what every account has free for ever. "
            "The table's units are counted (see [How it stores](storage.md)); how people call is "
            f"assumed in `evals/cost.py`: {shares}; {HABITS.calls:.0f} calls a session, each "
            "session in a new container. With `search=opensearch` the collection sleeps "
            f"{SLEEPS_AFTER:.0f} minutes after the last request; awake it is {OCUS} OCU. A dash is "
            "less than a cent."
        ),
        table=table(told),
    )


def main() -> None:
    told = totals(measured(SIZES[-1]))
    made = section(told)
    print_table(made.table)
    write(made, page=PAGE)
    if os.environ.get("JSON") == "1":
        print(json.dumps(told))


if __name__ == "__main__":
    main()
