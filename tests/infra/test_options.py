"""What whoever deploys may choose."""

import json
from typing import Any

import pytest

from tests import synthesis


def found(kind: str, **options: str) -> list[dict[str, Any]]:
    resources = synthesis.template(**options)["Resources"].values()
    return [one["Properties"] for one in resources if one["Type"] == kind]


EMBEDDED = {"search": "embedded", "sign_in": "password,mfa", "alarm_email": "ana@example.com"}
OWN_NAME = {
    "domain": "memory.example.com",
    "certificate": "arn:aws:acm:eu-west-1:000000000000:certificate/one",
    "sign_in": "passkey,email_code",
    "oidc_issuer": "https://login.example.com",
    "oidc_client_id": "vault",
    "oidc_secret": "vault/login",
    "embedding_model": "jp.cohere.embed-v4:0",
}


def test_without_a_collection_there_is_nothing_of_it() -> None:
    template = json.dumps(synthesis.template(**EMBEDDED))

    assert "OpenSearchServerless" not in template
    assert "aoss:" not in template
    assert "SEARCH_ENDPOINT" not in template


def test_a_second_factor_may_be_demanded() -> None:
    (pool,) = found("AWS::Cognito::UserPool", **EMBEDDED)

    assert pool["MfaConfiguration"] == "ON"
    assert pool["EnabledMfas"] == ["SOFTWARE_TOKEN_MFA"]


def test_alarms_go_to_whom_is_named() -> None:
    (told,) = found("AWS::SNS::Subscription", **EMBEDDED)
    alarms = found("AWS::CloudWatch::Alarm", **EMBEDDED)

    assert told["Endpoint"] == "ana@example.com"
    assert all(one["AlarmActions"] for one in alarms)


def test_a_domain_of_ones_own_is_the_only_address() -> None:
    (api,) = found("AWS::ApiGatewayV2::Api", **OWN_NAME)
    (mapping,) = found("AWS::ApiGatewayV2::ApiMapping", **OWN_NAME)
    (client,) = found("AWS::Cognito::UserPoolClient", **OWN_NAME)
    outputs = synthesis.template(**OWN_NAME)["Outputs"]

    assert api["DisableExecuteApiEndpoint"] is True
    (policy,) = found("AWS::SNS::TopicPolicy", **EMBEDDED)
    (allowed,) = (one for one in policy["PolicyDocument"]["Statement"] if one["Effect"] == "Allow")
    assert allowed["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert allowed["Action"] == "sns:Publish"
    assert "ApiMappingKey" not in mapping
    assert client["CallbackURLs"] == ["https://memory.example.com/auth/callback"]
    assert outputs["McpUrl"]["Value"] == "https://memory.example.com/mcp"
    assert any(name.endswith("DomainTarget") or "DomainTarget" in name for name in outputs)


def test_passkeys_and_codes_by_email_may_be_enough() -> None:
    (pool,) = found("AWS::Cognito::UserPool", **OWN_NAME)

    factors = pool["Policies"]["SignInPolicy"]["AllowedFirstAuthFactors"]
    assert set(factors) == {"PASSWORD", "EMAIL_OTP", "WEB_AUTHN"}


def test_another_provider_is_asked_without_its_secret_in_the_template() -> None:
    (provider,) = found("AWS::Cognito::UserPoolIdentityProvider", **OWN_NAME)
    (client,) = found("AWS::Cognito::UserPoolClient", **OWN_NAME)

    assert provider["ProviderDetails"]["oidc_issuer"] == "https://login.example.com"
    assert "{{resolve:secretsmanager:vault/login:" in provider["ProviderDetails"]["client_secret"]
    assert len(client["SupportedIdentityProviders"]) == 2


def test_a_model_of_several_regions_may_be_asked_there() -> None:
    policies = json.dumps(found("AWS::IAM::Policy", **OWN_NAME))

    assert "inference-profile/jp.cohere.embed-v4:0" in policies
    assert "foundation-model/cohere.embed-v4:0" in policies


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"owner_emails": " "}, "whose vault"),
        ({"owner_emails": "ana"}, "whose vault"),
        ({"search": "elsewhere"}, "search is"),
        ({"sign_in": "sms"}, "sign_in is"),
        ({"sign_in": "mfa"}, "sign_in is"),
        ({"sign_in": "passkey,mfa"}, "leave out mfa"),
        ({"domain": "memory.example.com"}, "needs hosted_zone"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(wrong: dict[str, str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        synthesis.stack(**wrong)
