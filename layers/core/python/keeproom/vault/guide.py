"""The Operating Guide: what every agent is told about using the vault."""

from keeproom.errors import Conflict, NotFound
from keeproom.vault import receipts
from keeproom.vault.admit import refuse_secrets
from keeproom.vault.change import Change
from keeproom.vault.default_guide import DEFAULT_GUIDE
from keeproom.vault.model import Actor, GuideVersion, Page
from keeproom.vault.settle import commit
from keeproom.vault.text import cleaned
from keeproom.vault.vault import Vault, decided

LONGEST = 40_000
SHIPPED = GuideVersion(number=0, content=DEFAULT_GUIDE)


def guide(vault: Vault) -> GuideVersion:
    """The newest version; the one that ships until the owner has written one."""
    newest = vault.memories.guide_versions(limit=1).items
    return newest[0] if newest else SHIPPED


def versions(vault: Vault, *, cursor: str = "", limit: int = 50) -> Page[GuideVersion]:
    """Newest first, ending with the one that ships."""
    page = vault.memories.guide_versions(cursor=cursor, limit=limit)
    return page if page.next else Page((*page.items, SHIPPED), "")


def version(vault: Vault, number: int) -> GuideVersion:
    """Raises `NotFound`."""
    cursor = ""
    while True:
        page = versions(vault, cursor=cursor)
        for one in page.items:
            if one.number == number:
                return one
        cursor = page.next
        if not cursor:
            raise NotFound(f"The guide has no version {number}.", param="number")


def write(
    vault: Vault, content: str, *, expected: int | None, by: Actor, request_id: str = ""
) -> GuideVersion:
    """Make a new version. `expected`: the number of the one it was written over (None: whatever
    is newest). Raises `Conflict` when another was written meanwhile, `Invalid`, `SecretLike`."""
    text = cleaned(content, param="content", limit=LONGEST)
    refuse_secrets(content=text)
    asked = receipts.request("write_guide", request_id, text, expected)

    def decide() -> GuideVersion:
        look, newest = vault.memories.look(receipt=asked.key), guide(vault)
        first = receipts.replayed(look, asked)
        if first is not None:
            return version(vault, int(first))
        if expected is not None and newest.number != expected:
            raise Conflict(
                f"The guide is at version {newest.number} by now. Compare and try again.",
                current=newest,
            )
        now = GuideVersion(number=newest.number + 1, content=text, at=vault.clock(), actor=by.name)
        change = Change(
            audit=vault.audit("write_guide", f"guide/{now.number}", by=by),
            guide=now,
            receipt=receipts.receipt(vault, asked, result=str(now.number)),
        )
        commit(vault, change, seen=look)
        return now

    return decided(vault, decide)
