"""The owner signs in on AWS: the real handler, Cognito's login page, the secret in its place."""

import json
from collections.abc import Iterator
from contextlib import closing

import httpx
import pytest

from tests.cognito import Pool, logs_in, new_pool
from tests.dynamo import emulator
from tests.functions.conftest import Cloud
from tests.functions.container import Container, container
from tests.functions.gateway import ADDRESS, Gateway
from tests.signing_in import came_back, cookie, is_in, left

OURS = {"Origin": ADDRESS, "Sec-Fetch-Site": "same-origin"}


@pytest.fixture(scope="module")
def pool(cloud: Cloud) -> Iterator[Pool]:
    with new_pool(cloud.environment["AWS_ENDPOINT_URL"]) as made:
        made.person("ana@example.com")
        made.person("ben@example.com")
        made.person("stranger@example.com")
        yield made


@pytest.fixture(scope="module")
def signing(
    cloud: Cloud, pool: Pool, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Container]:
    client_id, secret = pool.client(ADDRESS)
    content = json.dumps({"OIDC_CLIENT_SECRET": secret})
    with closing(emulator.aws(cloud.environment["AWS_ENDPOINT_URL"], "secretsmanager")) as secrets:
        arn = secrets.create_secret(Name="keeproom", SecretString=content)["ARN"]
    told = {
        "OIDC_ISSUER": pool.issuer,
        "OIDC_CLIENT_ID": client_id,
        "OIDC_LOGOUT_URL": pool.logout_url,
        "SECRETS_ARN": arn,
    }
    folder = tmp_path_factory.mktemp("signing")
    with container("api", folder, {**cloud.environment, **told}) as running:
        yield running


@pytest.fixture
def browser(signing: Container) -> Iterator[httpx.Client]:
    with httpx.Client(transport=Gateway(signing), base_url=ADDRESS) as http:
        yield http


def test_the_owner_signs_in_works_and_signs_out(browser: httpx.Client, signing: Container) -> None:
    assert not is_in(browser)
    back = logs_in(left(browser, "/memories"), "ana@example.com").headers["location"]
    answer = came_back(browser, back)
    assert (answer.status_code, answer.headers["location"]) == (303, "/memories")
    assert cookie(browser, "__Host-keeproom")
    assert is_in(browser)
    assert browser.post("/api/memories", json={"content": "Tea"}, headers=OURS).is_success
    assert browser.post("/api/memories", json={"content": "Eve"}).status_code == 403

    token = browser.post(
        "/api/tokens", json={"name": "nightly", "scopes": ["read"]}, headers=OURS
    ).json()["token"]
    sent = {"Authorization": f"Bearer {token}"}
    with httpx.Client(transport=Gateway(signing), base_url=ADDRESS, headers=sent) as script:
        assert script.get("/api/memories").status_code == 200
        assert script.get("/api/audit").status_code == 403

    gone = browser.post("/auth/logout", headers=OURS)
    there = httpx.get(gone.headers["location"], trust_env=False)
    assert there.headers["location"] == f"{ADDRESS}/auth/signed-out"
    assert not is_in(browser)
    for secret in (token, "ana@", back.partition("code=")[2][:20]):
        assert secret not in signing.log


def test_signing_out_everywhere_ends_every_session(
    browser: httpx.Client, signing: Container
) -> None:
    with httpx.Client(transport=Gateway(signing), base_url=ADDRESS) as other:
        for one in (browser, other):
            came_back(one, logs_in(left(one), "ben@example.com").headers["location"])
            assert is_in(one)

        browser.post("/auth/logout", data={"everywhere": "1"}, headers=OURS)
        assert not is_in(browser)
        assert not is_in(other)


def test_anybody_else_of_the_pool_stays_outside(browser: httpx.Client) -> None:
    back = logs_in(left(browser), "stranger@example.com").headers["location"]

    assert came_back(browser, back).status_code == 403
    assert not is_in(browser)
