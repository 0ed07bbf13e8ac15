"""The grant store on any table.

O   C#<client>  N#<pending>  G#<grant>  U#<grant>  K#<code>  T#<token>  Q#<count>
    S#<session>  F#<finished>  V#<service token>       the nouns
    H#                     head of the audit chain
    A#<at>#<entry>         audit entry with its place in the chain

Secrets lie there as hashes. `ttl`, in seconds since 1970, is for a table that removes what has
expired by itself, some day; nothing relies on it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import takewhile

from keeproom.clock import iso, tries
from keeproom.engines.item_store import chain, layout
from keeproom.engines.item_store.attributes import pack, unpack
from keeproom.engines.item_store.cursor import seal, unseal
from keeproom.engines.item_store.listing import check_limit
from keeproom.engines.item_store.table import (
    Absent,
    Busy,
    Check,
    Condition,
    Erase,
    Failed,
    Item,
    Key,
    Same,
    Step,
    Table,
    Write,
    check_weight,
)
from keeproom.errors import Contended, Unavailable
from keeproom.oauth import model
from keeproom.oauth.model import (
    AuditEntry,
    Change,
    Client,
    Code,
    Count,
    Credential,
    Finished,
    Grant,
    Noun,
    Page,
    Pending,
    ServiceToken,
    Session,
    Token,
    Use,
)
from keeproom.vault.model import AuditEntry as ChainedEntry
from keeproom.vault.model import Gate

_PK = "O"
_HEAD = (_PK, "H#")
_LETTERS: dict[type[Noun], str] = {
    Client: "C",
    Pending: "N",
    Grant: "G",
    Use: "U",
    Code: "K",
    Token: "T",
    Count: "Q",
    Session: "S",
    Finished: "F",
    ServiceToken: "V",
}
_NAME = re.compile(r"[!\"$-~]{1,500}")  # printable ASCII without `#`: the address of a document too
_NOTED = 4_096  # tokens whose grant is remembered
_BUSY = "Too many decisions at once. Nothing was stored: try again."


class ItemGrantStore:
    """`GrantStore`. Safe for threads when the table is. `patience`: seconds until a caller who
    finds the audit chain moving all the time is told so."""

    def __init__(self, table: Table, *, patience: float = 10.0) -> None:
        self._table, self._patience = table, patience
        self._grant_of: dict[str, str] = {}

    def close(self) -> None:
        self._table.close()

    def find[N: Noun](self, kind: type[N], id: str) -> N | None:
        if not _NAME.fullmatch(id):
            return None
        key = _key(kind, id)
        item = self._table.get([key]).get(key)
        return None if item is None else unpack(kind, item)

    def credential(self, hash: str) -> Credential | None:
        """All three in one reading, once it is known which grant a token is of: that never changes,
        and nothing else is believed."""
        if not _NAME.fullmatch(hash):
            return None
        grant_id = self._grant_of.get(hash, "")
        found = self._with_grant(hash, grant_id)
        token = found.get(_key(Token, hash))
        if token is None:
            return None
        if token["grant_id"] != grant_id:
            grant_id = str(token["grant_id"])
            found = {**found, **self._with_grant(hash, grant_id)}
            self._note(hash, grant_id)
        grant, use = found.get(_key(Grant, grant_id)), found.get(_key(Use, grant_id))
        if grant is None:
            return None
        return Credential(
            token=unpack(Token, found[_key(Token, hash)]),
            grant=unpack(Grant, grant),
            use=unpack(Use, use) if use else Use(id=grant_id),
        )

    def _with_grant(self, hash: str, grant_id: str) -> dict[Key, Item]:
        beside = [_key(Grant, grant_id), _key(Use, grant_id)] if grant_id else []
        return self._table.get([_key(Token, hash), *beside])

    def _note(self, hash: str, grant_id: str) -> None:
        if len(self._grant_of) >= _NOTED:
            self._grant_of = {}
        self._grant_of[hash] = grant_id

    def uses(self, grant_ids: Sequence[str]) -> Mapping[str, Use]:
        keys = [_key(Use, one) for one in grant_ids]
        found = (unpack(Use, item) for item in self._table.get(keys).values())
        return {use.id: use for use in found}

    def page[N: Noun](self, kind: type[N], *, cursor: str = "", limit: int = 50) -> Page[N]:
        items, following = self._listed(f"{_LETTERS[kind]}#", cursor, limit)
        return Page(tuple(unpack(kind, item) for item in items), following)

    def audit(self, *, cursor: str = "", limit: int = 50) -> Page[AuditEntry]:
        items, following = self._listed("A#", cursor, limit, newest=True)
        return Page(tuple(unpack(AuditEntry, item) for item in items), following)

    def audit_faults(self) -> Sequence[str]:
        """Head first: what is younger than it does not count. Read while writers go on, so a fault
        must show twice to be one."""
        told = ""
        for _ in range(4):
            head = self._head()
            marks = [chain.mark(layout.link(item)) for item in self._walk("A#")]
            found = chain.fault(head, marks)
            if not found or found == told:
                return [found] if found else []
            told = found
        return [told]

    def cut_audit(self, before: datetime) -> int:
        links = takewhile(lambda one: one.entry.at < before, map(layout.link, self._walk("A#")))
        old = {link.place: link for link in links}
        cut = self._cut({place: link.hash for place, link in old.items()})
        gone = [link.entry for place, link in old.items() if place <= cut]
        self._table.drop([(_PK, layout.name("A", iso(one.at), one.id)) for one in gone])
        return len(gone)

    def _cut(self, hashes: Mapping[int, str]) -> int:
        """Up to which place the chain is cut then."""
        for _ in tries(self._patience):
            head = self._head()
            now = chain.cut(head, hashes)
            if now == head:
                return head.cut_count
            now = replace(now, revision=now.revision + 1)
            with suppress(Failed, Busy):
                self._table.transact([Write(_head_item(now), _at(head.revision))])
                return now.cut_count
        raise Unavailable(_BUSY)

    def commit(self, change: Change) -> None:
        steps = _steps(change)
        if change.entry is None:
            self._transact(steps)
            return
        for _ in tries(self._patience):
            head = self._head()
            moved, link = chain.link(head, _chained(change.entry))
            linked = [
                Write(_head_item(moved), _at(head.revision)),
                Write(layout.link_item(_PK, link), Absent()),
            ]
            try:
                self._table.transact([*linked, *steps])
                return
            except Failed as failed:
                if failed.places - {0, 1}:
                    raise Contended from failed
            except Busy:
                continue
        raise Unavailable(_BUSY)

    def _transact(self, steps: Sequence[Step]) -> None:
        try:
            self._table.transact(steps)
        except (Failed, Busy) as moved:
            raise Contended from moved

    def _head(self) -> Gate:
        item = self._table.get([_HEAD]).get(_HEAD)
        return Gate(number=0, generation="oauth") if item is None else unpack(Gate, item)

    def _listed(
        self, prefix: str, cursor: str, limit: int, *, newest: bool = False
    ) -> tuple[Sequence[Item], str]:
        check_limit(limit)
        after = prefix + unseal(f"{_PK}\0{prefix}", cursor) if cursor else ""
        page = self._table.page(_PK, prefix, after=after, limit=limit + 1, newest=newest)
        items = page.items[:limit]
        if len(page.items) <= limit:
            return items, ""
        return items, seal(f"{_PK}\0{prefix}", str(items[-1]["sk"]).removeprefix(prefix))

    def _walk(self, prefix: str) -> Iterator[Item]:
        after, more = "", True
        while more:
            page = self._table.page(_PK, prefix, after=after, limit=500)
            yield from page.items
            more = page.more and bool(page.items)
            after = str(page.items[-1]["sk"]) if page.items else after


def _steps(change: Change) -> list[Step]:
    steps: list[Step] = [_written(noun) for noun in change.put]
    steps += [Erase(_key(type(noun), noun.id), _at(noun.revision)) for noun in change.drop]
    steps += [Check(_key(type(noun), noun.id), _at(noun.revision)) for noun in change.same]
    return steps


def _written(noun: Noun) -> Write:
    pk, sk = _key(type(noun), noun.id)
    item: Item = {**pack(replace(noun, revision=noun.revision + 1)), "pk": pk, "sk": sk}
    if noun.expires is not None:
        item = {**item, "ttl": int(noun.expires.timestamp())}
    check_weight(item)
    return Write(item, _at(noun.revision))


def _at(revision: int) -> Condition:
    return Same({"revision": revision}) if revision else Absent()


def _key(kind: type[Noun], id: str) -> Key:
    return _PK, f"{_LETTERS[kind]}#{id}"


def _head_item(head: Gate) -> Item:
    pk, sk = _HEAD
    return {**pack(head), "pk": pk, "sk": sk}


def _chained(entry: model.AuditEntry) -> ChainedEntry:
    return ChainedEntry(
        id=entry.id,
        at=entry.at,
        actor=entry.actor,
        verb=entry.verb,
        subject=entry.subject,
        grant=entry.grant,
    )
