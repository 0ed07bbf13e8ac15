"""What whoever deploys may choose."""

import json
from typing import Any

import pytest

from tests import synthesis


def found(kind: str, **options: str) -> list[dict[str, Any]]:
    resources = synthesis.template(**options)["Resources"].values()
    return [one["Properties"] for one in resources if one["Type"] == kind]


EMBEDDED = {
    "search": "embedded",
    "sign_in": "password,mfa",
    "alarm_email": "ana@example.com",
    "domain": "memory.example.com",
    "hosted_zone": "Z0123456789",
    "vault_table": "kept-vault",
    "grants_table": "kept-grants",
}
OWN_NAME = {
    "owner_emails": "ben@example.com,Ana@example.com,ana@example.com",
    "domain": "memory.example.com",
    "certificate": "arn:aws:acm:eu-west-1:000000000000:certificate/one",
    "sign_in": "passkey",
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
    (policy,) = found("AWS::SNS::TopicPolicy", **EMBEDDED)
    (allowed,) = (one for one in policy["PolicyDocument"]["Statement"] if one["Effect"] == "Allow")
    assert allowed["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert allowed["Action"] == "sns:Publish"


def test_a_domain_of_ones_own_is_the_only_address() -> None:
    (api,) = found("AWS::ApiGatewayV2::Api", **OWN_NAME)
    (mapping,) = found("AWS::ApiGatewayV2::ApiMapping", **OWN_NAME)
    (client,) = found("AWS::Cognito::UserPoolClient", **OWN_NAME)
    outputs = synthesis.template(**OWN_NAME)["Outputs"]

    assert api["DisableExecuteApiEndpoint"] is True
    assert "ApiMappingKey" not in mapping
    assert client["CallbackURLs"] == ["https://memory.example.com/auth/callback"]
    assert outputs["McpUrl"]["Value"] == "https://memory.example.com/mcp"
    assert outputs["DashboardUrl"]["Value"] == "https://memory.example.com/"
    assert "RegionalDomainName" in json.dumps(outputs["DomainTarget"])


def test_a_zone_gets_the_record_and_vouches_for_the_certificate() -> None:
    (record,) = found("AWS::Route53::RecordSet", **EMBEDDED)
    (certificate,) = found("AWS::CertificateManager::Certificate", **EMBEDDED)

    assert (record["Name"], record["HostedZoneId"]) == ("memory.example.com.", "Z0123456789")
    (validated,) = certificate["DomainValidationOptions"]
    assert validated == {"DomainName": "memory.example.com", "HostedZoneId": "Z0123456789"}
    assert "DomainTarget" not in synthesis.template(**EMBEDDED)["Outputs"]


def test_tables_that_are_there_already_are_used_and_none_is_made() -> None:
    template = synthesis.template(**EMBEDDED)
    told = [one["Environment"]["Variables"] for one in found("AWS::Lambda::Function", **EMBEDDED)]

    assert found("AWS::DynamoDB::GlobalTable", **EMBEDDED) == []
    assert {one.get("VAULT_TABLE") for one in told} == {"kept-vault", None}
    assert {one.get("GRANTS_TABLE") for one in told} == {"kept-grants", None}
    assert template["Outputs"]["VaultTable"]["Value"] == "kept-vault"
    policies = json.dumps(found("AWS::IAM::Policy", **EMBEDDED))
    assert ":table/kept-vault" in policies
    assert ":table/kept-grants" in policies


both = pytest.mark.parametrize("options", [EMBEDDED, OWN_NAME], ids=["embedded", "own name"])


@both
def test_cfn_lint_finds_nothing_in_what_was_chosen(options: dict[str, str]) -> None:
    assert synthesis.linted(**options) == ""


@both
def test_cdk_nag_finds_nothing_without_a_written_reason(options: dict[str, str]) -> None:
    from infra.exceptions import EXCEPTIONS  # noqa: PLC0415

    assert all(len(reason) > 40 for reason in EXCEPTIONS.values())
    reports = synthesis.nagged(EXCEPTIONS, **options)
    assert reports
    assert all(one["conclusion"] == "success" for one in reports), reports


def test_the_account_of_one_owner_does_not_hang_on_the_others() -> None:
    """By position, an account would be made again before the old one is gone, which Cognito
    refuses."""

    def accounts(**options: str) -> dict[str, str]:
        resources = synthesis.template(**options)["Resources"]
        return {
            one["Properties"]["Username"]: name
            for name, one in resources.items()
            if one["Type"] == "AWS::Cognito::UserPoolUser"
        }

    alone, together = accounts(**EMBEDDED), accounts(**OWN_NAME)
    assert together.keys() == {"ana@example.com", "ben@example.com"}
    assert together["ana@example.com"] == alone["ana@example.com"]


def test_a_passkey_asks_for_its_person_and_the_first_one_is_made_after_a_code() -> None:
    (pool,) = found("AWS::Cognito::UserPool", **OWN_NAME)
    letter = pool["AdminCreateUserConfig"]["InviteMessageTemplate"]["EmailMessage"]

    factors = pool["Policies"]["SignInPolicy"]["AllowedFirstAuthFactors"]
    assert set(factors) == {"PASSWORD", "EMAIL_OTP", "WEB_AUTHN"}
    assert pool["WebAuthnUserVerification"] == "required"
    assert "{####}" not in letter  # such a pool makes no first passwords


def test_another_provider_is_asked_without_its_secret_in_the_template() -> None:
    (provider,) = found("AWS::Cognito::UserPoolIdentityProvider", **OWN_NAME)
    (client,) = found("AWS::Cognito::UserPoolClient", **OWN_NAME)

    assert provider["ProviderDetails"]["oidc_issuer"] == "https://login.example.com"
    assert "{{resolve:secretsmanager:vault/login:" in provider["ProviderDetails"]["client_secret"]
    assert len(client["SupportedIdentityProviders"]) == 2
    callback = synthesis.template(**OWN_NAME)["Outputs"]["ProviderCallback"]
    assert "/oauth2/idpresponse" in json.dumps(callback)


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
