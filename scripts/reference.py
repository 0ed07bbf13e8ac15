"""Write docs/reference.md and docs/openapi.json from the code: `python scripts/reference.py`."""

from collections.abc import Iterable, Iterator, Sequence
from inspect import getdoc
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from keeproom import errors
from keeproom.api.app import bare_app
from keeproom.api.errors import STATUS
from keeproom.api.gate import is_public
from keeproom.api.openapi import description
from keeproom.api.scopes import needed
from keeproom.errors import VaultError
from keeproom.mcp.tools import TOOLS
from keeproom.settings import Settings

DOCS = Path(__file__).parents[1] / "docs"
METHODS = ("get", "post", "put", "patch", "delete")
HEAD = """\
# Reference

Written by `make docs` from the code. The whole of the HTTP API, with every field, is in
[openapi.json](openapi.json).
"""


def reference() -> str:
    return "\n".join((HEAD, *_tools(), *_routes(), *_settings(), *_errors()))


def _tools() -> Iterator[str]:
    yield "## Tools\n\nWhat agents are offered over MCP, as far as their permissions go.\n"
    yield from _table(("tool", "takes", "permission", "what a model is told"), _rows_of_tools())


def _rows_of_tools() -> Iterator[tuple[str, str, str, str]]:
    for tool in TOOLS:
        schema = tool.described().input_schema
        needed = schema.get("required", ())
        takes = (f"`{name}`" if name in needed else f"`{name}?`" for name in schema["properties"])
        permissions = " or ".join(sorted(tool.needs))
        yield f"`{tool.name}`", ", ".join(takes), permissions, tool.description


def _routes() -> Iterator[str]:
    yield "## Routes\n\nAll under `/api` are for the owner, and for scripts as far as the scopes of"
    yield "their token go; `admin` has all scopes in it. `/connect` says in Markdown how to add the"
    yield "vault to an app.\n"
    yield from _table(("route", "scope", "what it does"), _rows_of_routes(bare_app().openapi()))


def _rows_of_routes(document: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for path, operations in document["paths"].items():
        for method in METHODS:
            if method in operations:
                said = operations[method].get("description", operations[method]["summary"])
                yield f"`{method.upper()} {path}`", _scope(method.upper(), path), _line(said)


def _scope(method: str, path: str) -> str:
    if is_public(path):
        return "anybody"
    scopes = needed(method, path)
    return (
        "none: the owner only"
        if scopes is None
        else " and ".join(f"`{one}`" for one in sorted(scopes))
    )


def _settings() -> Iterator[str]:
    yield "## Settings\n\nRead from the environment, and from `.env` in the working folder.\n"
    yield from _table(("variable", "default", "what it is"), _rows_of_settings())


def _rows_of_settings() -> Iterator[tuple[str, str, str]]:
    for field in Settings.model_fields.values():
        yield f"`{field.alias}`", _default(field), _line(field.description or "")


def _default(field: FieldInfo) -> str:
    if field.default_factory is not None or field.default in ("", 0, SecretStr("")):
        return ""
    return f"`{field.default}`"


def _errors() -> Iterator[str]:
    yield "## Errors\n"
    yield 'Every error answers `{"error": {"code", "message", "param"?}}`. Decide by `code`.\n'
    yield from _table(("code", "HTTP status", "what it means"), _rows_of_errors(VaultError))


def _rows_of_errors(kind: type[VaultError]) -> Iterator[tuple[str, str, str]]:
    for one in kind.__subclasses__():
        yield f"`{one.code}`", str(_status(one)), _meaning(one)
        yield from _rows_of_errors(one)


def _status(kind: type[VaultError]) -> int:
    return next(STATUS[one] for one in kind.__mro__ if one in STATUS)


def _meaning(kind: type[VaultError]) -> str:
    """As the tree at the top of `errors.py` says it."""
    tree = getdoc(errors) or ""
    line = next(line for line in tree.splitlines() if f" {kind.__name__} " in line)
    return _line(line.partition(kind.__name__)[2])


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"| {' | '.join('---' for _ in head)} |"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', r'\|') for cell in row)} |"
    yield ""


def _line(text: str) -> str:
    """Its first sentences, up to a blank line, in one line."""
    return " ".join(text.strip().split("\n\n")[0].split())


def main() -> None:
    (DOCS / "reference.md").write_text(reference(), encoding="utf-8")
    (DOCS / "openapi.json").write_text(description(), encoding="utf-8")


if __name__ == "__main__":
    main()
