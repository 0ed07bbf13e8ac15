"""A process that writes until it is killed: `python -m tests.writer FOLDER FIRST`. It prints the
number of each text once the vault has acknowledged it."""

import sys
from itertools import count
from pathlib import Path

from keeproom.local import memory_store
from keeproom.vault.batch import ImportItem
from keeproom.vault.model import OWNER
from keeproom.vault.remember import remember
from tests.embedders import WordEmbedder
from tests.vaults import vault_on


def main(folder: str, first: str) -> None:
    vault = vault_on(memory_store.open(Path(folder) / "vault.db"), WordEmbedder(), auto=True)
    for n in count(int(first)):
        remember(vault, ImportItem(content=f"fact number {n}x"), by=OWNER)
        sys.stdout.write(f"{n}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
