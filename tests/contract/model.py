"""What a vault is to those who use it, without stores, indexes and times."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from keeproom.errors import Conflict, Duplicate, Excluded, NotFound, VaultError, WrongState
from keeproom.vault.model import Decision, Earlier, Memory, Review, Status, identity_of

type Memories = Mapping[str, Memory]


class Told(Exception):
    """The verb is refused with this error."""

    def __init__(self, error: type[VaultError]) -> None:
        super().__init__(error.code)
        self.error = error


@dataclass(frozen=True, kw_only=True)
class Model:
    """`excluded`: by identity, the rejected memory kept with it, or nothing. Each verb answers the
    vault as it is then, or raises `Told`. What it makes new has the id `new` and its identity."""

    auto: bool
    memories: Memories = field(default_factory=dict[str, Memory])
    excluded: Mapping[str, str] = field(default_factory=dict[str, str])

    def same(self, other: "Model", *, known: Memories) -> bool:
        """Whether one cannot be told from the other. `known`: the memories that are not new."""
        return self.picture(known) == other.picture(known)

    def picture(self, known: Memories) -> object:
        """All but the times."""

        def name(one: str) -> str:
            if one not in known and one in self.memories:
                return f"new {self.memories[one].identity}"
            return one

        told = [
            (
                name(one.id), one.content, one.status, one.revision, one.owned,
                bool(one.batch_id), one.supersedes and name(one.supersedes),
                one.superseded_by and name(one.superseded_by), one.conflicts_with,
                [earlier.content for earlier in one.history],
                one.review and (one.review.decision, one.review.was, one.review.replaced),
            )
            for one in self.memories.values()
        ]  # fmt: skip
        excluded = [(one, name(of)) for one, of in self.excluded.items()]
        return sorted(told, key=repr), sorted(excluded)

    def holder(self, text: str) -> Memory | None:
        for one in self.memories.values():
            if one.holds_identity and one.identity == identity_of(text):
                return one
        return None

    def found(self, memory_id: str) -> Memory:
        if memory_id not in self.memories:
            raise Told(NotFound)
        return self.memories[memory_id]

    def _with(self, *changed: Memory, excluded: Mapping[str, str] | None = None) -> "Model":
        memories = {**self.memories, **{one.id: one for one in changed}}
        out = self.excluded if excluded is None else excluded
        return replace(self, memories=memories, excluded=out)

    def _without(self, *gone: str, excluded: Mapping[str, str] | None = None) -> "Model":
        memories = {one: found for one, found in self.memories.items() if one not in gone}
        out = self.excluded if excluded is None else excluded
        return replace(self, memories=memories, excluded=out)

    # ---- verbs

    def remember(self, new: Memory, *, supersedes: str, propose: bool) -> "Model":
        """`new`: the memory, if there is to be a new one."""
        if new.identity in self.excluded:
            raise Told(Excluded)
        status = Status.ACTIVE if self.auto and not propose else Status.PROPOSED
        held = self.holder(new.content)
        if held and held.status is not Status.SUPERSEDED:
            respelled = held.id == supersedes and held.content != new.content
            if not (respelled and status is Status.ACTIVE):
                return self
        now = replace(new, status=status, supersedes=supersedes)
        if held:
            now = _said_again(held, new.content, status=status, supersedes=supersedes)
        if supersedes in ("", now.id):
            return self._with(now)
        old = self.found(supersedes)
        if old.status is not Status.ACTIVE:
            raise Told(WrongState)
        return self._with(now, *([_past(old, now.id)] if status is Status.ACTIVE else []))

    def edit(self, memory_id: str, text: str, *, revision: int) -> "Model":
        was = self.found(memory_id)
        if was.revision != revision:
            raise Told(Conflict)
        if was.status is Status.REJECTED:
            raise Told(WrongState)
        self._check_free(was, text)
        return self._with(_moved(was, content=text, owned=True, history=_longer(was, text)))

    def _check_free(self, was: Memory, text: str) -> None:
        if identity_of(text) == was.identity:
            return
        if identity_of(text) in self.excluded:
            raise Told(Excluded)
        if self.holder(text):
            raise Told(Duplicate)

    def approve(self, memory_id: str) -> "Model":
        was = self.found(memory_id)
        if was.status is not Status.PROPOSED:
            raise Told(WrongState)
        old = self.memories.get(was.supersedes)
        past = [_past(old, was.id)] if old and old.status is Status.ACTIVE else []
        replaced = tuple(one.id for one in past)
        now = _decided(was, Decision.APPROVED, Status.ACTIVE, replaced=replaced)
        left = tuple(one for one in was.conflicts_with if one not in replaced)
        return self._with(replace(now, conflicts_with=left), *past)

    def reject(self, memory_id: str) -> "Model":
        was = self.found(memory_id)
        if was.status is not Status.PROPOSED:
            raise Told(WrongState)
        now = replace(_decided(was, Decision.REJECTED, Status.REJECTED))
        return self._with(now, excluded={**self.excluded, was.identity: was.id})

    def keep_both(self, memory_id: str) -> "Model":
        was = self.found(memory_id)
        waits = was.status is Status.PROPOSED
        if not waits and not (was.status is Status.ACTIVE and was.conflicts_with):
            raise Told(WrongState)
        now = _decided(was, Decision.KEPT_BOTH, Status.ACTIVE)
        supersedes = "" if waits else was.supersedes
        return self._with(replace(now, conflicts_with=(), supersedes=supersedes))

    def undo(self, memory_id: str) -> "Model":
        was, review = self.found(memory_id), self.memories[memory_id].review
        if was.history and (not review or was.history[-1].replaced_at > review.at):
            text = was.history[-1].content
            self._check_free(was, text)
            return self._with(_moved(was, content=text, history=was.history[:-1]))
        if review is None or was.status is Status.SUPERSEDED:
            raise Told(WrongState)
        conflicts = review.conflicts_with or was.conflicts_with
        now = _moved(was, status=review.was, conflicts_with=conflicts, review=None)
        past = [self.memories[one] for one in review.replaced if one in self.memories]
        back = [
            _moved(one, status=Status.ACTIVE, superseded_by="")
            for one in past
            if one.status is Status.SUPERSEDED and one.superseded_by == was.id
        ]
        out = {one: of for one, of in self.excluded.items() if of != was.id}
        return self._with(now, *back, excluded=out)

    def forget(self, memory_id: str) -> "Model":
        was = self.found(memory_id)
        return self._without(memory_id, excluded={**self.excluded, was.identity: ""})

    def lift(self, identity: str) -> "Model":
        if identity not in self.excluded:
            raise Told(NotFound)
        out = {one: of for one, of in self.excluded.items() if one != identity}
        return self._without(self.excluded[identity], excluded=out)

    def bring(self, texts: Sequence[str], new: Callable[[str], Memory]) -> "Model":
        """All of the texts, or as many of them as have been judged."""
        model = self
        for text in texts:
            if identity_of(text) not in model.excluded and not model.holder(text):
                model = model._with(new(text))
        return model

    def undo_import(self, batch_id: str) -> "Model":
        everyone = self.memories.values()
        return self._without(
            *(one.id for one in everyone if one.batch_id == batch_id and not one.owned)
        )


def _moved(was: Memory, **how: object) -> Memory:
    return replace(was, revision=was.revision + 1, **how)


def _past(was: Memory, by: str) -> Memory:
    return _moved(was, status=Status.SUPERSEDED, superseded_by=by)


def _longer(was: Memory, text: str) -> tuple[Earlier, ...]:
    if text == was.content:
        return was.history
    earlier = Earlier(content=was.content, replaced_by="owner", replaced_at=was.updated_at)
    return (*was.history, earlier)


def _said_again(was: Memory, text: str, *, status: Status, supersedes: str) -> Memory:
    """Linked to what replaced it, unless that is what it replaces now."""
    rival = (was.superseded_by,) if was.superseded_by not in ("", supersedes) else ()
    return _moved(
        was,
        content=text,
        status=status,
        superseded_by="",
        supersedes=was.supersedes if supersedes == was.id else supersedes,
        conflicts_with=tuple(dict.fromkeys((*rival, *was.conflicts_with))),
        batch_id="",
        history=_longer(was, text),
        review=None,
    )


def _decided(
    was: Memory, decision: Decision, status: Status, *, replaced: tuple[str, ...] = ()
) -> Memory:
    review = Review(
        decision=decision,
        at=was.updated_at,
        was=was.status,
        replaced=replaced,
        conflicts_with=was.conflicts_with,
    )
    return _moved(was, status=status, owned=True, review=review)
