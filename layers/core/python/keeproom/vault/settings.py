"""What the owner has set."""

from dataclasses import dataclass, fields, replace

from keeproom.errors import Conflict, Invalid
from keeproom.vault import receipts
from keeproom.vault.change import Change
from keeproom.vault.model import Actor, ApprovalMode, Preset, ReviewSimilar, Settings
from keeproom.vault.settle import commit
from keeproom.vault.vault import Vault, decided

LONGEST_KEPT = 36_500  # days


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """New values; None leaves a setting as it is."""

    approval_mode: ApprovalMode | None = None
    review_similar: ReviewSimilar | None = None
    recall_preset: Preset | None = None
    recall_limit: int | None = None
    forget_limit: int | None = None
    keep_superseded_days: int | None = None
    keep_rejected_days: int | None = None
    keep_audit_days: int | None = None


def change_settings(
    vault: Vault, wanted: Wanted, *, expected: int | None, by: Actor, request_id: str = ""
) -> Settings:
    """`expected`: the revision the owner has seen (None: whatever it is). The audit names what
    was changed. Raises `Conflict`, `Invalid`."""
    new = {
        field.name: value
        for field in fields(wanted)
        if (value := getattr(wanted, field.name)) is not None
    }
    _check(wanted)
    asked = receipts.request("change_settings", request_id, wanted, expected)

    def decide() -> Settings:
        look = vault.memories.look(receipt=asked.key)
        was = look.settings
        if receipts.replayed(look, asked) is not None:
            return was
        if expected is not None and was.revision != expected:
            raise Conflict("The settings have changed meanwhile. Look again.", current=was)
        now = replace(was, **new, revision=was.revision + 1)
        told = ",".join(sorted(name for name in new if getattr(was, name) != new[name]))
        if not told:
            return was
        change = Change(
            audit=vault.audit("change_settings", told, by=by),
            settings=now,
            receipt=receipts.receipt(vault, asked, result=str(now.revision)),
        )
        commit(vault, change, seen=look)
        return now

    return decided(vault, decide)


def _check(wanted: Wanted) -> None:
    if wanted.recall_limit is not None and not 1 <= wanted.recall_limit <= 100:
        raise Invalid("Between 1 and 100 hits.", param="recall_limit")
    if wanted.forget_limit is not None and not 0 <= wanted.forget_limit <= 10_000:
        raise Invalid("Between 0 and 10,000 memories an hour.", param="forget_limit")
    for name in ("keep_superseded_days", "keep_rejected_days", "keep_audit_days"):
        days = getattr(wanted, name)
        if days is not None and not 0 <= days <= LONGEST_KEPT:
            raise Invalid(f"Between 1 and {LONGEST_KEPT} days, or 0 for ever.", param=name)
