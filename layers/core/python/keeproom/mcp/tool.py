"""A tool: what it is called, takes, gives and does, and who may call it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mcp_types import Tool as Described
from mcp_types import ToolAnnotations
from pydantic import BaseModel

from keeproom.mcp.asked import Asked
from keeproom.mcp.calls import Call
from keeproom.mcp.schema import schema_of
from keeproom.oauth.model import Permissions


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool[Takes: Asked, Gives: BaseModel]:
    """`needs`: one of these permissions is enough. `run` may block and raises `VaultError`."""

    name: str
    title: str
    description: str
    needs: Permissions
    takes: type[Takes]
    gives: type[Gives]
    run: Callable[[Call, Takes], Gives]
    reads_only: bool = False
    destroys: bool = False
    repeatable: bool = False

    def described(self) -> Described:
        """As clients are told."""
        return Described(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=schema_of(self.takes),
            output_schema=schema_of(self.gives, mode="serialization"),
            annotations=ToolAnnotations(
                title=self.title,
                read_only_hint=self.reads_only,
                destructive_hint=self.destroys,
                idempotent_hint=self.repeatable or self.reads_only,
                open_world_hint=False,
            ),
        )


type AnyTool = Tool[Any, Any]
