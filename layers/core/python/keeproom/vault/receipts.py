"""Idempotency keys: the same request again gets the first answer again."""

import hashlib
from dataclasses import dataclass
from datetime import timedelta

from keeproom.errors import RequestIdReused
from keeproom.vault.change import Look
from keeproom.vault.model import Receipt
from keeproom.vault.vault import Vault

KEPT = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked, as far as a retry can be told from another request. `key` is empty when
    the caller gave no idempotency key."""

    key: str
    fingerprint: str


def request(verb: str, request_id: str, *arguments: object) -> Request:
    return Request(
        key=_digest(verb, request_id) if request_id else "", fingerprint=_digest(*arguments)
    )


def _digest(*parts: object) -> str:
    told = hashlib.sha256()
    for part in parts:
        raw = repr(part).encode(errors="backslashreplace")
        told.update(len(raw).to_bytes(8, "big") + raw)
    return told.hexdigest()[:40]


def replayed(look: Look, asked: Request) -> str | None:
    """The first result of this request, if there was one. Raises `RequestIdReused`."""
    if look.receipt is None:
        return None
    if look.receipt.fingerprint != asked.fingerprint:
        raise RequestIdReused(
            "This request id was used for a request with other arguments. Send a new one."
        )
    return look.receipt.result


def receipt(vault: Vault, asked: Request, *, result: str) -> Receipt | None:
    """What the commit is to remember; None without a key."""
    if not asked.key:
        return None
    return Receipt(
        key=asked.key,
        fingerprint=asked.fingerprint,
        result=result,
        expires=vault.clock() + KEPT,
    )
