"""`keeproom remember`, `recall`, `list`, `forget`."""

import sys
from collections.abc import Iterator
from typing import Annotated

import typer

from keeproom.cli.terminal import Json, app, note, opened, say, say_json
from keeproom.clock import iso
from keeproom.pages import every
from keeproom.vault import listing
from keeproom.vault import recall as recalling
from keeproom.vault.batch import ImportItem, Skipped
from keeproom.vault.forget import forget as forget_one
from keeproom.vault.model import OWNER, Memory, MemoryType, Status
from keeproom.vault.remember import remember as remember_one
from keeproom.vault.split import parsed_date
from keeproom.vault.vault import Vault

Tags = Annotated[list[str] | None, typer.Option("--tag", help="A tag; may be repeated.")]


@app.command()
def remember(
    text: Annotated[str, typer.Argument(help="One fact, or - to read it from standard input.")],
    type: Annotated[MemoryType, typer.Option(help="What kind of memory.")] = MemoryType.OTHER,
    tag: Tags = None,
    source: Annotated[str, typer.Option(help="Where it comes from.")] = "terminal",
    source_date: Annotated[str, typer.Option(help="Since when it is true: YYYY-MM-DD.")] = "",
    supersedes: Annotated[str, typer.Option(help="Id of the memory it replaces.")] = "",
    as_json: Json = False,
) -> None:
    """Save one fact."""
    item = ImportItem(
        content=sys.stdin.read() if text == "-" else text,
        type=type,
        tags=tuple(tag or ()),
        source=source,
        source_date=parsed_date(source_date, param="--source-date"),
    )
    with opened() as here:
        told = remember_one(here.vault, item, by=OWNER, supersedes=supersedes)
    known = isinstance(told.outcome, Skipped)
    if as_json:
        say_json({"outcome": "duplicate" if known else "stored", "memory": shown(told.memory)})
    elif known:
        say(f"Already known as {told.memory.id}.")
    else:
        say(f"{told.memory.status.value.capitalize()}: {told.memory.id}")


@app.command()
def recall(
    query: Annotated[str, typer.Argument(help="What to look for, in any language.")],
    limit: Annotated[int | None, typer.Option(help="How many hits, 1 to 100.")] = None,
    tag: Tags = None,
    history: Annotated[bool, typer.Option("--history", help="Also what was replaced.")] = False,
    as_json: Json = False,
) -> None:
    """Find memories, best first."""
    asked = recalling.Query(
        text=query, limit=limit, tags=frozenset(tag or ()), include_history=history
    )
    with opened() as here:
        told = recalling.recall(here.vault, asked)
    if as_json:
        say_json(
            {
                "mode": told.mode.value,
                "reason": told.reason,
                "data": [{"score": round(hit.score, 4), **shown(hit.memory)} for hit in told.hits],
            }
        )
        return
    for hit in told.hits:
        say(f"{hit.score:.2f}  {hit.memory.id}  {line(hit.memory)}")
    if told.reason:
        note(told.reason)
    elif told.mode is recalling.RecallMode.KEYWORD_ONLY:
        note("No embedding model answered: these were found by their words alone.")


@app.command(name="list")
def list_(
    status: Annotated[Status | None, typer.Option(help="Only this status.")] = None,
    tag: Tags = None,
    batch: Annotated[str, typer.Option(help="Only what this import stored.")] = "",
    as_json: Json = False,
) -> None:
    """List every memory."""
    which = listing.Listed(status=status, tags=frozenset(tag or ()), batch_id=batch)
    with opened() as here:
        for memory in every_memory(here.vault, which):
            if as_json:
                say_json(shown(memory))
            else:
                say(f"{memory.id}  {memory.status.value:<10}  {line(memory)}")


@app.command()
def forget(
    memory_id: Annotated[str, typer.Argument(help="Id of the memory, as recall and list show it.")],
    as_json: Json = False,
) -> None:
    """Remove a memory for good and keep its text out."""
    with opened() as here:
        forget_one(here.vault, memory_id, by=OWNER)
    if as_json:
        say_json({"forgotten": memory_id})
    else:
        say(f"Forgotten: {memory_id}")


def every_memory(vault: Vault, which: listing.Listed) -> Iterator[Memory]:
    return every(lambda cursor: listing.memories(vault, which, cursor=cursor, limit=200))


def line(memory: Memory) -> str:
    """The text in one line."""
    return " ".join(memory.content.split())


def shown(memory: Memory) -> dict[str, object]:
    """The memory as JSON."""
    return {
        "id": memory.id,
        "content": memory.content,
        "type": memory.type.value,
        "status": memory.status.value,
        "source": memory.source,
        "source_date": memory.source_date.isoformat() if memory.source_date else None,
        "tags": list(memory.tags),
        "created_at": iso(memory.created_at),
        "updated_at": iso(memory.updated_at),
        "revision": memory.revision,
    }
