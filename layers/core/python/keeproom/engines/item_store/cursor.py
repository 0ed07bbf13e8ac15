"""Cursors: a place in one list, as a text that says nothing and fits into a URL.

The checksum ties it to its list, so that a mistaken cursor is told and not obeyed. It is no
secret: whoever makes one up gets no more than a place in a list they may read anyway.
"""

import base64
import binascii
import hashlib

from keeproom.errors import Invalid

_CHECK = 6  # bytes


def seal(listing: str, place: str) -> str:
    told = place.encode()
    return base64.urlsafe_b64encode(_check(listing, told) + told).rstrip(b"=").decode()


def unseal(listing: str, cursor: str) -> str:
    """The place. Raises `Invalid` unless `seal` made the cursor for this list."""
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        place = raw[_CHECK:].decode()
    except (binascii.Error, ValueError):
        raise _foreign() from None
    if seal(listing, place) != cursor:
        raise _foreign()
    return place


def _foreign() -> Invalid:
    return Invalid("The cursor does not belong to this list.", param="cursor")


def _check(listing: str, place: bytes) -> bytes:
    return hashlib.sha256(listing.encode() + b"\0" + place).digest()[:_CHECK]
