"""What vouches for the owner, wherever the vault is: here, by a user pool of Cognito."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import httpx
import pytest

from keeproom.aws import owner as aws_owner
from keeproom.errors import Unavailable, Unusable
from keeproom.local import owner
from keeproom.oauth.errors import SignInFailed
from keeproom.oauth.ports import Provider
from tests.cognito import Pool, logs_in, new_pool
from tests.dynamo import emulator
from tests.letting_in import CHALLENGE, VERIFIER

HOME = "https://vault.example"
NONCE = "n" * 43
ADDRESS, UNVERIFIED = "owner@example.com", "unverified@example.com"

type Open = Callable[..., Provider]


@pytest.fixture(scope="module")
def pool(endpoint: str) -> Iterator[Pool]:
    with new_pool(endpoint) as made:
        made.person(ADDRESS)
        made.person(UNVERIFIED, verified=False)
        yield made


@pytest.fixture(autouse=True)
def aws(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in (
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
        ("AWS_DEFAULT_REGION", "eu-west-1"),
    ):
        monkeypatch.setenv(variable, value)


def kept(endpoint: str, content: str) -> str:
    """The name of a secret with this in it."""
    with closing(emulator.aws(endpoint, "secretsmanager")) as secrets:
        return secrets.create_secret(Name=uuid4().hex, SecretString=content)["ARN"]


@pytest.fixture(params=["local", "aws"])
def opened(request: pytest.FixtureRequest, endpoint: str, pool: Pool) -> Open:
    """A provider in this place."""

    def open_(client_id: str, secret: str, *, of: Pool = pool) -> Provider:
        if request.param == "local":
            return owner.open(
                of.issuer,
                client_id,
                secret=secret,
                home=HOME,
                logout_url=of.logout_url,
                found_at=of.place,
            )
        return aws_owner.open(
            of.issuer,
            client_id,
            secrets_arn=kept(endpoint, json.dumps({"OIDC_CLIENT_SECRET": secret})),
            home=HOME,
            logout_url=of.logout_url,
            endpoint=endpoint,
        )

    return open_


@pytest.fixture
def provider(opened: Open, pool: Pool) -> Provider:
    return opened(*pool.client(HOME))


def code_of(provider: Provider, address: str = ADDRESS, *, nonce: str = NONCE) -> str:
    """What the browser comes back with when somebody has signed in."""
    answer = logs_in(provider.entrance(state="s1", nonce=nonce, challenge=CHALLENGE), address)
    assert answer.status_code == 302, answer.text
    back = urlsplit(answer.headers["location"])
    assert f"{back.scheme}://{back.netloc}{back.path}" == f"{HOME}/auth/callback"
    assert parse_qs(back.query)["state"] == ["s1"]
    return parse_qs(back.query)["code"][0]


def test_whoever_signs_in_is_vouched_for(provider: Provider, pool: Pool) -> None:
    person = provider.person(code_of(provider), verifier=VERIFIER, nonce=NONCE)

    assert (person.address, person.verified) == (ADDRESS, True)
    assert person.subject
    assert provider.issuer == pool.issuer


def test_an_address_that_is_not_verified_is_told_as_such(provider: Provider) -> None:
    person = provider.person(code_of(provider, UNVERIFIED), verifier=VERIFIER, nonce=NONCE)

    assert (person.address, person.verified) == (UNVERIFIED, False)


def test_a_wrong_password_brings_nobody_back(provider: Provider) -> None:
    entrance = provider.entrance(state="s1", nonce=NONCE, challenge=CHALLENGE)

    assert logs_in(entrance, ADDRESS, "wrong").status_code == 200


def test_a_code_is_good_once(provider: Provider) -> None:
    code = code_of(provider)
    provider.person(code, verifier=VERIFIER, nonce=NONCE)

    with pytest.raises(SignInFailed):
        provider.person(code, verifier=VERIFIER, nonce=NONCE)


def test_a_code_is_good_with_its_verifier_only(provider: Provider) -> None:
    with pytest.raises(SignInFailed):
        provider.person(code_of(provider), verifier=VERIFIER[::-1], nonce=NONCE)


def test_a_proof_for_another_sign_in_is_none(provider: Provider) -> None:
    with pytest.raises(SignInFailed) as refused:
        provider.person(code_of(provider), verifier=VERIFIER, nonce="m" * 43)
    assert refused.value.reason == "bad_token"


def test_a_code_for_another_client_is_none(opened: Open, pool: Pool, provider: Provider) -> None:
    other = opened(*pool.client(HOME))

    with pytest.raises(SignInFailed):
        provider.person(code_of(other), verifier=VERIFIER, nonce=NONCE)


def test_a_proof_of_another_pool_is_none(opened: Open, pool: Pool, endpoint: str) -> None:
    """Its client is known where codes are exchanged, but its signature is another's."""
    with new_pool(endpoint) as other:
        other.person(ADDRESS)
        mixed = opened(*other.client(HOME), of=pool)

    with pytest.raises(SignInFailed) as refused:
        mixed.person(code_of(mixed), verifier=VERIFIER, nonce=NONCE)
    assert refused.value.reason == "bad_token"


def test_a_wrong_secret_is_no_fault_of_the_person(opened: Open, pool: Pool) -> None:
    client_id, _ = pool.client(HOME)
    provider = opened(client_id, "wrong")

    with pytest.raises(Unavailable):
        provider.person(code_of(provider), verifier=VERIFIER, nonce=NONCE)


def test_the_exit_ends_the_session_there_and_leads_back(provider: Provider) -> None:
    answer = httpx.get(provider.exit(), trust_env=False)

    assert (answer.status_code, answer.headers["location"]) == (302, f"{HOME}/auth/signed-out")


# ---- on AWS only


def on_aws(pool: Pool, endpoint: str, arn: str, client_id: str) -> Provider:
    return aws_owner.open(pool.issuer, client_id, secrets_arn=arn, home=HOME, endpoint=endpoint)


def test_the_secret_is_read_once(pool: Pool, endpoint: str) -> None:
    client_id, secret = pool.client(HOME)
    arn = kept(endpoint, json.dumps({"OIDC_CLIENT_SECRET": secret, "OTHER": "x"}))
    provider = on_aws(pool, endpoint, arn, client_id)
    provider.person(code_of(provider), verifier=VERIFIER, nonce=NONCE)
    with closing(emulator.aws(endpoint, "secretsmanager")) as secrets:
        secrets.put_secret_value(SecretId=arn, SecretString="{}")

    person = provider.person(code_of(provider), verifier=VERIFIER, nonce=NONCE)
    assert person.address == ADDRESS


@pytest.mark.parametrize("content", ["{}", "plain", "[]", '{"OIDC_CLIENT_SECRET": 7}'])
def test_a_secret_that_holds_none_is_told(pool: Pool, endpoint: str, content: str) -> None:
    client_id, _ = pool.client(HOME)
    provider = on_aws(pool, endpoint, kept(endpoint, content), client_id)

    with pytest.raises(Unusable):
        provider.person(code_of(provider), verifier=VERIFIER, nonce=NONCE)


def test_a_secret_that_cannot_be_read_is_asked_for_again(pool: Pool, endpoint: str) -> None:
    client_id, secret = pool.client(HOME)
    name = uuid4().hex
    provider = on_aws(pool, endpoint, name, client_id)
    code = code_of(provider)
    with pytest.raises(Unavailable):
        provider.person(code, verifier=VERIFIER, nonce=NONCE)

    with closing(emulator.aws(endpoint, "secretsmanager")) as secrets:
        content = json.dumps({"OIDC_CLIENT_SECRET": secret})
        secrets.create_secret(Name=name, SecretString=content)
    assert provider.person(code, verifier=VERIFIER, nonce=NONCE).verified
