"""What the conformance suite may find, and why."""

import re
from pathlib import Path

import pytest

EXPECTED = sorted(Path(__file__).parents[2].glob("clients/expected/*.yml"))


def test_there_is_one_list_for_each_revision() -> None:
    assert [path.stem for path in EXPECTED] == ["2025-11-25", "2026-07-28"]


@pytest.mark.parametrize("path", EXPECTED, ids=lambda path: path.stem)
def test_every_expected_failure_has_its_reason_beside_it(path: Path) -> None:
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]

    assert lines[0] == "server:"
    assert [line for line in lines[1:] if not re.fullmatch(r"  - [\w:-]+  # .{10,}", line)] == []
