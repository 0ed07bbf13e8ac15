"""`/api/reindex`: making the search index anew, and how far it is."""

from typing import Annotated, Self

from fastapi import APIRouter, Query, status

from keeproom.api.asked import Behind, Opened
from keeproom.api.errors import documented
from keeproom.api.owner import Signed
from keeproom.api.schemas import Answer, Time
from keeproom.vault import rebuild
from keeproom.vault.work import INDEX

router = APIRouter(prefix="/api/reindex", tags=["reindex"])


class Progress(Answer):
    """`done` of about `total` memories. `waiting`: memories whose own index entry is behind,
    counted up to 1,000. Without `finished_at` it runs, or has never run."""

    running: bool
    done: int
    total: int
    waiting: int
    started_at: Time | None
    finished_at: Time | None

    @classmethod
    def of(cls, told: rebuild.Progress) -> Self:
        return cls(
            running=told.running,
            done=told.done,
            total=told.total,
            waiting=told.waiting,
            started_at=told.started_at,
            finished_at=told.finished_at,
        )


@router.post("", status_code=status.HTTP_202_ACCEPTED, responses=documented(503))
def begin(
    vault: Opened,
    behind: Behind,
    owner: Signed,
    reembed: Annotated[  # noqa: FBT002  a query parameter
        bool, Query(description="Also make every embedding anew.")
    ] = False,
) -> Progress:
    """Send every memory to the search index again, in the background. Recall goes on meanwhile,
    no worse than before."""
    told = rebuild.begin(vault, reembed=reembed, by=owner)
    behind.wake(INDEX)
    return Progress.of(told)


@router.get("", responses=documented(503))
def progress(vault: Opened) -> Progress:
    """How far it is."""
    return Progress.of(rebuild.progress(vault))
