"""One client's visit to one vault: what it is given, and a home of its own."""

import sys
from dataclasses import dataclass
from pathlib import Path

from clients.node import node
from clients.owner import Owner
from clients.places import clean_environment

PERSON = Path(__file__).with_name("person.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """`home`: empty, and nobody else's."""

    address: str
    owner: Owner
    home: Path

    @property
    def mcp(self) -> str:
        return f"{self.address}/mcp"

    def environment(self, **more: str) -> dict[str, str]:
        """With a browser that a person sits at, until `leave`."""
        browser = self.home / "bin/xdg-open"
        if not browser.exists():
            browser.parent.mkdir(parents=True, exist_ok=True)
            browser.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{PERSON}" "$@"\n')
            browser.chmod(0o755)
        clean = clean_environment(**more)
        return clean | {
            "HOME": str(self.home),
            "PATH": f"{browser.parent}:{node().parent}:{clean['PATH']}",
            "BROWSER": str(browser),
            "PERSON_LOG": str(self.home / "person.log"),
            "PERSON_AWAY": str(self.home / "away"),
        }

    def leave(self) -> None:
        """From now on nobody approves anything."""
        self.home.mkdir(parents=True, exist_ok=True)
        (self.home / "away").touch()

    def asked(self) -> int:
        """How often a page was opened for the person."""
        log = self.home / "person.log"
        return log.read_text().count("asked http") if log.exists() else 0
