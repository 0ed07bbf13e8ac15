"""Where things lie: the key of every item, and the noun in it.

V#<vault>                  HEAD                       generation and hidden batches
                           GATE#<00..15>              generation, revision, audit chain's head, cut
                           P#<model>                  profile
V#<vault>#G#<generation>   M#<id>                     memory; also the list of all
                           E#<id>                     its embedding
                           H#<id>                     which texts it had before an edit
                           I#<identity>               held by a memory or excluded, never both
                           L#<status>#<since>#<id>    marker of a memory that is not active
                           L#withdrawn#<at>#<id>      instead, of one an agent has withdrawn
                           X#<at>#<identity>          marker of an exclusion
                           B#<batch>                  batch
                           BM#<batch>#<id>            its memories
                           BO#<batch>#<position>      what became of each text
                           BI#<batch>#<position>      texts brought, from that position on
                           J#<id>                     index job
                           D#<id>                     its documents in the shared index
                           RB#<index>                 how far an index has been made anew
                           A#<at>#<entry>             audit entry with its chain and place
                           R#<hash of the key>        receipt
                           T#<hash of the key>        tally
                           G#<number>                 guide version
                           S                          settings

All under a generation can be replaced at once: by another generation, when head and gates move.
There are no secondary indexes, so every list is as true as the items themselves.
"""

import hashlib
import re
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from keeproom.clock import from_iso, iso
from keeproom.engines.item_store.attributes import pack, unpack
from keeproom.engines.item_store.chain import Link
from keeproom.engines.item_store.table import Item, Key
from keeproom.vault.batch import Batch, Outcome, Skipped, Stored
from keeproom.vault.model import (
    SHORT,
    AuditEntry,
    Embedding,
    Exclusion,
    Gate,
    GuideVersion,
    Head,
    Held,
    Holding,
    Job,
    Memory,
    Profile,
    Receipt,
    Settings,
    Status,
    Tally,
)
from keeproom.vault.published import Published, Rebuild

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

GATES = 16  # 64 writers: one gate refused 210 of 1,280 commits after 10 s, sixteen none
_NAME = re.compile(r"[A-Za-z0-9_.:~+-]{1,200}")


def partition(vault: str, generation: str = "") -> str:
    return f"V#{vault}#G#{generation}" if generation else f"V#{vault}"


def nameable(*parts: str) -> bool:
    """Whether they can be part of a key. Nothing has a name that cannot."""
    return all(_NAME.fullmatch(part) for part in parts)


def name(kind: str, *parts: str) -> str:
    """A sort key. Raises `ValueError` for a part that would read as two."""
    if not nameable(*parts):
        raise ValueError(f"not a name in {kind}#")
    return "#".join((kind, *parts))


def numbered(kind: str, *parts: str, number: int) -> str:
    return name(kind, *parts, f"{number:08}")


def last_part(item: Item) -> str:
    return str(item["sk"]).rpartition("#")[2]


# ---- the vault itself

HEAD = "HEAD"
SETTINGS = "S"
WITHDRAWN = "withdrawn"  # stands where a marker names the status


def gate_name(number: int) -> str:
    return f"GATE#{number:02}"


def head_item(vault: str, of: Head) -> Item:
    return _item(partition(vault), HEAD, of)


def head(item: Item) -> Head:
    return unpack(Head, item)


def gate_item(vault: str, of: Gate) -> Item:
    return _item(partition(vault), gate_name(of.number), of)


def gate(item: Item) -> Gate:
    return unpack(Gate, item)


def profile_key(vault: str, model: str) -> Key:
    return partition(vault), f"P#{model}"


def profile_item(vault: str, of: Profile) -> Item:
    pk, sk = profile_key(vault, of.model)
    return _item(pk, sk, of)


def profile(item: Item) -> Profile:
    return unpack(Profile, item)


# ---- memories


def memory_item(pk: str, of: Memory) -> Item:
    return _item(pk, name("M", of.id), of)


def memory(item: Item) -> Memory:
    return unpack(Memory, item)


def status_marker(of: Memory) -> str:
    """The sort key of its marker; empty for an active memory, which needs none."""
    if of.withdrawn:
        return name("L", WITHDRAWN, iso(of.withdrawn.at), of.id)
    return "" if of.status is Status.ACTIVE else name("L", of.status, iso(of.since), of.id)


def memory_markers(of: Memory) -> list[str]:
    member = name("BM", of.batch_id, of.id) if of.batch_id else ""
    return [marker for marker in (member, status_marker(of)) if marker]


def history_item(pk: str, of: Memory) -> Item | None:
    """Which texts it had before, so that who forgets one of them finds it; None for none."""
    had = sorted({one.identity[:SHORT] for one in of.history if one.identity != of.identity})
    return {"pk": pk, "sk": name("H", of.id), "had": " ".join(had)} if had else None


def history(item: Item) -> tuple[str, frozenset[str]]:
    """Of which memory, and the texts."""
    return last_part(item), frozenset(str(item["had"]).split())


def embedding_item(pk: str, of: Embedding) -> Item:
    return _item(pk, name("E", of.memory_id), of)


def embedding(item: Item) -> Embedding:
    return unpack(Embedding, item)


def holding_item(pk: str, identity: str, now: Holding) -> Item | None:
    sk = name("I", identity)
    match now:
        case None:
            return None
        case Held(by):
            return {"pk": pk, "sk": sk, "held": by}
        case Exclusion(at=at, by=by, of=of):
            return {"pk": pk, "sk": sk, "at": iso(at), "by": by, "of": of}


def holding(item: Item | None) -> Holding:
    if item is None:
        return None
    if "held" in item:
        return Held(str(item["held"]))
    return Exclusion(at=from_iso(str(item["at"])), by=str(item["by"]), of=str(item["of"]))


def exclusion_markers(identity: str, now: Holding) -> list[str]:
    return [name("X", iso(now.at), identity)] if isinstance(now, Exclusion) else []


def job_item(vault: str, of: Job) -> Item:
    return _item(partition(vault, of.generation), name("J", of.memory_id), of)


def job(item: Item) -> Job:
    return unpack(Job, item)


def published_item(vault: str, of: Published) -> Item:
    return _item(partition(vault, of.generation), name("D", of.memory_id), of)


def published(item: Item) -> Published:
    return unpack(Published, item)


def rebuild_name(index: str) -> str:
    return name("RB", index)


def rebuild_item(vault: str, of: Rebuild) -> Item:
    return _item(partition(vault, of.generation), rebuild_name(of.index), of)


def rebuild(item: Item) -> Rebuild:
    return unpack(Rebuild, item)


# ---- an import


def batch_item(pk: str, of: Batch) -> Item:
    return _item(pk, name("B", of.id), of)


def batch(item: Item) -> Batch:
    return unpack(Batch, item)


def outcome_item(pk: str, batch_id: str, position: int, of: Outcome) -> Item:
    return _item(pk, numbered("BO", batch_id, number=position), of)


def outcome(item: Item) -> Outcome:
    return unpack(Skipped if "reason" in item else Stored, item)


# ---- what has happened


def link_item(pk: str, of: Link) -> Item:
    sk = name("A", iso(of.entry.at), of.entry.id)
    chained = {"chain": of.chain, "place": of.place, "previous": of.previous, "hash": of.hash}
    return {**_item(pk, sk, of.entry), **chained}


def entry(item: Item) -> AuditEntry:
    return unpack(AuditEntry, item)


def link(item: Item) -> Link:
    return Link(
        entry=entry(item),
        chain=int(item["chain"]),
        place=int(item["place"]),
        previous=str(item["previous"]),
        hash=str(item["hash"]),
    )


def receipt_name(key: str) -> str:
    return "R#" + _hashed(key)


def _hashed(key: str) -> str:
    """A caller's key may be any text of any length."""
    return hashlib.sha256(key.encode(errors="surrogatepass")).hexdigest()[:40]


def receipt_item(pk: str, of: Receipt) -> Item:
    """`ttl`, in seconds since 1970, is for a table that drops what has expired by itself."""
    kept = {**_item(pk, receipt_name(of.key), of), "ttl": int(of.expires.timestamp()) + 1}
    del kept["key"]
    return kept


def receipt(item: Item, key: str) -> Receipt:
    return unpack(Receipt, item, key=key)


def tally_name(key: str) -> str:
    return "T#" + _hashed(key)


def tally_item(pk: str, of: Tally) -> Item:
    kept = _item(pk, tally_name(of.key), of)
    del kept["key"]
    return kept


def tally(item: Item, key: str) -> Tally:
    return unpack(Tally, item, key=key)


def expired(item: Item, now: datetime) -> bool:
    return str(item["expires"]) < iso(now)


# ---- guide and settings


def guide_item(pk: str, of: GuideVersion) -> Item:
    return _item(pk, numbered("G", number=of.number), of)


def guide(item: Item) -> GuideVersion:
    return unpack(GuideVersion, item)


def settings_item(pk: str, of: Settings) -> Item:
    return _item(pk, SETTINGS, of)


def settings(item: Item | None) -> Settings:
    return unpack(Settings, item) if item else Settings()


def _item(pk: str, sk: str, noun: "DataclassInstance") -> dict[str, str | int | bytes]:
    return {"pk": pk, "sk": sk, **pack(noun)}


def marker_items(pk: str, names: Sequence[str]) -> list[Item]:
    return [{"pk": pk, "sk": sk} for sk in names]
