"""The official libraries, each with every way of introducing itself."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from clients.node import OLD_PYTHON, node
from clients.places import clean_environment
from clients.program import Program, running
from clients.scenario import go_through
from clients.session import Failed
from clients.visit import Visit

PROGRAMS = Path(__file__).with_name("programs")
REDIRECT = "http://localhost:3030/callback"
DOCUMENT = "https://client.example/mcp.json"

# How a client introduces itself: registered without a secret, with one in the header or in the
# form, by default, or known by a document; and in which era of the protocol it speaks.
WAYS: Mapping[str, Mapping[str, str]] = {
    "default": {},
    "none": {"method": "none"},
    "basic": {"method": "client_secret_basic"},
    "post": {"method": "client_secret_post"},
    "document": {"document": DOCUMENT},
}
BOTH_ERAS = {**WAYS, "legacy": {"mode": "legacy"}}


def python2(visit: Visit) -> str:
    return _each_way(visit, [sys.executable, PROGRAMS / "python2.py"], BOTH_ERAS)


def python1(visit: Visit) -> str:
    return _each_way(visit, [OLD_PYTHON, PROGRAMS / "python1.py"], WAYS)


def typescript1(visit: Visit) -> str:
    return _each_way(visit, [node(), PROGRAMS / "typescript1.mjs"], WAYS)


def typescript2(visit: Visit) -> str:
    return _each_way(visit, [node(), PROGRAMS / "typescript2.mjs"], BOTH_ERAS)


def _each_way(
    visit: Visit, command: list[str | Path], ways: Mapping[str, Mapping[str, str]]
) -> str:
    version, spoken = "", list[str]()
    for way, wishes in ways.items():
        name = f"{command[-1]}".rpartition("/")[2].partition(".")[0] + way
        told = json.dumps({"name": name, "redirect": REDIRECT, **wishes})
        try:
            with running([*command, visit.mcp, told], clean_environment(), kind=Program) as session:
                go_through(session, visit, name)
                version = session.version
                spoken.append(session.protocol)
        except Failed as error:
            raise Failed(f"{way}: {error}") from error
    return f"{version} ({', '.join(sorted(set(spoken)))})"
