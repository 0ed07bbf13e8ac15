"""`make clients`: one line a client and place. Usage: python -m clients [NAMES] [--place PLACE]."""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

from clients.all import CLIENTS
from clients.owner import owner_of
from clients.person import NotApproved
from clients.places import Place, served
from clients.session import Failed, NotLetIn
from clients.visit import Visit

# What a client or the vault does wrong must not keep the others from being tried.
WENT_WRONG = (
    Failed,
    NotLetIn,
    NotApproved,
    LookupError,
    ValueError,
    OSError,
    httpx.HTTPError,
    subprocess.SubprocessError,
)


def main() -> int:
    """Exit code 1 when a client failed."""
    asked = _asked()
    failed = 0
    for place in asked.place or [Place.UVICORN, Place.LAMBDA]:
        with tempfile.TemporaryDirectory(prefix="keeproom-clients-") as folder:
            failed += _visits(place, Path(folder), asked.clients or list(CLIENTS))
    return 1 if failed else 0


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="clients", description=__doc__)
    parser.add_argument("clients", nargs="*", choices=[[], *CLIENTS], help="default: all")
    parser.add_argument("--place", action="append", type=Place, choices=list(Place))
    return parser.parse_args()


def _visits(place: Place, folder: Path, names: list[str]) -> int:
    failed = 0
    with served(place, folder) as address, owner_of(address) as owner:
        for name in names:
            visit = Visit(address=address, owner=owner, home=folder / name)
            failed += not _goes_well(place, name, visit)
    return failed


def _goes_well(place: Place, name: str, visit: Visit) -> bool:
    said, drive = CLIENTS[name]
    begun = time.monotonic()
    try:
        found, why = drive(visit), ""
    except WENT_WRONG as error:
        found, why = "", f"{error}" if isinstance(error, Failed) else repr(error)
    seconds = time.monotonic() - begun
    line = f"{'FAIL' if why else 'pass'}  {place:8}{said:18}{seconds:5.1f} s  {found or why}\n"
    sys.stdout.write(line)
    sys.stdout.flush()
    return not why


if __name__ == "__main__":
    sys.exit(main())
