"""The owner's door: HTTP and JSON over the verbs of the vault."""

from keeproom.api.app import build_app

__all__ = ["build_app"]
