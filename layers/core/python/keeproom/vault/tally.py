"""What an agent may do only so often in an hour."""

from datetime import timedelta

from keeproom.vault.change import Look
from keeproom.vault.model import Actor, Tally
from keeproom.vault.vault import Vault

HOUR = timedelta(hours=1)


def key_of(verb: str, by: Actor) -> str:
    """Of its grant; one without a grant is known by its name."""
    return f"{verb}/{by.grant or by.name}"


def once_more(vault: Vault, look: Look, key: str, *, limit: int) -> Tally | None:
    """The tally that is to be committed with the deed; None when the hour's limit is reached. As
    it is committed on what was seen, deeds at the same time cannot pass the limit together."""
    was, now = look.tally, vault.clock()
    recent = tuple(at for at in was.times if at > now - HOUR) if was else ()
    if len(recent) >= limit:
        return None
    return Tally(key=key, times=(*recent, now), revision=was.revision + 1 if was else 1)
