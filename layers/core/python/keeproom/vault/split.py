"""Taking a text, a JSON file or a Markdown file apart into the items of an import."""

import json
import re
from collections.abc import Iterable, Mapping
from datetime import date
from typing import cast

from keeproom.errors import Invalid
from keeproom.vault.batch import ImportItem
from keeproom.vault.model import MemoryType

_RULE = re.compile(r"^[ \t]*-{3,}[ \t]*$", re.MULTILINE)
_BULLET = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,4}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(?=\S)")
_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+\S")
_BLANK = re.compile(r"\n[ \t]*\n")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n.*?\n---[ \t]*(?:\n|\Z)", re.DOTALL)
FIELDS = ("content", "type", "source", "source_date", "tags")


def from_text(text: str) -> list[ImportItem]:
    """Split on `---` lines, else on bullets, else on blank lines. Headings are not items; lines
    indented under a bullet belong to it. Front matter is dropped."""
    body = _FRONT_MATTER.sub("", text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff"))
    if _RULE.search(body):
        parts: Iterable[str] = _RULE.split(body)
    elif any(_BULLET.match(line) for line in body.split("\n")):
        parts = _bullets(body)
    else:
        parts = _paragraphs(body)
    return [ImportItem(content=part.strip()) for part in parts if part.strip()]


def _bullets(body: str) -> list[str]:
    """Text before the first bullet and between lists is kept, paragraph by paragraph."""
    parts: list[str] = []
    joins = False  # whether an unmarked line goes on with the part before it
    for line in body.split("\n"):
        if _BULLET.match(line):
            parts.append(_BULLET.sub("", line, count=1))
            joins = True
        elif not line.strip() or _HEADING.match(line):
            joins = False
        elif parts and (joins or line[:1] in " \t"):
            parts[-1] += "\n" + line.strip()
        else:
            parts.append(line)
            joins = True
    return parts


def _paragraphs(body: str) -> list[str]:
    parts = (
        "\n".join(line for line in part.split("\n") if not _HEADING.match(line))
        for part in _BLANK.split(body)
    )
    return list(parts)


def from_json(text: str) -> list[ImportItem]:
    """A list of strings or objects, an object holding one under `items` or `memories`, or one
    object a line (JSONL). Raises `Invalid` naming the line or item at fault."""
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        return from_values(_lines(text, error))
    if isinstance(found, dict):
        held = cast("Mapping[str, object]", found)
        found = held.get("items", held.get("memories", [held]))
    if not isinstance(found, list):
        raise Invalid("The JSON must hold a list of memories.", param="items")
    return from_values(cast("list[object]", found))


def _lines(text: str, whole: Exception) -> Iterable[object]:
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2 and not (lines and lines[0].lstrip().startswith(("{", '"'))):
        raise Invalid("This is not JSON. Check the file, or import it as text.") from whole
    for number, line in enumerate(lines, start=1):
        try:
            yield json.loads(line)
        except (ValueError, RecursionError) as error:
            raise Invalid(f"Line {number} is not JSON.", param="items") from error


def from_values(values: Iterable[object]) -> list[ImportItem]:
    """Strings, or objects with `content` and optional `type`, `source`, `source_date`, `tags`.
    Raises `Invalid` naming the first item that is neither."""
    return [_item(value, n) for n, value in enumerate(values)]


def _item(value: object, n: int) -> ImportItem:
    if isinstance(value, str):
        return ImportItem(content=value)
    if not isinstance(value, dict):
        raise Invalid(f"Item {n + 1} must be a text or an object.", param=f"items[{n}]")
    fields = cast("Mapping[str, object]", value)
    content = fields.get("content", fields.get("text", fields.get("memory")))
    if not isinstance(content, str):
        raise Invalid(f"Item {n + 1} has no `content`.", param=f"items[{n}].content")
    return ImportItem(
        content=content,
        type=_type(fields.get("type"), n),
        source=_text(fields.get("source"), n, "source"),
        source_date=parsed_date(fields.get("source_date"), param=f"items[{n}].source_date"),
        tags=_tags(fields.get("tags"), n),
    )


def _type(value: object, n: int) -> MemoryType:
    """A type we do not have becomes `other`: the text matters more than its label."""
    if value is None:
        return MemoryType.OTHER
    known = {kind.value: kind for kind in MemoryType}
    return known.get(_text(value, n, "type").strip().lower(), MemoryType.OTHER)


def _text(value: object, n: int, name: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Invalid(f"`{name}` of item {n + 1} must be a text.", param=f"items[{n}].{name}")
    return value


def _tags(value: object, n: int) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(
        isinstance(tag, str) for tag in cast("list[object]", value)
    ):
        raise Invalid(f"`tags` of item {n + 1} must be a list of texts.", param=f"items[{n}].tags")
    return tuple(cast("list[str]", value))


def parsed_date(value: object, *, param: str) -> date | None:
    """`2026-11-30`, or the day of `2026-11-30T13:49:37Z`. Raises `Invalid`."""
    if value is None or value == "":
        return None
    if isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\d(?:$|[T ])", value):
        try:
            return date.fromisoformat(value[:10])
        except ValueError:
            pass
    raise Invalid("Write the date as YYYY-MM-DD.", param=param)
