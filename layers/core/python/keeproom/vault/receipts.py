"""Idempotency keys: the same request again gets the first answer again."""

import hashlib
from datetime import timedelta

from keeproom.errors import RequestIdReused
from keeproom.vault.change import Look
from keeproom.vault.model import Receipt
from keeproom.vault.vault import Vault

KEPT = timedelta(days=1)


def digest(*parts: object) -> str:
    """One hash over the parts, whatever they hold. Empty parts count."""
    told = hashlib.sha256()
    for part in parts:
        raw = repr(part).encode()
        told.update(len(raw).to_bytes(8, "big") + raw)
    return told.hexdigest()[:40]


def key_of(verb: str, request_id: str) -> str:
    """The receipt's key; empty without a request id."""
    return digest(verb, request_id) if request_id else ""


def replayed(look: Look, fingerprint: str) -> str | None:
    """The first result of this request, if there was one. Raises `RequestIdReused`."""
    if look.receipt is None:
        return None
    if look.receipt.fingerprint != fingerprint:
        raise RequestIdReused(
            "This request id was used for a request with other arguments. Send a new one."
        )
    return look.receipt.result


def receipt(vault: Vault, key: str, *, fingerprint: str, result: str) -> Receipt | None:
    if not key:
        return None
    return Receipt(key=key, fingerprint=fingerprint, result=result, expires=vault.clock() + KEPT)
