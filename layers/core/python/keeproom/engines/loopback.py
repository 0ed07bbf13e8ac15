"""Addresses that only this machine can reach."""

from urllib.parse import urlsplit

NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


def is_loopback(url: str) -> bool:
    """False for a text that is no address."""
    try:
        return urlsplit(url).hostname in NAMES
    except ValueError:
        return False
