"""Regular expressions that are compiled when they are first used: most texts need few of them, and
a function that has just begun answers before it has compiled them all."""

import re
from collections.abc import Callable, Iterator
from functools import cached_property


class Pattern:
    """As `re.compile`, later. `flags` as there."""

    def __init__(self, shape: str, flags: int = 0) -> None:
        self._shape, self._flags = shape, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._shape, self._flags)

    def search(self, text: str) -> re.Match[str] | None:
        return self._compiled.search(text)

    def match(self, text: str) -> re.Match[str] | None:
        return self._compiled.match(text)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        return self._compiled.fullmatch(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self._compiled.finditer(text)

    def findall(self, text: str) -> list[str]:
        return self._compiled.findall(text)

    def sub(self, by: str | Callable[[re.Match[str]], str], text: str) -> str:
        return self._compiled.sub(by, text)
