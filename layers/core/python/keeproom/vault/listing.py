"""Reading what a vault holds, page by page, without ranking it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from keeproom.errors import Invalid, NotFound
from keeproom.vault.batch import Batch, Outcome
from keeproom.vault.model import AuditEntry, Exclusion, Memory, MemoryType, Page, Status
from keeproom.vault.vault import Vault

LARGEST_PAGE = 200
MOST_READ = (
    2_000  # looked through for one page, so that a rare filter stays quick; the cursor goes on
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """Which memories to list. `tags`: all of them. `withdrawn`: what agents asked to forget and
    the owner has not decided about, which is in no other list."""

    status: Status | None = None
    type: MemoryType | None = None
    tags: frozenset[str] = field(default_factory=frozenset[str])
    batch_id: str = ""
    withdrawn: bool = False


def page_size(limit: int) -> int:
    """The limit, if a page may have it. Raises `Invalid`."""
    if not 1 <= limit <= LARGEST_PAGE:
        raise Invalid(f"Ask for 1 to {LARGEST_PAGE} at a time.", param="limit")
    return limit


def memories(vault: Vault, which: Listed, *, cursor: str = "", limit: int = 50) -> Page[Memory]:
    """One page; a full listing follows `next` until it is empty. A page may be shorter than the
    limit, even empty, before the end. Raises `Invalid` for a cursor of another listing."""
    found: list[Memory] = []
    read = 0
    while len(found) < page_size(limit) and read < MOST_READ:
        page = vault.memories.memories(
            status=which.status,
            batch=which.batch_id,
            withdrawn=which.withdrawn,
            cursor=cursor,
            limit=limit - len(found),
        )
        read += len(page.items)
        found += [memory for memory in page.items if _fits(memory, which)]
        cursor = page.next
        if not cursor:
            break
    return Page(tuple(found), cursor)


def _fits(memory: Memory, which: Listed) -> bool:
    return (
        which.withdrawn is (memory.withdrawn is not None)
        and which.type in (None, memory.type)
        and which.tags <= frozenset(memory.tags)
    )


def memory(vault: Vault, memory_id: str) -> Memory:
    """Raises `NotFound`."""
    return some(vault, [memory_id])[0]


def some(vault: Vault, ids: Sequence[str]) -> list[Memory]:
    """The memories, whole, in the order asked for. Raises `NotFound` naming the first unknown."""
    return _in_order(ids, vault.memories.read(ids))


def shown(vault: Vault, ids: Sequence[str]) -> list[Memory]:
    """As `some`, for agents: what is withdrawn is not there for them."""
    found = vault.memories.read(ids)
    return _in_order(ids, {one: kept for one, kept in found.items() if kept.withdrawn is None})


def _in_order(ids: Sequence[str], found: Mapping[str, Memory]) -> list[Memory]:
    for one in ids:
        if one not in found:
            raise NotFound(f"There is no memory {one}.", param="id")
    return [found[one] for one in ids]


def batches(vault: Vault, *, cursor: str = "", limit: int = 50) -> Page[Batch]:
    """Newest first."""
    return vault.memories.batches(cursor=cursor, limit=page_size(limit))


def outcomes(
    vault: Vault, batch_id: str, *, cursor: str = "", limit: int = 50
) -> Page[tuple[int, Outcome]]:
    """What became of the import's texts so far, by position."""
    return vault.memories.outcomes(batch_id, cursor=cursor, limit=page_size(limit))


def exclusions(vault: Vault, *, cursor: str = "", limit: int = 50) -> Page[tuple[str, Exclusion]]:
    """What is kept out, by identity; oldest first."""
    return vault.memories.exclusions(cursor=cursor, limit=page_size(limit))


def audit(vault: Vault, *, cursor: str = "", limit: int = 50) -> Page[AuditEntry]:
    """Newest first."""
    return vault.memories.audit(cursor=cursor, limit=page_size(limit))
