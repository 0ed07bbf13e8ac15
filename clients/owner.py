"""The owner's side: who is let in, and taking it back."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import httpx

NOT_FOUND = 404
REFUSED = ("revoked", "refresh_refused")


class Owner:
    """Uses the API of a vault, as the person at this machine."""

    def __init__(self, api: httpx.Client) -> None:
        self._api = api

    def grants(self) -> list[dict[str, Any]]:
        """Those that hold, oldest first."""
        data = self._api.get("/oauth/grants").raise_for_status().json()["data"]
        return [grant for grant in data if grant["revoked_at"] is None]

    def revoke(self, grant_id: str) -> None:
        self._api.delete(f"/oauth/grants/{grant_id}").raise_for_status()

    def revoke_all(self) -> list[str]:
        """The ids of the grants that held until now."""
        ids = [grant["id"] for grant in self.grants()]
        for grant_id in ids:
            self.revoke(grant_id)
        return ids

    def saw_refused(self, grant_id: str) -> bool:
        """Whether the app has come with the grant that was taken back, and was turned away."""
        grant = self._api.get(f"/oauth/grants/{grant_id}").raise_for_status().json()
        return grant["failure_reason"] in REFUSED

    def memory(self, memory_id: str) -> dict[str, Any] | None:
        """None when there is none of this id."""
        answer = self._api.get(f"/memories/{memory_id}")
        if answer.status_code == NOT_FOUND:
            return None
        return answer.raise_for_status().json()


@contextmanager
def owner_of(address: str) -> Generator[Owner]:
    """The owner of the vault at the address, who lets what is remembered take effect at once."""
    with httpx.Client(base_url=f"{address}/api", timeout=20) as api:
        api.put("/settings", json={"approval_mode": "auto"}).raise_for_status()
        yield Owner(api)
