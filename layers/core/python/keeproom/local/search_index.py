"""The search index on one machine: the copy inside the process is all there is."""

from keeproom.engines.memory_index import InProcessIndex
from keeproom.engines.snapshot import BlobSnapshots
from keeproom.vault.blobs import Blobs


def open(blobs: Blobs, name: str, *, model: str, dims: int) -> InProcessIndex:
    """What was last saved under that name."""
    return InProcessIndex.open(model, dims, snapshots=BlobSnapshots(blobs, name))
