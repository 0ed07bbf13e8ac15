"""What the stack promises whoever deploys it, and what validators do not see."""

import json
import re
from typing import Any, cast

import pytest

from tests import synthesis

type Resources = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def checked() -> Any:
    """CDK's own assertions on the template."""
    template = synthesis.template()
    from aws_cdk.assertions import Template  # noqa: PLC0415  starts Node

    return Template.from_json(template)


def of(resources: Resources, kind: str) -> list[dict[str, Any]]:
    return [one for one in resources.values() if one["Type"] == kind]


def properties(resources: Resources, kind: str) -> list[dict[str, Any]]:
    return [one["Properties"] for one in of(resources, kind)]


def variables(resources: Resources) -> dict[str, dict[str, Any]]:
    """Environment by function."""
    return {
        name: one["Properties"]["Environment"]["Variables"]
        for name, one in resources.items()
        if one["Type"] == "AWS::Lambda::Function"
    }


def test_what_the_owner_would_miss_outlives_the_stack(resources: Resources) -> None:
    for kind in ("AWS::DynamoDB::GlobalTable", "AWS::S3::Bucket"):
        for one in of(resources, kind):
            assert (one["DeletionPolicy"], one["UpdateReplacePolicy"]) == ("Retain", "Retain")


def test_nothing_that_is_of_no_use_without_the_stack_outlives_it(resources: Resources) -> None:
    """The accounts of the pool go with the stack."""
    kept = {one["Type"] for one in resources.values() if one.get("DeletionPolicy") == "Retain"}

    assert kept == {"AWS::DynamoDB::GlobalTable", "AWS::S3::Bucket"}
    (pool,) = properties(resources, "AWS::Cognito::UserPool")
    assert "DeletionProtection" not in pool  # with it, the stack could not be taken down


def test_both_tables_can_be_brought_back_and_are_paid_by_use(checked: Any) -> None:
    checked.resource_count_is("AWS::DynamoDB::GlobalTable", 2)
    checked.all_resources_properties(
        "AWS::DynamoDB::GlobalTable",
        {
            "BillingMode": "PAY_PER_REQUEST",
            "Replicas": [
                {
                    "DeletionProtectionEnabled": True,
                    "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
                }
            ],
        },
    )


def test_the_keys_of_a_table_are_its_attributes(resources: Resources) -> None:
    for table in properties(resources, "AWS::DynamoDB::GlobalTable"):
        keys = {one["AttributeName"]: one["KeyType"] for one in table["KeySchema"]}
        attributes = {
            one["AttributeName"]: one["AttributeType"] for one in table["AttributeDefinitions"]
        }
        assert keys == {"pk": "HASH", "sk": "RANGE"}
        assert attributes == {"pk": "S", "sk": "S"}


def test_only_grants_expire(resources: Resources) -> None:
    tables = properties(resources, "AWS::DynamoDB::GlobalTable")
    expiring = [
        one["TimeToLiveSpecification"] for one in tables if "TimeToLiveSpecification" in one
    ]

    assert expiring == [{"AttributeName": "ttl", "Enabled": True}]


def test_one_route_reaches_the_application_as_it_is(resources: Resources, checked: Any) -> None:
    (route,) = properties(resources, "AWS::ApiGatewayV2::Route")
    (stage,) = properties(resources, "AWS::ApiGatewayV2::Stage")
    (api,) = properties(resources, "AWS::ApiGatewayV2::Api")

    assert (route["RouteKey"], route["AuthorizationType"]) == ("$default", "NONE")
    assert (stage["StageName"], stage["AutoDeploy"]) == ("$default", True)
    assert "CorsConfiguration" not in api
    assert "$context.query" not in json.dumps(stage)
    checked.resource_count_is("AWS::ApiGatewayV2::Authorizer", 0)


def test_the_challenge_gets_its_name_back(resources: Resources) -> None:
    (integration,) = properties(resources, "AWS::ApiGatewayV2::Integration")

    assert integration["PayloadFormatVersion"] == "2.0"
    assert integration["ResponseParameters"] == {
        "401": {
            "ResponseParameters": [
                {
                    "Source": "$response.header.x-mcp-challenge",
                    "Destination": "overwrite:header.WWW-Authenticate",
                }
            ]
        }
    }


def test_the_functions_run_where_their_layers_are_for(checked: Any) -> None:
    checked.resource_count_is("AWS::Lambda::Function", 5)
    checked.all_resources_properties(
        "AWS::Lambda::Function", {"Runtime": "python3.13", "Architectures": ["arm64"]}
    )
    checked.all_resources_properties(
        "AWS::Lambda::LayerVersion",
        {"CompatibleRuntimes": ["python3.13"], "CompatibleArchitectures": ["arm64"]},
    )


def test_the_api_answers_before_the_gateway_gives_up(checked: Any) -> None:
    """After 30 s it does."""
    checked.has_resource_properties("AWS::Lambda::Function", {"Timeout": 29})


def test_every_setting_is_one_that_the_product_reads(resources: Resources) -> None:
    example = (synthesis.ROOT / ".env.example").read_text()
    known = set(re.findall(r"^#?([A-Z_]+)=", example, re.MULTILINE))

    told = {name for variable in variables(resources).values() for name in variable}
    assert told - known == set()


def test_no_secret_is_in_an_environment(resources: Resources) -> None:
    assert "ClientSecret" not in json.dumps(variables(resources))


def test_a_message_is_not_given_to_two_workers(resources: Resources) -> None:
    (mapping,) = properties(resources, "AWS::Lambda::EventSourceMapping")
    queues = {
        name: one["Properties"]
        for name, one in resources.items()
        if one["Type"] == "AWS::SQS::Queue"
    }
    jobs = queues[mapping["EventSourceArn"]["Fn::GetAtt"][0]]
    worker = resources[mapping["FunctionName"]["Ref"]]["Properties"]

    assert jobs["VisibilityTimeout"] >= 6 * worker["Timeout"]
    assert jobs["RedrivePolicy"]["maxReceiveCount"] == 3
    assert (mapping["BatchSize"], mapping["FunctionResponseTypes"]) == (
        1,
        ["ReportBatchItemFailures"],
    )


def test_schedules_are_ones_that_exist_and_give_up_soon(resources: Resources) -> None:
    """Validators do not read the expressions."""
    rate = re.compile(r"rate\((\d+) (minutes|hours|days)\)")
    cron = re.compile(r"cron\([\d*/,-]+ [\d*/,-]+ [\d*?/,-]+ [\d*/,-]+ [\d*?/,A-Z-]+ [\d*/,-]+\)")
    schedules = properties(resources, "AWS::Scheduler::Schedule")

    assert len(schedules) == 2
    for one in schedules:
        expression = one["ScheduleExpression"]
        assert rate.fullmatch(expression) or cron.fullmatch(expression), expression
        assert one["ScheduleExpressionTimezone"] == "Etc/UTC"
        assert one["Target"]["RetryPolicy"]["MaximumRetryAttempts"] <= 2
        assert one["Target"]["RetryPolicy"]["MaximumEventAgeInSeconds"] <= 3600
        assert one["Target"]["DeadLetterConfig"]["Arn"]
    assert len(of(resources, "AWS::Lambda::EventInvokeConfig")) == 2


def test_nobody_joins_the_pool_uninvited(resources: Resources) -> None:
    (pool,) = properties(resources, "AWS::Cognito::UserPool")
    (user,) = properties(resources, "AWS::Cognito::UserPoolUser")

    assert pool["AdminCreateUserConfig"]["AllowAdminCreateUserOnly"] is True
    assert "PreSignUp" in pool["LambdaConfig"]
    assert user["Username"] == synthesis.OWNER
    assert user["DesiredDeliveryMediums"] == ["EMAIL"]


def test_nobody_is_invited_before_the_trigger_may_be_asked(resources: Resources) -> None:
    (user,) = of(resources, "AWS::Cognito::UserPoolUser")
    (permission,) = (
        name
        for name, one in resources.items()
        if one["Type"] == "AWS::Lambda::Permission"
        and one["Properties"]["Principal"] == "cognito-idp.amazonaws.com"
    )

    assert permission in user["DependsOn"]


def test_the_invitation_says_where_the_vault_is(resources: Resources) -> None:
    (pool,) = properties(resources, "AWS::Cognito::UserPool")
    letter = pool["AdminCreateUserConfig"]["InviteMessageTemplate"]["EmailMessage"]

    assert "ApiEndpoint" in json.dumps(letter)
    assert "{username}" in rendered(letter)
    assert "{####}" in rendered(letter)
    assert pool["Policies"]["PasswordPolicy"]["TemporaryPasswordValidityDays"] == 7


def test_the_sign_in_page_is_there_and_gives_no_more_than_needed(resources: Resources) -> None:
    (client,) = properties(resources, "AWS::Cognito::UserPoolClient")
    (domain,) = properties(resources, "AWS::Cognito::UserPoolDomain")
    (branding,) = properties(resources, "AWS::Cognito::ManagedLoginBranding")

    assert client["AllowedOAuthFlows"] == ["code"]
    assert client["AllowedOAuthScopes"] == ["openid", "email"]
    assert client["GenerateSecret"] is True
    assert domain["ManagedLoginVersion"] == 2
    assert branding["UseCognitoProvidedValues"] is True
    assert "Settings" not in branding


def test_policies_of_the_collection_are_json(resources: Resources) -> None:
    """Validators take any text."""
    kinds = ("SecurityPolicy", "AccessPolicy")
    texts = [
        one["Policy"]
        for kind in kinds
        for one in properties(resources, f"AWS::OpenSearchServerless::{kind}")
    ]

    assert len(texts) == 3
    for text in texts:
        assert json.loads(rendered(text))


def rendered(value: Any) -> str:
    """With a stand-in for what only AWS knows."""
    if isinstance(value, str):
        return value
    if "Fn::Join" in value:
        return "".join(rendered(part) for part in value["Fn::Join"][1])
    return "known-later"


def test_the_collection_sleeps_when_nobody_asks(resources: Resources) -> None:
    (group,) = properties(resources, "AWS::OpenSearchServerless::CollectionGroup")
    (collection,) = properties(resources, "AWS::OpenSearchServerless::Collection")

    assert group["Generation"] == "NEXTGEN"
    assert group["CapacityLimits"]["MinSearchCapacityInOcu"] == 0
    assert group["CapacityLimits"]["MinIndexingCapacityInOcu"] == 0
    assert collection["Type"] == "VECTORSEARCH"
    assert collection["CollectionGroupName"] == group["Name"]
    assert re.fullmatch(r"[a-z][a-z0-9-]{2,31}", group["Name"])


def test_logs_are_kept_for_a_month(resources: Resources) -> None:
    logs = properties(resources, "AWS::Logs::LogGroup")

    assert len(logs) == 6
    assert {one["RetentionInDays"] for one in logs} == {30}


def test_what_somebody_must_look_at_raises_an_alarm(resources: Resources) -> None:
    alarms = properties(resources, "AWS::CloudWatch::Alarm")

    assert {one["MetricName"] for one in alarms} == {
        "ApproximateNumberOfMessagesVisible", "5xx", "Errors", "IndexLag",
    }  # fmt: skip
    assert {one["TreatMissingData"] for one in alarms} == {"notBreaching"}
    assert {one["ComparisonOperator"] for one in alarms} == {"GreaterThanThreshold"}


def test_the_first_message_or_run_that_is_put_aside_raises_an_alarm(resources: Resources) -> None:
    watched = {
        one["Dimensions"][0]["Value"]["Fn::GetAtt"][0]: one
        for one in properties(resources, "AWS::CloudWatch::Alarm")
        if one["MetricName"] == "ApproximateNumberOfMessagesVisible"
    }
    queues = properties(resources, "AWS::SQS::Queue")
    aside = {
        *(one["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"][0]
          for one in queues if "RedrivePolicy" in one),
        *(one["DestinationConfig"]["OnFailure"]["Destination"]["Fn::GetAtt"][0]
          for one in properties(resources, "AWS::Lambda::EventInvokeConfig")),
        *(one["Target"]["DeadLetterConfig"]["Arn"]["Fn::GetAtt"][0]
          for one in properties(resources, "AWS::Scheduler::Schedule")),
    }  # fmt: skip

    assert len(aside) == 2
    assert watched.keys() == aside
    for one in watched.values():
        assert (one["Threshold"], one["EvaluationPeriods"]) == (0, 1)
        assert (one["Statistic"], one["Namespace"]) == ("Maximum", "AWS/SQS")


def test_the_address_does_not_go_round_in_a_circle(resources: Resources) -> None:
    """CloudFormation would refuse it, and only then."""
    needs = {name: set(references(one)) & set(resources) for name, one in resources.items()}
    while ready := {name for name, needed in needs.items() if not needed}:
        needs = {name: needed - ready for name, needed in needs.items() if name not in ready}

    assert needs == {}


def references(value: Any) -> list[str]:
    if isinstance(value, list):
        return [name for part in cast("list[Any]", value) for name in references(part)]
    if not isinstance(value, dict):
        return []
    found: list[str] = []
    for key, part in cast("dict[str, Any]", value).items():
        if key == "Ref":
            found.append(part)
        elif key == "Fn::GetAtt":
            found.append(part[0])
        elif key == "DependsOn":
            found += [part] if isinstance(part, str) else part
        else:
            found += references(part)
    return found


def test_outputs_say_where_to_go(template: dict[str, Any]) -> None:
    outputs = {name: rendered(one["Value"]) for name, one in template["Outputs"].items()}

    assert set(outputs) == {
        "McpUrl", "DashboardUrl", "OperationsUrl", "UserPoolId", "VaultTable", "GrantsTable",
        "BlobsBucket",
    }  # fmt: skip
    assert outputs["McpUrl"] == outputs["DashboardUrl"] + "mcp"
    assert "cloudwatch" in outputs["OperationsUrl"]


def test_everything_that_can_be_is_tagged(resources: Resources) -> None:
    tagged = [one for one in resources.values() if "Tags" in one["Properties"]]

    assert len(tagged) > 20
