"""A collection on this machine until the input ends: `python -m tests.search_engine [PORT]`."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.search_engine.collection import serving
from tests.search_engine.node import running


def main() -> None:
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 9300
    with (
        TemporaryDirectory() as folder,
        running(Path(folder)) as node,
        serving(node, port=port) as collection,
    ):
        sys.stdout.write(f"{collection.address}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
