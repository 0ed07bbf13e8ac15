from typing import Any

import pytest

from tests import synthesis


@pytest.fixture(scope="session", autouse=True)
def cdk() -> None:
    if lacking := synthesis.missing():
        pytest.skip(lacking)


@pytest.fixture(scope="session")
def template(cdk: None) -> dict[str, Any]:
    return synthesis.template()


@pytest.fixture(scope="session")
def resources(template: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return template["Resources"]
