"""`/api/cleanup`: removing now what is kept no longer, instead of when its hour comes."""

from fastapi import APIRouter

from keeproom.api.asked import LettingIn, Opened
from keeproom.api.errors import documented
from keeproom.api.owner import Signed
from keeproom.api.schemas import Answer
from keeproom.oauth import cleanup as letting_in
from keeproom.vault.retention import audit_kept_from, clean_up

router = APIRouter(prefix="/api/cleanup", tags=["settings"])

SECONDS = 10.0  # AWS ends a call after 30


class CleanedUp(Answer):
    """How many of each went. `earlier_texts`: of edited memories. `apps`: expired requests, codes,
    tokens and registrations, and the beginning of their audit. `more`: the time was over, so ask
    again."""

    superseded: int
    rejected: int
    earlier_texts: int
    audit: int
    apps: int
    more: bool


@router.post("", responses=documented(503))
def clean_up_now(vault: Opened, auth: LettingIn, owner: Signed) -> CleanedUp:
    """Remove what the settings keep no longer. What is active or waits for you stays."""
    done = clean_up(vault, by=owner, seconds=SECONDS)
    before = audit_kept_from(vault)
    apps = letting_in.clean_up(auth, audit_before=before) if auth and not done.more else 0
    return CleanedUp(
        superseded=done.superseded,
        rejected=done.rejected,
        earlier_texts=done.earlier_texts,
        audit=done.audit,
        apps=apps,
        more=done.more,
    )
