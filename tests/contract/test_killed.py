"""What a power cut or kill -9 leaves behind."""

import random
import subprocess
import sys
from pathlib import Path

from keeproom.local import memory_store
from keeproom.pages import every
from keeproom.vault import jobs, listing
from keeproom.vault.model import Held, Memory
from keeproom.vault.recall import Query, recall
from keeproom.vault.vault import Vault
from tests.embedders import WordEmbedder
from tests.vaults import vault_on

KILLS, WRITES = 20, 50  # 1,000 writes, a kill in the middle of each 50


def test_every_acknowledged_write_survives_being_killed(tmp_path: Path) -> None:
    told: set[int] = set()
    for _ in range(KILLS):
        told |= _killed_while_writing(tmp_path, first=max(told, default=-1) + 100)
    store = memory_store.open(tmp_path / "vault.db")
    vault = vault_on(store, WordEmbedder())
    kept = _all(vault)
    texts = {memory.content for memory in kept}
    assert {f"fact number {n}x" for n in told} <= texts
    assert len(texts) == len(kept)
    assert vault.memories.audit_faults() == []
    for memory in random.sample(kept, 50):
        look = vault.memories.look(memories=[memory.id], identities=[memory.identity])
        assert look.holdings[memory.identity] == Held(memory.id)
        assert vault.memories.embeddings([memory.id])[memory.id].content_hash == memory.content_hash
    jobs.work_off(vault)
    assert jobs.lag(vault) == 0
    last = max(told)
    assert recall(vault, Query(text=f"{last}x")).hits[0].memory.content == f"fact number {last}x"
    store.close()


def _killed_while_writing(folder: Path, *, first: int) -> set[int]:
    """Numbers acknowledged before the kill, which comes at any moment of a write."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.writer", str(folder), str(first)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    told = {int(process.stdout.readline()) for _ in range(random.randint(1, WRITES))}
    process.kill()
    rest = process.stdout.read().split("\n")
    process.stdout.close()
    process.wait()
    return told | {int(line) for line in rest[:-1]}  # what follows the last line end was cut off


def _all(vault: Vault) -> list[Memory]:
    which = listing.Listed()
    return list(every(lambda cursor: listing.memories(vault, which, cursor=cursor, limit=200)))
