"""What a client can be told to do, whatever it is."""

from typing import Any, Protocol


class Failed(Exception):
    """The client did not do what it had to."""


class NotLetIn(Exception):
    """The vault turned the client away, or the client asks to be approved again."""


class Session(Protocol):
    """A client that has been approved.  Every call may raise `Failed` or `NotLetIn`."""

    version: str
    protocol: str

    def tools(self) -> list[str]: ...

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a tool."""
        ...

    def spoil(self) -> None:
        """Make the access token useless, so that the next call has to refresh it."""
        ...

    def refresh_token(self) -> str: ...
