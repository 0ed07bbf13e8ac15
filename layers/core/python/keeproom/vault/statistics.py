"""What a vault holds, in numbers, and how well it can be searched."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from keeproom.errors import Unavailable
from keeproom.pages import every
from keeproom.vault.jobs import lag
from keeproom.vault.model import MemoryType, Status
from keeproom.vault.recall import CURRENT
from keeproom.vault.vault import Vault

PAGE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """How many memories there are. `by_status` leaves out what agents have `withdrawn`; `by_type`,
    `by_month` (recorded in, such as `2026-11`) and `by_actor` (recorded by) count the active and
    proposed ones, which recall may find. `waiting`: memories whose index entry is behind, counted
    up to 1,000. `embedding_problem`: why the model does not answer, else empty. `calibrated`: its
    thresholds were measured."""

    by_status: Mapping[Status, int]
    withdrawn: int
    by_type: Mapping[MemoryType, int]
    by_month: Mapping[str, int]
    by_actor: Mapping[str, int]
    waiting: int
    embedding_model: str
    embedding_problem: str
    calibrated: bool


def statistics(vault: Vault) -> Statistics:
    """Reads every memory, and asks the model one question."""
    by_status, by_type = Counter(dict.fromkeys(Status, 0)), Counter(dict.fromkeys(MemoryType, 0))
    by_month, by_actor, withdrawn = Counter[str](), Counter[str](), 0
    for memory in every(lambda at: vault.memories.memories(cursor=at, limit=PAGE)):
        if memory.withdrawn is not None:
            withdrawn += 1
            continue
        by_status[memory.status] += 1
        if memory.status in CURRENT:
            by_type[memory.type] += 1
            by_month[f"{memory.created_at:%Y-%m}"] += 1
            by_actor[memory.actor] += 1
    return Statistics(
        by_status=by_status,
        withdrawn=withdrawn,
        by_type=by_type,
        by_month=by_month,
        by_actor=by_actor,
        waiting=lag(vault),
        embedding_model=vault.embedder.model,
        embedding_problem=_problem(vault),
        calibrated=vault.profile().calibrated,
    )


def _problem(vault: Vault) -> str:
    try:
        vault.embedder.query("Is anybody there?")
    except Unavailable as error:
        return str(error)
    return ""
