"""`keeproom`: the vault on this machine, from a terminal."""

from keeproom.cli.main import main

__all__ = ["main"]
