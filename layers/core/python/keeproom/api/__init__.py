"""The owner's door: HTTP and JSON over the verbs of the vault."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keeproom.api.app import build_app

__all__ = ["build_app"]


def __getattr__(name: str) -> object:
    """The application is loaded when it is asked for: some only need what stands around it."""
    if name == "build_app":
        from keeproom.api.app import build_app  # noqa: PLC0415

        return build_app
    raise AttributeError(name)
