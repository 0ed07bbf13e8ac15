"""What anybody may ask."""

from fastapi import APIRouter

from keeproom.api.asked import Behind
from keeproom.api.errors import documented
from keeproom.api.schemas import Health

router = APIRouter(tags=["public"])


@router.get("/health", responses=documented(503))
def health(behind: Behind) -> Health:
    """Whether the vault can be read."""
    behind.vault.memories.head()
    return Health(status="ok")
