"""`/api/guide`: the Operating Guide and its versions."""

from typing import Annotated, Self

from fastapi import APIRouter, Path, Response
from pydantic import Field

from keeproom.api.asked import Cursor, IfMatch, Key, Limit, Opened, etag, seen
from keeproom.api.errors import documented
from keeproom.api.owner import Signed
from keeproom.api.schemas import Answer, Body, GuideVersion, Page, Text, Time, page
from keeproom.vault import guide, model

router = APIRouter(prefix="/api/guide", tags=["guide"])

Number = Annotated[int, Path(ge=0, le=10**9)]


class NewGuide(Body):
    """`expected_number`: the version it was written over, the same as `If-Match`."""

    content: Text = Field(description="Markdown, at most 40,000 characters.")
    expected_number: int | None = Field(None, strict=True, ge=0, le=10**9)


class VersionLine(Answer):
    """One version without its text. 0 is the guide that ships."""

    number: int
    at: Time | None
    actor: str | None

    @classmethod
    def of(cls, version: model.GuideVersion) -> Self:
        return cls(number=version.number, at=version.at, actor=version.actor or None)


class Versions(Page[VersionLine]):
    """One page of versions."""


@router.get("", responses=documented(503))
def read(vault: Opened, response: Response) -> GuideVersion:
    """The guide as agents are given it now."""
    return _tagged(guide.guide(vault), response)


@router.put("", responses=documented(409, 413, 422, 503))
def write(
    vault: Opened,
    owner: Signed,
    new: NewGuide,
    response: Response,
    if_match: IfMatch = None,
    key: Key = "",
) -> GuideVersion:
    """Make a new version; to restore an old one, write its text again."""
    now = guide.write(
        vault,
        new.content,
        expected=seen(if_match, new.expected_number),
        by=owner,
        request_id=key,
    )
    return _tagged(now, response)


@router.get("/versions", responses=documented(503))
def versions(vault: Opened, cursor: Cursor = "", limit: Limit = 50) -> Versions:
    """Every version of the guide, newest first."""
    data, following = page(guide.versions(vault, cursor=cursor, limit=limit), VersionLine.of)
    return Versions(data=data, next=following)


@router.get("/versions/{number}", responses=documented(404, 503))
def version(vault: Opened, number: Number) -> GuideVersion:
    """One version with its text."""
    return GuideVersion.of(guide.version(vault, number))


def _tagged(version: model.GuideVersion, response: Response) -> GuideVersion:
    response.headers["ETag"] = etag(version.number)
    return GuideVersion.of(version)
