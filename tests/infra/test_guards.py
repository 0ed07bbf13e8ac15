"""What other people's rules say of the template, and what each role may do."""

import json
from pathlib import Path
from typing import Any, cast

import pytest

from tests import synthesis

SNAPSHOT = Path(__file__).with_name("template.json")
MAY = {
    "Api": {
        "aoss:APIAccessAll", "bedrock:InvokeModel", "dynamodb", "logs", "s3:GetObject",
        "s3:ListBucket", "secretsmanager:DescribeSecret", "secretsmanager:GetSecretValue",
        "sqs:SendMessage",
    },
    "Worker": {
        "aoss:APIAccessAll", "bedrock:InvokeModel", "dynamodb", "logs", "s3:GetObject",
        "s3:ListBucket", "s3:PutObject", "sqs:ChangeMessageVisibility", "sqs:DeleteMessage",
        "sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:ReceiveMessage", "sqs:SendMessage",
    },
    "Reindex": {
        "aoss:APIAccessAll", "bedrock:InvokeModel", "dynamodb", "logs", "s3:GetObject",
        "s3:ListBucket", "s3:PutObject", "sqs:GetQueueAttributes", "sqs:GetQueueUrl",
        "sqs:SendMessage",
    },
    "Cleanup": {
        "aoss:APIAccessAll", "dynamodb", "logs", "s3:GetObject", "s3:ListBucket",
        "sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:SendMessage",
    },
    "PreSignup": {"logs"},
}  # fmt: skip
TABLE = {
    "dynamodb:BatchGetItem", "dynamodb:BatchWriteItem", "dynamodb:ConditionCheckItem",
    "dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:Query",
}  # fmt: skip


def statements(resources: dict[str, dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (name, statement)
        for name, one in resources.items()
        if one["Type"] == "AWS::IAM::Policy"
        for statement in one["Properties"]["PolicyDocument"]["Statement"]
    ]


def listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def test_no_role_may_do_everything_of_anything(resources: dict[str, dict[str, Any]]) -> None:
    for name, statement in statements(resources):
        for action in listed(statement["Action"]):
            assert "*" not in action, name
            assert "Scan" not in action, name
        assert statement["Resource"] != "*", name
        assert statement["Effect"] == "Allow"


def test_no_role_gets_a_policy_of_somebody_elses(resources: dict[str, dict[str, Any]]) -> None:
    roles = [one["Properties"] for one in resources.values() if one["Type"] == "AWS::IAM::Role"]

    assert len(roles) == 5 + 2  # one for each function and each schedule
    assert not any("ManagedPolicyArns" in one for one in roles)


@pytest.mark.parametrize("function", MAY)
def test_each_function_may_do_what_it_has_to_and_no_more(
    resources: dict[str, dict[str, Any]], function: str
) -> None:
    actions = {
        action
        for name, statement in statements(resources)
        if name.startswith(f"Functions{function}Role")
        for action in listed(statement["Action"])
    }

    logs = {"logs:CreateLogStream", "logs:PutLogEvents"}
    named = set(MAY[function])
    tables: set[str] = TABLE if "dynamodb" in named else set()
    wanted = (named - {"dynamodb", "logs"}) | logs | tables
    assert actions == wanted


def test_the_tables_are_reached_by_those_that_need_them(
    resources: dict[str, dict[str, Any]],
) -> None:
    reached = {
        (name.removeprefix("Functions").partition("Role")[0], table)
        for name, statement in statements(resources)
        if "dynamodb:Query" in listed(statement["Action"])
        for table in ("StorageVault", "StorageGrants")
        if table in json.dumps(statement["Resource"])
    }

    assert reached == {
        ("Api", "StorageVault"), ("Api", "StorageGrants"), ("Worker", "StorageVault"),
        ("Reindex", "StorageVault"), ("Cleanup", "StorageGrants"), ("Cleanup", "StorageVault"),
    }  # fmt: skip


def test_cfn_lint_finds_nothing() -> None:
    assert synthesis.linted() == ""


def test_the_template_is_the_one_that_was_reviewed() -> None:
    """After a change: read what has changed in `template.json`, which this test writes anew when it
    is missing."""
    told = json.dumps(without_hashes(synthesis.template()), indent=1, sort_keys=True) + "\n"
    if not SNAPSHOT.exists():
        SNAPSHOT.write_text(told)
        pytest.fail("template.json was missing: read it, commit it, run this again")

    assert json.loads(told) == json.loads(SNAPSHOT.read_text())


def without_hashes(value: Any) -> Any:
    """Assets change with every line of the product."""
    if isinstance(value, list):
        return [without_hashes(one) for one in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    return {
        name: "<asset>" if name == "S3Key" else without_hashes(one)
        for name, one in cast("dict[str, Any]", value).items()
        if name != "Metadata"
    }
