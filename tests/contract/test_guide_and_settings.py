"""The guide, the settings and the audit, on every store."""

import pytest

from keeproom.errors import Conflict, Invalid, NotFound, SecretLike
from keeproom.vault import guide
from keeproom.vault.batch import ImportItem
from keeproom.vault.forget import forget
from keeproom.vault.model import OWNER, Actor, ApprovalMode
from keeproom.vault.remember import remember
from keeproom.vault.settings import Wanted, change_settings
from keeproom.vault.vault import Vault


def test_a_guide_ships_and_every_version_is_kept(auto: Vault) -> None:
    assert guide.guide(auto).number == 0
    guide.write(auto, "# Mine", expected=0, by=OWNER)
    guide.write(auto, "# Mine, longer", expected=1, by=OWNER)
    assert [v.number for v in guide.versions(auto).items] == [2, 1, 0]
    assert guide.version(auto, 1).content == "# Mine"
    assert guide.guide(auto).content == "# Mine, longer"
    with pytest.raises(NotFound):
        guide.version(auto, 9)


def test_a_guide_written_over_an_older_version_is_a_conflict(auto: Vault) -> None:
    mine = guide.write(auto, "# Mine", expected=0, by=OWNER)
    with pytest.raises(Conflict) as told:
        guide.write(auto, "# Other", expected=0, by=OWNER)
    assert told.value.current == mine
    with pytest.raises(SecretLike):
        guide.write(auto, "password: " + "hunter2-correct-horse", expected=1, by=OWNER)


def test_settings_are_changed_one_by_one_and_audited_by_name(review: Vault) -> None:
    now = change_settings(
        review, Wanted(approval_mode=ApprovalMode.AUTO, recall_limit=20), expected=0, by=OWNER
    )
    assert review.memories.settings() == now
    assert (now.approval_mode, now.recall_limit, now.revision) == (ApprovalMode.AUTO, 20, 1)
    entry = review.memories.audit(limit=1).items[0]
    assert (entry.verb, entry.subject) == ("change_settings", "approval_mode,recall_limit")
    with pytest.raises(Conflict):
        change_settings(review, Wanted(recall_limit=5), expected=0, by=OWNER)
    with pytest.raises(Invalid):
        change_settings(review, Wanted(recall_limit=0), expected=None, by=OWNER)


def test_the_audit_names_who_did_what_and_never_what_was_said(auto: Vault) -> None:
    memory = remember(
        auto, ImportItem(content="Anna plays the violin"), by=Actor("mcp:Claude", grant="grt_1")
    ).memory
    forget(auto, memory.id, by=OWNER)
    told = [(e.actor, e.grant, e.verb, e.subject) for e in auto.memories.audit().items]
    assert told[:2] == [
        ("owner", "", "forget", memory.id),
        ("mcp:Claude", "grt_1", "remember", memory.id),
    ]
    assert "violin" not in repr(auto.memories.audit().items)
    assert auto.memories.audit_faults() == []
