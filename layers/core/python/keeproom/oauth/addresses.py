"""E-mail addresses: when two are one, and how much of one is written down."""

from collections.abc import Iterable


def folded(address: str) -> str:
    """As addresses are compared. Letters outside ASCII are left alone: some would fold into it, and
    so one person's address into another's."""
    address = address.strip()
    return address.casefold() if address.isascii() else address


def folded_all(addresses: Iterable[str]) -> frozenset[str]:
    return frozenset(map(folded, addresses))


def masked(address: str) -> str:
    """Enough to tell owners apart: `o…@example.com`."""
    name, _, domain = address.rpartition("@")
    return f"{name[:1]}…@{domain}"
