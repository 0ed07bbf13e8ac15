"""JSON schemas of tools, as every client can read them."""

from collections.abc import Mapping
from typing import Any, cast

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode

type Schema = Mapping[str, Any]
type Schemas = Mapping[str, Schema]

_NULL = {"type": "null"}


def schema_of(model: type[BaseModel], *, mode: JsonSchemaMode = "validation") -> dict[str, Any]:
    """Without references, and without what a model does not need to read: titles, defaults, and
    the null that stands for an argument left out. Several clients read no `$ref` or `anyOf`."""
    schema = model.model_json_schema(mode=mode)
    definitions: Schemas = schema.pop("$defs", {})
    schema.pop("description", None)
    return _plain(schema, definitions)


def _plain(schema: Schema, definitions: Schemas) -> dict[str, Any]:
    if "$ref" in schema:
        named = definitions[schema["$ref"].rpartition("/")[2]]
        return _plain(_merged(_without(named, "description"), schema, "$ref"), definitions)
    options = [one for one in schema.get("anyOf", ()) if one != _NULL]
    if len(options) == 1:
        return _plain(_merged(options[0], schema, "anyOf"), definitions)
    return {
        name: _part(name, part, definitions)
        for name, part in schema.items()
        if name not in ("title", "default", "discriminator")
    }


def _part(name: str, part: object, definitions: Schemas) -> object:
    if name == "properties":  # their names are no keywords
        named = cast("Schemas", part)
        return {one: _plain(schema, definitions) for one, schema in named.items()}
    if isinstance(part, list):
        return [_part("", one, definitions) for one in cast("list[object]", part)]
    return _plain(cast("Schema", part), definitions) if isinstance(part, dict) else part


def _merged(schema: Schema, around: Schema, instead_of: str) -> dict[str, Any]:
    return {**schema, **_without(around, instead_of)}


def _without(schema: Schema, name: str) -> dict[str, Any]:
    return {one: part for one, part in schema.items() if one != name}
