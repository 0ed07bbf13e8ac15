"""`/api/settings`: what the owner may change."""

from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field

from keeproom.api.asked import IfMatch, Key, Opened, etag, expected
from keeproom.api.errors import documented
from keeproom.api.owner import Signed
from keeproom.api.schemas import Body, Settings
from keeproom.vault import model
from keeproom.vault.model import ApprovalMode, Preset, ReviewSimilar
from keeproom.vault.settings import LONGEST_KEPT, Wanted, change_settings

router = APIRouter(prefix="/api/settings", tags=["settings"])


Days = Annotated[int | None, Field(strict=True, ge=0, le=LONGEST_KEPT)]


class NewSettings(Body):
    """New values; one that is left out or null stays as it is."""

    approval_mode: ApprovalMode | None = None
    review_similar: ReviewSimilar | None = None
    recall_preset: Preset | None = None
    recall_limit: int | None = Field(None, strict=True, ge=1, le=100)
    forget_limit: int | None = Field(
        None, strict=True, ge=0, le=10_000, description="Memories one app may forget in an hour."
    )
    keep_superseded_days: Days = Field(
        None, description="How many days superseded memories are kept; 0 for ever."
    )
    keep_rejected_days: Days = Field(
        None,
        description="How many days rejected memories are kept; they stay excluded; 0 for ever.",
    )
    keep_audit_days: Days = Field(
        None, description="How many days audit entries are kept; 0 for ever."
    )
    expected_revision: int | None = Field(
        None, strict=True, ge=0, le=10**9, description="The same as `If-Match`."
    )


@router.get("", responses=documented(503))
def read(vault: Opened, response: Response) -> Settings:
    """What the owner has set."""
    return _tagged(vault.memories.settings(), response)


@router.put("", responses=documented(409, 413, 422, 503))
def change(
    vault: Opened,
    owner: Signed,
    new: NewSettings,
    response: Response,
    if_match: IfMatch = None,
    key: Key = "",
) -> Settings:
    """Change the settings that are named."""
    wanted = Wanted(
        approval_mode=new.approval_mode,
        review_similar=new.review_similar,
        recall_preset=new.recall_preset,
        recall_limit=new.recall_limit,
        forget_limit=new.forget_limit,
        keep_superseded_days=new.keep_superseded_days,
        keep_rejected_days=new.keep_rejected_days,
        keep_audit_days=new.keep_audit_days,
    )
    now = change_settings(
        vault,
        wanted,
        expected=expected(if_match, new.expected_revision),
        by=owner,
        request_id=key,
    )
    return _tagged(now, response)


def _tagged(settings: model.Settings, response: Response) -> Settings:
    response.headers["ETag"] = etag(settings.revision)
    return Settings.of(settings)
