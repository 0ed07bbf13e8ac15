"""`keeproom import`: files, folders and standard input."""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from keeproom.cli.terminal import Json, app, note, opened, progress, say, say_json
from keeproom.errors import Invalid
from keeproom.pages import every
from keeproom.vault import imports, listing
from keeproom.vault.batch import Batch, BatchState, ImportItem, Skipped, Stored
from keeproom.vault.model import OWNER
from keeproom.vault.split import from_json, from_text
from keeproom.vault.vault import Vault

JSON = frozenset({".json", ".jsonl", ".ndjson"})
TEXT = frozenset({".md", ".markdown", ".txt"})
STEP = 1.0  # seconds of work between two looks at the progress bar


@app.command(name="import")
def import_(
    path: Annotated[str, typer.Argument(metavar="FILE|FOLDER|-", help="What to read; - is stdin.")],
    source: Annotated[str, typer.Option(help="Where the memories come from.")] = "",
    as_json: Json = False,
) -> None:
    """Bring in many memories at once: Markdown, text, JSON or JSONL. Can be undone as a whole."""
    items = list(_items(path))
    with opened() as here:
        batch = imports.begin(here.vault, items, by=OWNER, source=source or _name(path))
        batch = _work(here.vault, batch)
        counts = _counts(here.vault, batch)
        here.vault.index.save()
    if as_json:
        say_json({"id": batch.id, "state": batch.state.value, **counts})
    else:
        _tell(batch, counts)


def _work(vault: Vault, batch: Batch) -> Batch:
    with progress() as bar:
        task = bar.add_task("Importing", total=batch.total)
        while batch.state is BatchState.RUNNING:
            batch = imports.carry_on(vault, batch.id, seconds=STEP)
            bar.update(task, completed=batch.position)
    return batch


def _counts(vault: Vault, batch: Batch) -> dict[str, int]:
    """How many were stored, by status, and skipped, by reason."""
    told: Counter[str] = Counter()
    outcomes = every(
        lambda cursor: listing.outcomes(vault, batch.id, cursor=cursor, limit=listing.LARGEST_PAGE)
    )
    for _, outcome in outcomes:
        match outcome:
            case Stored():
                told[outcome.status.value] += 1
            case Skipped():
                told[f"skipped_{outcome.reason.value}"] += 1
    return {"total": batch.total, "stored": batch.stored, **dict(sorted(told.items()))}


def _tell(batch: Batch, counts: dict[str, int]) -> None:
    say(f"Import {batch.id}: {batch.stored} of {batch.total} stored.")
    for name, count in counts.items():
        if name not in ("total", "stored"):
            say(f"  {name.replace('_', ' ')}: {count}")
    if batch.keyword_only:
        note("No embedding model answered, so only exact duplicates were noticed.")


def _name(path: str) -> str:
    return "stdin" if path == "-" else Path(path).name


def _items(path: str) -> Iterator[ImportItem]:
    if path == "-":
        yield from _parsed(_decoded(sys.stdin.buffer.read(), "Standard input"), "")
        return
    place = Path(path)
    if not place.exists():
        raise Invalid(f"There is no file or folder {path}.")
    for file in _files(place):
        try:
            content = file.read_bytes()
        except OSError as error:
            raise Invalid(f"{file} cannot be read: {error.strerror}.") from error
        yield from _parsed(_decoded(content, str(file)), file.suffix.lower())


def _files(place: Path) -> list[Path]:
    if not place.is_dir():
        return [place]
    found = sorted(
        file
        for file in place.rglob("*")
        if file.suffix.lower() in JSON | TEXT
        and file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(place).parts)
    )
    if not found:
        raise Invalid(f"No Markdown, text or JSON files in {place}.")
    return found


def _decoded(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid(f"{name} is not UTF-8 text. Save it as UTF-8 and try again.") from error


def _parsed(text: str, suffix: str) -> list[ImportItem]:
    """By the file's name; standard input by what it looks like."""
    if suffix in JSON or (not suffix and text.lstrip()[:1] in ("[", "{")):
        return from_json(text)
    return from_text(text)
