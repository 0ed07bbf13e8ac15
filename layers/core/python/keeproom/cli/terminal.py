"""What every command shares: the application, how things are said, and how errors end."""

import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from keeproom import compose
from keeproom.settings import read_settings
from keeproom.vault.jobs import work_off

app = typer.Typer(
    name="keeproom",
    help="One long-term memory for all your AI agents, on this machine.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
_out = Console(highlight=False, soft_wrap=True)
_err = Console(stderr=True, highlight=False, soft_wrap=True)


def say(text: str) -> None:
    _out.print(text, markup=False)


def note(text: str) -> None:
    """Beside the answer: to the error stream, so that a pipe gets the answer alone."""
    _err.print(text, markup=False)


def say_json(data: object) -> None:
    sys.stdout.write(json.dumps(data, ensure_ascii=False) + "\n")


def fail(message: str) -> NoReturn:
    """One line, exit code 1."""
    note(f"keeproom: {message}")
    sys.exit(1)


@contextmanager
def opened() -> Generator[compose.Composed]:
    """The vault the environment names. What a command leaves queued is tried before it ends."""
    with compose.local(read_settings()) as composed:
        yield composed
        work_off(composed.vault, limit=64)


def progress() -> Progress:
    """A bar on a terminal, nothing in a pipe."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=_err,
        transient=True,
        disable=not _err.is_terminal,
    )
