"""What an import brings: the bodies `/api/bulk` takes, taken apart into items."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, cast

from fastapi import Depends, Query
from pydantic import Field
from starlette.requests import Request

from keeproom.api.schemas import Body, Day, Text
from keeproom.errors import Invalid
from keeproom.vault.batch import ImportItem
from keeproom.vault.model import MemoryType
from keeproom.vault.split import FIELDS, from_json, from_text, from_values


class Item(Body):
    """One text with what is known about it."""

    content: Text
    type: MemoryType = MemoryType.OTHER
    source: Text = ""
    source_date: Day | None = None
    tags: list[Text] = Field(default_factory=list[str])


class Bulk(Body):
    """Either `items`, texts or objects, or one `text` to be split on `---` lines, bullets or
    blank lines."""

    items: list[object] | None = None
    text: Text | None = None
    source: Text = ""
    propose: bool = Field(default=False, strict=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """`propose`: everything it stores waits for the owner."""

    items: Sequence[ImportItem]
    source: str
    propose: bool


async def sent(request: Request) -> tuple[str, bytes]:
    """The media type and the bytes."""
    kind = request.headers.get("content-type", "").partition(";")[0]
    return kind.strip().lower(), await request.body()


def brought(
    body: Annotated[tuple[str, bytes], Depends(sent)],
    source: Annotated[str, Query(description="Where it comes from.")] = "",
    propose: Annotated[  # noqa: FBT002  a query parameter
        bool, Query(description="Let everything wait for review.")
    ] = False,
) -> Brought:
    """Raises `Invalid`."""
    kind, text = body[0], _decoded(body[1])
    match kind:
        case "application/json" if (bulk := _bulk(text)) is not None:
            return Brought(
                items=_items(bulk),
                source=bulk.source or source,
                propose=bulk.propose or propose,
            )
        case "application/json" | "application/x-ndjson" | "application/jsonl":
            items = from_json(text)
        case "text/plain" | "text/markdown":
            items = from_text(text)
        case _:
            raise Invalid(
                "Send JSON (application/json, application/x-ndjson), text/markdown or text/plain.",
                param="Content-Type",
            )
    return Brought(items=items, source=source, propose=propose)


def _decoded(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid("The body is not UTF-8 text. Save it as UTF-8 and try again.") from error


def _bulk(text: str) -> Bulk | None:
    """None for a file: a list, JSON lines, or an object that some program has written."""
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(found, dict) and not {"items", "text"}.isdisjoint(
        cast("Mapping[str, object]", found)
    ):
        return Bulk.model_validate(found)
    return None


def _items(bulk: Bulk) -> list[ImportItem]:
    if (bulk.items is None) is (bulk.text is None):
        raise Invalid("Send either `items` or `text`.", param="items")
    if bulk.text is not None:
        return from_text(bulk.text)
    items = bulk.items or []
    for number, item in enumerate(items):
        if isinstance(item, dict) and not set(cast("Mapping[str, object]", item)) <= set(FIELDS):
            raise Invalid(
                f"Item {number + 1} has a field that is not one of {', '.join(FIELDS)}.",
                param=f"items[{number}]",
            )
    return from_values(items)


def _schema(model: type[Body]) -> dict[str, Any]:
    """What it refers to is described by other routes."""
    schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
    schema.pop("$defs", None)
    return schema


_FILE = {"type": "string", "minLength": 1}
_LIST = {"type": "array", "items": {"anyOf": [{"type": "string"}, _schema(Item)]}, "minItems": 1}
_BULK = _schema(Bulk)
_BULK["properties"]["items"] = _LIST

BODY: dict[str, Any] = {
    "required": True,
    "content": {
        "application/json": {"schema": {"anyOf": [_BULK, _LIST]}},
        "application/x-ndjson": {"schema": _FILE},
        "text/markdown": {"schema": _FILE},
        "text/plain": {"schema": _FILE},
    },
}
