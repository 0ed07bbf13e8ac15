"""Writing one memory."""

from dataclasses import dataclass, replace

from keeproom.errors import Contended, Excluded, NotFound, Unavailable, WrongState
from keeproom.vault import receipts
from keeproom.vault.admit import admitted
from keeproom.vault.batch import ImportItem, Outcome, Skipped, SkipReason, Stored
from keeproom.vault.change import Change, Claim, Look, Put
from keeproom.vault.edit import longer_history
from keeproom.vault.jobs import catch_up
from keeproom.vault.kin import Kin, embedding, encoded, kin, linked, near, nearest
from keeproom.vault.model import (
    Actor,
    ApprovalMode,
    Exclusion,
    Held,
    Memory,
    Status,
    identity_of,
)
from keeproom.vault.ports import Encoded
from keeproom.vault.receipts import Request
from keeproom.vault.settle import commit
from keeproom.vault.vault import Vault, decided


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """`memory`: the one stored, or the one that already says it."""

    memory: Memory
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wish:
    """`made`: None when no embedding can be had. `close`: ids of what the text is close to."""

    item: ImportItem
    supersedes: str
    propose: bool
    by: Actor
    asked: Request
    made: Encoded | None
    close: tuple[str, ...]


def remember(
    vault: Vault,
    item: ImportItem,
    *,
    by: Actor,
    supersedes: str = "",
    propose: bool = False,
    request_id: str = "",
) -> Remembered:
    """Store one fact: active in auto mode and when the owner says it, else a proposal, as with
    `propose`.
    `supersedes`: the active memory it replaces, at once when it becomes active, else on approval.
    A text has one memory: a known one is answered with `Skipped`, a superseded one is asked to be
    active again. Raises `Invalid`, `SecretLike`, `Excluded`, `NotFound` and `WrongState` (for
    `supersedes`), `Refused` for one whose history is full, `RequestIdReused`, `Unavailable`;
    nothing is stored then."""
    item = admitted(item)
    asked = receipts.request("remember", request_id, item, supersedes, propose)
    made = encoded(vault, [item.content])
    close: tuple[str, ...] = ()
    if made:
        catch_up(vault)
        close = tuple(one for one in nearest(vault, made[0]) if one != supersedes)
    wish = _Wish(
        item=item, supersedes=supersedes, propose=propose, by=by, asked=asked,
        made=made[0] if made else None, close=close,
    )  # fmt: skip
    return decided(vault, lambda: _decide(vault, wish))


def _links(vault: Vault, wish: _Wish, look: Look) -> Kin:
    if wish.made is None:
        return Kin()
    mine = embedding(vault, "", wish.item.content, wish.made)
    return kin(vault, wish.item.content, mine, near=near(vault, look, wish.close))


def _decide(vault: Vault, wish: _Wish) -> Remembered:
    look, holder = _look(vault, wish)
    first = receipts.replayed(look, wish.asked)
    if first is not None:
        return _again(vault, first)
    if holder is not None and _says_it_already(look, holder, wish):
        skipped = Skipped(reason=SkipReason.DUPLICATE, by=holder.id)
        return Remembered(memory=holder, outcome=skipped)
    status = _status(look, wish)
    put = (
        _revived(vault, look, holder, wish, status)
        if holder
        else _new(vault, wish, status, _links(vault, wish, look))
    )
    memory = put.memory
    old = _superseded(vault, look, wish, by=memory.id)
    change = Change(
        audit=vault.audit(
            "remember", memory.id, by=wish.by, touched=(memory.id, *(one.memory.id for one in old))
        ),
        put=(put, *(old if status is Status.ACTIVE else ())),
        claims=(
            Claim(
                identity=memory.identity,
                seen=look.holdings[memory.identity],
                now=Held(memory.id),
            ),
        ),
        embeddings=((embedding(vault, memory.id, memory.content, wish.made),) if wish.made else ()),
        receipt=receipts.receipt(vault, wish.asked, result=memory.id),
    )
    commit(vault, change, seen=look)
    return Remembered(memory=memory, outcome=Stored.of(memory))


def _look(vault: Vault, wish: _Wish) -> tuple[Look, Memory | None]:
    """With the memory that holds the text, if one does. Raises `Excluded`."""
    mine, ids = (
        identity_of(wish.item.content),
        [one for one in (wish.supersedes, *wish.close) if one],
    )
    look = vault.memories.look(
        memories=ids, identities=[mine], receipt=wish.asked.key, embeddings=ids
    )
    match look.holdings[mine]:
        case Exclusion() if look.receipt is None:
            raise Excluded(
                "The owner has forgotten or rejected this text, so it is kept out. Only the owner "
                "can let it in again, by lifting the exclusion."
            )
        case Held(holder):
            ids = [*ids, holder]
            look = vault.memories.look(
                memories=ids, identities=[mine], receipt=wish.asked.key, embeddings=ids
            )
            if look.holdings[mine] != Held(holder):
                raise Contended
            if holder not in look.memories:
                raise Unavailable("An import that holds this text is being undone. Try again.")
            if look.memories[holder].withdrawn and not wish.by.is_owner:
                raise Excluded(
                    "An app has asked to forget this text, and the owner has not decided yet, so "
                    "it is kept out."
                )
            return look, look.memories[holder]
        case _:
            return look, None


def _again(vault: Vault, memory_id: str) -> Remembered:
    memory = vault.memories.read([memory_id]).get(memory_id)
    if memory is None or memory.withdrawn:
        raise NotFound("This request stored a memory that has been forgotten since.")
    return Remembered(memory=memory, outcome=Stored.of(memory))


def _status(look: Look, wish: _Wish) -> Status:
    """What the owner says needs nobody's approval."""
    trusted = wish.by.is_owner or look.settings.approval_mode is ApprovalMode.AUTO
    return Status.ACTIVE if trusted and not wish.propose else Status.PROPOSED


def _says_it_already(look: Look, holder: Memory, wish: _Wish) -> bool:
    """A superseded or withdrawn holder is revived. One that is itself to be superseded is
    rewritten where the wish takes effect at once: its spelling changes."""
    if holder.status is Status.SUPERSEDED or holder.withdrawn:
        return False
    rewritten = holder.id == wish.supersedes and holder.content != wish.item.content
    return not (rewritten and _status(look, wish) is Status.ACTIVE)


def _new(vault: Vault, wish: _Wish, status: Status, links: Kin) -> Put:
    memory = linked(
        vault,
        wish.item,
        links,
        memory_id=vault.new_id("mem"),
        status=status,
        actor=wish.by.name,
    )
    return Put(memory=replace(memory, supersedes=wish.supersedes))


def _revived(vault: Vault, look: Look, was: Memory, wish: _Wish, status: Status) -> Put:
    """The memory that had the text, active or proposed again, and linked to what replaced it. It
    is no longer what an import stored, and stays when that is undone."""
    at, spelled = vault.clock(), wish.item.content
    rival = (was.superseded_by,) if was.superseded_by not in ("", wish.supersedes) else ()
    now = replace(
        was,
        content=spelled,
        status=status,
        since=at if status is not was.status else was.since,
        updated_at=at,
        revision=was.revision + 1,
        superseded_by="",
        supersedes=wish.supersedes if wish.supersedes != was.id else was.supersedes,
        similar_to=tuple(dict.fromkeys((*rival, *was.similar_to))),
        conflicts_with=tuple(dict.fromkeys((*rival, *was.conflicts_with))),
        batch_id="",
        history=longer_history(was, spelled, by=wish.by, at=at),
        review=None,
        withdrawn=None,
    )
    return Put(memory=now, was=was)


def _superseded(vault: Vault, look: Look, wish: _Wish, *, by: str) -> tuple[Put, ...]:
    if wish.supersedes in ("", by):
        return ()
    was = look.memories.get(wish.supersedes)
    if was is None or was.withdrawn:
        raise NotFound(
            f"There is no memory {wish.supersedes} to supersede. Recall first, and use an id from "
            "the answer.",
            param="supersedes",
        )
    return (superseded(vault, was, by=by),)


def superseded(vault: Vault, was: Memory, *, by: str) -> Put:
    """Make the memory history. Raises `WrongState` unless it is active."""
    if was.status is not Status.ACTIVE:
        raise WrongState(
            f"Memory {was.id} is {was.status}, and only an active memory can be superseded.",
            param="supersedes",
        )
    at = vault.clock()
    now = replace(
        was,
        status=Status.SUPERSEDED,
        since=at,
        updated_at=at,
        superseded_by=by,
        revision=was.revision + 1,
    )
    return Put(memory=now, was=was)
