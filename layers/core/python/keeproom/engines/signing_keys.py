"""The keys a provider signs with: kept, and read again when it has new ones."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, cast

from jwt import PyJWK
from jwt.exceptions import PyJWTError

AGAIN = 60.0  # seconds: unknown names of keys must not make us ask more often than this
STALE = 86_400.0  # seconds: a key that the provider has withdrawn counts no longer than this

# None that a shared secret or nothing at all signs with.
ALGORITHMS = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
)


class NoKey(Exception):
    """There is no key of this name for this algorithm."""


@dataclass(slots=True, kw_only=True)
class SigningKeys:
    """`read`: fetch the provider's key set; raises `Unavailable`. `ticks`: seconds by a clock that
    only goes forward. Safe for threads."""

    read: Callable[[], Mapping[str, Any]]
    ticks: Callable[[], float]
    _keys: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    _read_at: float | None = None
    _turn: Lock = field(default_factory=Lock)

    def named(self, kid: str, algorithm: str) -> PyJWK:
        """`kid`: empty when the token names none, which is good enough where there is one key.
        Raises `NoKey` and `Unavailable`."""
        if algorithm not in ALGORITHMS:
            raise NoKey
        with self._turn:
            if self._age() > STALE:
                self._refresh()
            found = self._found(kid)
            if found is None and self._age() >= AGAIN:
                self._refresh()
                found = self._found(kid)
        if found is None:
            raise NoKey
        return _usable(found, algorithm)

    def _age(self) -> float:
        return float("inf") if self._read_at is None else self.ticks() - self._read_at

    def _refresh(self) -> None:
        read = self.read().get("keys")
        self._read_at = self.ticks()
        keys = cast("list[object]", read) if isinstance(read, list) else []
        self._keys = [
            cast("dict[str, Any]", key)
            for key in keys
            if isinstance(key, dict) and cast("dict[str, Any]", key).get("use", "sig") == "sig"
        ]

    def _found(self, kid: str) -> Mapping[str, Any] | None:
        if not kid:
            return self._keys[0] if len(self._keys) == 1 else None
        return next((key for key in self._keys if key.get("kid") == kid), None)


def _usable(key: Mapping[str, Any], algorithm: str) -> PyJWK:
    """For exactly this algorithm: the key's own word for it goes before the token's."""
    if key.get("alg", algorithm) != algorithm:
        raise NoKey
    try:
        return PyJWK(dict(key), algorithm)
    except (PyJWTError, ValueError, TypeError) as error:
        raise NoKey from error
