"""Where the numbers go: a table for the reader, a section of docs/evals.md, JSON for scripts."""

import json
import os
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[1] / "docs" / "evals.md"
HEAD = """# What was measured

Written by the scripts in `evals/`; run one of them to measure again. Ratios compare two things
measured in turn in the same run.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """`name`: what its markers in the page are called. `command`: how to run it again."""

    name: str
    title: str
    command: str
    about: str
    table: Table


def publish(section: Section, numbers: Mapping[str, Any]) -> None:
    """Print the table, write it into the page, and with JSON=1 end with the numbers as JSON."""
    print_table(section.table)
    write(section, page=PAGE)
    if os.environ.get("JSON") == "1":
        print(json.dumps(numbers))


def print_table(table: Table) -> None:
    rows = [table.columns, *table.rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        first, *others = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join([first, *(cell.strip().rjust(len(cell)) for cell in others)]).rstrip())


def write(section: Section, *, page: Path) -> None:
    """Put the section in place of what stands between its markers, or at the end of the page."""
    page.parent.mkdir(exist_ok=True)
    text = page.read_text(encoding="utf-8") if page.exists() else HEAD
    begin, end = f"<!-- {section.name}: begin -->", f"<!-- {section.name}: end -->"
    body = f"{begin}\n{_markdown(section)}{end}"
    old = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    told = old.sub(lambda _: body, text) if old.search(text) else f"{text}\n{body}\n"
    page.write_text(told, encoding="utf-8")


def _markdown(section: Section) -> str:
    lines = [section.table.columns, ["---"] * len(section.table.columns), *section.table.rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    day = datetime.now(UTC).date().isoformat()
    where = f"`{section.command}`, {day}, {machine()}."
    return f"## {section.title}\n\n{section.about}\n\n{table}\n\n{where}\n"


def machine() -> str:
    """The processor's name, its cores that we may use, and the interpreter."""
    cores = os.process_cpu_count() if hasattr(os, "process_cpu_count") else os.cpu_count()
    return f"{_processor()}, {cores} cores, Python {platform.python_version()}"


def _processor() -> str:
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    found = re.search(r"^model name\s*: (.+)$", told, re.MULTILINE)
    return found[1] if found else platform.machine()
