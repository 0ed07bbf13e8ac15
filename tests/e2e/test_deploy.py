"""The template as it is, from an empty account to a vault that is used, changed and taken down."""

import asyncio
import ssl
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from keeproom.aws.memory_store import DynamoTable
from keeproom.clock import tries, utc_now
from keeproom.engines.item_store.store import ItemMemoryStore
from keeproom.oauth.model import Scope
from keeproom.oauth.service_tokens import create
from keeproom.vault import imports
from keeproom.vault.batch import BatchState, ImportItem
from keeproom.vault.model import OWNER
from keeproom.vault.vault import Vault
from keeproom.vault.work import import_of, message_of
from tests.agents import Agent
from tests.cognito import PASSWORD, person
from tests.e2e import browser
from tests.e2e.app import call, connected
from tests.e2e.cloud import FIRST_PASSWORD, REGION, STACK, Cloud, DeployFailed, for_this_machine
from tests.embedders import WordEmbedder
from tests.functions.place import EVERYTHING, door_of
from tests.letting_in import Door, signed_in
from tests.search_engine.collection import Steered
from tests.synthesis import OWNER as ADDRESS
from tests.synthesis import ROOT, assembly
from tests.vaults import vault_on

PATIENCE = 60.0  # seconds
LAYERS = ROOT / "build/layers/x86_64"
DOMAIN = {
    "domain": "memory.example.com",
    "certificate": "arn:aws:acm:eu-west-1:000000000000:certificate/one",
}


@pytest.fixture(scope="module")
def vault(deployed: Cloud) -> Vault:
    """The deployed one, by its table."""
    (name,) = (one for one in deployed.names("AWS::DynamoDB::GlobalTable") if "Vault" in one)
    store = ItemMemoryStore(
        DynamoTable(deployed.client("dynamodb"), name), "personal", clock=utc_now
    )
    return vault_on(store, WordEmbedder(), auto=True)


@pytest.fixture(scope="module")
def owner(deployed: Cloud, vault: Vault) -> Iterator[Door]:
    """Where the owner lets apps and scripts in."""
    (name,) = (one for one in deployed.names("AWS::DynamoDB::GlobalTable") if "Grants" in one)
    address = deployed.address()
    with (
        closing(DynamoTable(deployed.client("dynamodb"), name)) as grants,
        door_of(grants, vault, address=address) as door,
    ):
        yield door


@pytest.fixture(scope="module")
def token(owner: Door) -> str:
    """An app's that may do everything."""
    return signed_in(owner, allow=EVERYTHING).access


@pytest.fixture(scope="module")
def web(deployed: Cloud) -> Iterator[httpx.Client]:
    """By the names of AWS, over TLS."""
    with opened(deployed) as http:
        yield http


def opened(cloud: Cloud, address: str = "") -> httpx.Client:
    """The vault, by that name or the one it is known by."""
    here = cloud.environment
    trusted = ssl.create_default_context(cafile=here["SSL_CERT_FILE"])
    base = address or cloud.address()
    return httpx.Client(proxy=here["HTTPS_PROXY"], verify=trusted, base_url=base, timeout=60)


def log_of(cloud: Cloud, function: str) -> str:
    told = cloud.client("lambda").get_function_configuration(FunctionName=cloud.function(function))
    logs, group = cloud.client("logs"), told["LoggingConfig"]["LogGroup"]
    events = logs.filter_log_events(logGroupName=group)["events"]
    return "\n".join(one["message"] for one in events)


def test_what_is_deployed_is_what_was_made_for_aws(
    main_assembly: Path, local_assembly: Path
) -> None:
    for name in (f"{STACK}.template.json", f"{STACK}.assets.json", "manifest.json"):
        assert (main_assembly / name).read_bytes() == (local_assembly / name).read_bytes()


def passed(cloud: Cloud, token: str) -> None:
    """The smoke test."""
    run = subprocess.run(
        [ROOT / "scripts/smoke.sh", cloud.outputs()["McpUrl"], token],
        env=dict(cloud.environment),
        capture_output=True, text=True, check=False, timeout=180,
    )  # fmt: skip

    assert run.returncode == 0, run.stdout + run.stderr
    assert "FAIL" not in run.stdout


def test_smoke(deployed: Cloud, owner: Door) -> None:
    scopes = frozenset({Scope.READ, Scope.WRITE, Scope.FORGET})
    passed(deployed, create(owner.auth, "smoke test", scopes, by="owner").text)


def test_smoke_fails_where_there_is_no_vault(deployed: Cloud) -> None:
    run = subprocess.run(
        [ROOT / "scripts/smoke.sh", "https://ffffffff.execute-api.eu-west-1.amazonaws.com"],
        env=dict(deployed.environment),
        capture_output=True, text=True, check=False, timeout=180,
    )  # fmt: skip

    assert run.returncode > 10


def test_an_agent_uses_the_vault(web: httpx.Client, token: str) -> None:
    agent = Agent(web, token)

    kept = agent.call("remember", content="Ana keeps bees on the roof")
    told = agent.call("recall", query="bees")
    assert [found["id"] for found in told["hits"]] == [kept["id"]]
    assert told["mode"] == "hybrid"
    agent.call("forget", id=kept["id"])
    assert agent.call("recall", query="bees")["hits"] == []


def test_the_collection_is_kept_in_step_and_its_sleep_costs_seconds_at_most(
    web: httpx.Client, token: str, collection: Steered
) -> None:
    agent = Agent(web, token)
    collection.calls()

    kept = agent.call("remember", content="Ana plays the hurdy-gurdy")
    assert any("bulk" in collection.calls() for _ in tries(PATIENCE)), "nobody published it"
    collection.sleep()
    begun = time.monotonic()
    told = agent.call("recall", query="hurdy-gurdy")
    took = time.monotonic() - begun
    collection.behave(wake_seconds=0)

    assert [found["id"] for found in told["hits"]] == [kept["id"]]
    assert told["mode"] == "hybrid"
    assert took < 25  # it would take 30 s to wake
    agent.call("forget", id=kept["id"])


@pytest.fixture
def chromium() -> None:
    if lacking := browser.missing():
        pytest.skip(lacking)


@pytest.mark.usefixtures("chromium", "vault")
def test_the_owner_signs_in_lets_an_app_in_and_signs_out(deployed: Cloud) -> None:
    """From the first password to memories kept and forgotten, with Cognito's pages in between."""

    async def run() -> None:
        async with browser.opened(deployed) as page:
            assert await browser.whoami(page) == ""
            await page.goto("/auth/login?back=/api/owner")
            await browser.logs_in(page, ADDRESS, FIRST_PASSWORD)
            await browser.chooses(page, PASSWORD)
            await page.wait_for_url("**/api/owner")
            assert await browser.whoami(page) == ADDRESS

            async with connected(deployed, partial(browser.approves, page)) as client:
                kept = await call(client, "remember", content="Ana sails at dawn")
                told = await call(client, "recall", query="sails")
                assert [found["id"] for found in told["hits"]] == [kept["id"]]
                await call(client, "forget", id=kept["id"])
                assert (await call(client, "recall", query="sails"))["hits"] == []

            await browser.signs_out(page)
            assert await browser.whoami(page) == ""

    asyncio.run(run())


@pytest.mark.usefixtures("chromium")
def test_anybody_else_of_the_pool_is_shown_the_door(deployed: Cloud) -> None:
    stranger = "eve@example.com"
    (pool,) = deployed.names("AWS::Cognito::UserPool")
    with closing(deployed.client("cognito-idp")) as cognito:
        person(cognito, pool, stranger)

    async def run() -> None:
        async with browser.opened(deployed) as page:
            await page.goto("/auth/login")
            await browser.logs_in(page, stranger, PASSWORD)
            await page.get_by_role("heading", name="This vault is not yours").wait_for()
            assert await page.context.cookies(deployed.address()) == []
            assert await browser.whoami(page) == ""

    asyncio.run(run())
    assert stranger not in log_of(deployed, "Api")


def test_a_message_has_the_worker_go_on(deployed: Cloud, vault: Vault) -> None:
    batch = imports.begin(vault, [ImportItem(content=f"Ana read {n}") for n in range(20)], by=OWNER)
    queues = deployed.names("AWS::SQS::Queue")
    (queue,) = (one for one in queues if "StorageJobs" in one)

    deployed.client("sqs").send_message(QueueUrl=queue, MessageBody=message_of(import_of(batch.id)))

    for _ in tries(PATIENCE):
        if imports.found(vault, batch.id).state is BatchState.DONE:
            break
    assert imports.found(vault, batch.id).state is BatchState.DONE


def test_a_schedule_fires(deployed: Cloud) -> None:
    """What the stack's own schedule would do in some minutes, in some seconds."""
    scheduler = deployed.client("scheduler")
    (name,) = (one for one in deployed.names("AWS::Scheduler::Schedule") if "Reindex" in one)
    own = scheduler.get_schedule(Name=name.rpartition("|")[2])
    soon = datetime.now(UTC) + timedelta(seconds=2)

    scheduler.create_schedule(
        Name=f"once-{uuid.uuid4().hex}",
        ScheduleExpression=f"at({soon:%Y-%m-%dT%H:%M:%S})",
        FlexibleTimeWindow={"Mode": "OFF"},
        Target=own["Target"],
    )

    for _ in tries(PATIENCE):
        if "waiting for the index" in log_of(deployed, "Reindex"):
            break
    assert "waiting for the index" in log_of(deployed, "Reindex")


ONE_PARTITION = {
    "KeyConditionExpression": "pk = :p",
    "ExpressionAttributeValues": {":p": {"S": "x"}},
}


@pytest.mark.parametrize(
    ("role", "service", "call", "asked"),
    [
        ("Worker", "dynamodb", "scan", {"TableName": "{vault}"}),
        ("Worker", "dynamodb", "query", {"TableName": "{grants}", **ONE_PARTITION}),
        ("Cleanup", "s3", "put_object", {"Bucket": "{blobs}", "Key": "x"}),
        ("Reindex", "dynamodb", "query", {"TableName": "{grants}", **ONE_PARTITION}),
        ("PreSignup", "dynamodb", "query", {"TableName": "{vault}", **ONE_PARTITION}),
        ("Api", "dynamodb", "delete_table", {"TableName": "{vault}"}),
        ("Api", "s3", "put_object", {"Bucket": "{blobs}", "Key": "x"}),
        ("Reindex", "sqs", "receive_message", {"QueueUrl": "{jobs}"}),
    ],
)
def test_a_function_is_denied_what_it_does_not_need(
    deployed: Cloud, role: str, service: str, call: str, asked: dict[str, Any]
) -> None:
    tables, queues = deployed.names("AWS::DynamoDB::GlobalTable"), deployed.names("AWS::SQS::Queue")
    names = {
        "{vault}": next(one for one in tables if "Vault" in one),
        "{grants}": next(one for one in tables if "Grants" in one),
        "{blobs}": deployed.names("AWS::S3::Bucket")[0],
        "{jobs}": next(one for one in queues if "StorageJobs" in one),
    }
    named = {key: names.get(str(value), value) for key, value in asked.items()}

    assert "AccessDenied" in deployed.as_role(role, service, call, named)


def test_a_function_may_do_what_it_needs(deployed: Cloud) -> None:
    (vault,) = (one for one in deployed.names("AWS::DynamoDB::GlobalTable") if "Vault" in one)

    asked = {"TableName": vault, **ONE_PARTITION}
    assert deployed.as_role("Worker", "dynamodb", "query", asked) == ""


def test_deployed_again_nothing_changes(deployed: Cloud, local_assembly: Path) -> None:
    assert "no changes" in deployed.cdk(
        "deploy", "--app", local_assembly, "--require-approval", "never"
    )
    deployed.cdk("diff", "--app", local_assembly, "--fail")


def test_another_choice_is_an_update_that_keeps_the_memories(
    deployed: Cloud, web: httpx.Client, token: str, tmp_path: Path
) -> None:
    agent = Agent(web, token)
    agent.call("remember", content="Ana plays the cello")
    other = for_this_machine(
        assembly(search="embedded", sign_in="passkey"), tmp_path / "cdk.out", LAYERS
    )

    deployed.cdk("deploy", "--app", other, "--require-approval", "never")

    assert deployed.names("AWS::OpenSearchServerless::Collection") == []
    (found,) = agent.call("recall", query="cello")["hits"]
    assert found["content"] == "Ana plays the cello"


@pytest.mark.usefixtures("chromium")
def test_the_owner_signs_in_by_a_code_when_that_was_chosen(deployed: Cloud) -> None:
    """After the update before."""

    async def run() -> None:
        async with browser.opened(deployed) as page:
            await page.goto("/auth/login?back=/api/owner")
            await browser.logs_in_by_code(page, ADDRESS)
            await page.wait_for_url("**/api/owner")
            assert await browser.whoami(page) == ADDRESS

    asyncio.run(run())


def test_taken_down_it_leaves_what_is_the_owners_and_says_so(deployed: Cloud, vault: Vault) -> None:
    tables = deployed.names("AWS::DynamoDB::GlobalTable")
    (bucket,) = deployed.names("AWS::S3::Bucket")

    told = deployed.make("destroy", "--force")

    assert "destroyed" in told
    assert "keeps the tables and the bucket, so all memories" in " ".join(told.split())
    assert set(tables) <= set(deployed.client("dynamodb").list_tables()["TableNames"])
    assert deployed.client("s3").head_bucket(Bucket=bucket)
    assert deployed.client("cognito-idp").list_user_pools(MaxResults=1)["UserPools"] == []
    assert deployed.client("lambda").list_functions()["Functions"] == []
    assert len(vault.memories.memories().items) > 10


@pytest.mark.usefixtures("chromium")
def test_a_later_deploy_uses_what_was_left_at_a_domain_of_ones_own(
    deployed: Cloud, owner: Door, vault: Vault, tmp_path: Path
) -> None:
    """The last test: nothing is there afterwards but the data."""
    old = deployed.client("dynamodb").list_tables()["TableNames"]
    names = {
        f"{kind.lower()}_table": next(one for one in old if f"Storage{kind}" in one)
        for kind in ("Vault", "Grants")
    }
    again = assembly(search="embedded", **DOMAIN, **names)
    here = for_this_machine(again, tmp_path / "cdk.out", LAYERS)
    deployed.cdk("deploy", "--app", here, "--require-approval", "never")

    scopes = frozenset({Scope.READ, Scope.WRITE, Scope.FORGET})
    script = create(owner.auth, "after a deploy", scopes, by="owner")
    passed(deployed, script.text)
    with opened(deployed) as web:
        found = web.get(
            "/api/recall?q=cello", headers={"authorization": f"Bearer {script.text}"}
        ).json()
    assert [one["content"] for one in found["data"]] == ["Ana plays the cello"]
    assert deployed.address() == f"https://{DOMAIN['domain']}"
    (api,) = deployed.client("apigatewayv2").get_apis()["Items"]
    own = f"https://{api['ApiId']}.execute-api.{REGION}.amazonaws.com"
    with opened(deployed, own) as by_its_own_name:
        assert by_its_own_name.get("/health").status_code == 404

    async def run() -> None:
        async with browser.opened(deployed) as page:
            await page.goto(deployed.outputs()["DashboardUrl"])
            await browser.logs_in(page, ADDRESS, FIRST_PASSWORD)
            await browser.chooses(page, PASSWORD)
            await page.get_by_role("heading", name="Your vault").wait_for()
            assert urlsplit(page.url).hostname == DOMAIN["domain"]

    asyncio.run(run())
    deployed.cdk("destroy", "--app", here, "--force")
    assert set(old) <= set(deployed.client("dynamodb").list_tables()["TableNames"])
    assert len(vault.memories.memories().items) > 10
    with pytest.raises(DeployFailed):
        deployed.cdk("diff", "--app", here, "--fail")
