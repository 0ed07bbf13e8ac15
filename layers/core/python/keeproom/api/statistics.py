"""`/api/statistics`: what the vault holds, in numbers, and how well it can be searched."""

from fastapi import APIRouter

from keeproom.api.asked import Opened
from keeproom.api.errors import documented
from keeproom.api.schemas import Answer
from keeproom.vault.model import MemoryType, Status
from keeproom.vault.statistics import statistics

router = APIRouter(prefix="/api/statistics", tags=["statistics"])


class Embedding(Answer):
    """`problem`: why the model does not answer, and what to do; recall goes by words alone
    meanwhile. Null when it does. `calibrated`: its thresholds were measured."""

    model: str
    problem: str | None
    calibrated: bool


class Statistics(Answer):
    """`by_status` leaves out what apps have `withdrawn`. `by_type`, `by_month` (recorded in, such
    as `2026-11`) and `by_actor` (recorded by) count the active and proposed memories. `waiting`:
    memories whose index entry is behind, counted up to 1,000."""

    by_status: dict[Status, int]
    withdrawn: int
    by_type: dict[MemoryType, int]
    by_month: dict[str, int]
    by_actor: dict[str, int]
    waiting: int
    embedding: Embedding


@router.get("", responses=documented(503))
def read_statistics(vault: Opened) -> Statistics:
    """What the vault holds, in numbers, and how well it can be searched."""
    told = statistics(vault)
    return Statistics(
        by_status=dict(told.by_status),
        withdrawn=told.withdrawn,
        by_type=dict(told.by_type),
        by_month=dict(sorted(told.by_month.items())),
        by_actor=dict(told.by_actor),
        waiting=told.waiting,
        embedding=Embedding(
            model=told.embedding_model,
            problem=told.embedding_problem or None,
            calibrated=told.calibrated,
        ),
    )
