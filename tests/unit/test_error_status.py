"""An error without a status would reach people as a crash."""

import pytest

from keeproom.api.errors import STATUS
from keeproom.errors import VaultError


def below(root: type[VaultError]) -> list[type[VaultError]]:
    return [one for child in root.__subclasses__() for one in (child, *below(child))]


@pytest.mark.parametrize("error", below(VaultError), ids=lambda error: error.code)
def test_every_error_has_a_status(error: type[VaultError]) -> None:
    """Its own or the nearest one above it; `VaultError` itself says too little to count."""
    statuses = [STATUS[kind] for kind in error.__mro__ if kind in STATUS and kind is not VaultError]

    assert statuses
    assert 400 <= statuses[0] <= 599
