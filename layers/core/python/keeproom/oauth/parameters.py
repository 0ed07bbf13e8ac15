"""The parameters of a request, as OAuth reads them: each at most once, an empty one absent."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from keeproom.oauth.errors import InvalidRequest

LONGEST = 8000


@dataclass(frozen=True, slots=True)
class Parameters:
    """`resource` alone may come several times (RFC 8707)."""

    resources: tuple[str, ...] = ()
    _values: Mapping[str, str] = field(default_factory=dict[str, str])

    def get(self, name: str) -> str:
        """Empty when it is absent."""
        return self._values.get(name, "")

    def needed(self, name: str) -> str:
        """Raises `InvalidRequest` when it is absent."""
        if not self.get(name):
            raise InvalidRequest(f"{name} is missing.")
        return self.get(name)


def read_parameters(pairs: Iterable[tuple[str, str]]) -> Parameters:
    """Raises `InvalidRequest` for one that comes twice or is longer than any should be."""
    values: dict[str, str] = {}
    resources: list[str] = []
    for name, value in pairs:
        if len(value) > LONGEST:
            raise InvalidRequest("A parameter is too long.")
        if name == "resource":
            resources.append(value)
        elif name in values:
            raise InvalidRequest("A parameter comes twice.")
        else:
            values[name] = value
    return Parameters(tuple(one for one in resources if one), values)
