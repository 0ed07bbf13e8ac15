"""Prefixed, URL-safe identifiers that sort by the time they were made: `mem_...`, `bat_...`."""

import secrets
from datetime import datetime


def new_id(prefix: str, at: datetime) -> str:
    """Eleven hex digits of milliseconds, then 48 random bits."""
    return f"{prefix}_{int(at.timestamp() * 1000):011x}{secrets.token_hex(6)}"
