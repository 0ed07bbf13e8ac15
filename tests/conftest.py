"""What holds for every test: nothing leaves this machine, and nothing is left out unseen."""

import ipaddress
import os
import re
import sys
import time
from collections.abc import Generator, Mapping
from typing import Any
from urllib.parse import urlsplit

import pytest

REQUIRE_ALL = os.environ.get("REQUIRE_ALL") == "1"


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


def remote_aws_endpoints(environment: Mapping[str, str]) -> list[str]:
    """The variables that would send an AWS call off this machine."""
    return [
        name
        for name, url in environment.items()
        if name.startswith("AWS_ENDPOINT_URL") and not is_loopback(urlsplit(url).hostname or "")
    ]


def pytest_configure() -> None:
    if remote := remote_aws_endpoints(os.environ):
        pytest.exit(f"{', '.join(remote)} must point to this machine, or be unset", returncode=4)


def _refuse_other_machines(event: str, args: tuple[Any, ...]) -> None:
    """`pytest.fail` raises past `except Exception`, so that no fallback of the product hides it."""
    if event not in {"socket.connect", "socket.sendto"}:
        return
    address: tuple[str, int] | str | bytes = args[1]  # a Unix socket's is a path
    if isinstance(address, tuple) and not is_loopback(address[0]):
        pytest.fail(f"a test reached for another machine: {address[0]}")


def _is_of_this_process(number: str) -> bool:
    """An object's address, or about the present time."""
    return number.startswith("0x") or abs(int(number) - time.time()) < 7 * 86_400


def pytest_itemcollected(item: pytest.Item) -> None:
    """Tests run in several processes, each of which must find the same tests."""
    numbers = re.findall(r"0x[0-9a-f]{6,}|(?<!\d)\d{10}(?!\d)", item.nodeid)
    if any(map(_is_of_this_process, numbers)):
        raise pytest.UsageError(
            f"{item.nodeid} has another name in every process: give its parameter an id"
        )


LONGEST = ("tests/e2e/", "tests/functions/", "tests/clients/", "tests/contract/")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest is begun first: else one of several processes ends long after the
    others."""

    def rank(item: pytest.Item) -> int:
        places = [n for n, folder in enumerate(LONGEST) if item.nodeid.startswith(folder)]
        return places[0] if places else len(LONGEST)

    items.sort(key=rank)


@pytest.fixture(scope="session", autouse=True)
def only_this_machine() -> None:
    """Processes that a test starts are not covered."""
    sys.addaudithook(_refuse_other_machines)


def _must_run[Report: (pytest.TestReport, pytest.CollectReport)](report: Report) -> Report:
    """With REQUIRE_ALL=1 a skip is a failure that gives the reason for the skip."""
    expected_failure = hasattr(report, "wasxfail")
    if REQUIRE_ALL and report.skipped and not expected_failure:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"REQUIRE_ALL=1, but {report.nodeid} was left out. {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return _must_run((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return _must_run((yield))
