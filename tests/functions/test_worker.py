"""Messages of a queue, as SQS delivers them: twice, in any order, some of them in vain."""

import uuid
from pathlib import Path
from typing import Any, cast

import pytest

from keeproom.clock import tries
from keeproom.errors import Unavailable
from keeproom.vault import imports, listing
from keeproom.vault.batch import BatchState, ImportItem
from keeproom.vault.listing import Listed
from keeproom.vault.model import OWNER
from keeproom.vault.vault import Vault
from keeproom.vault.work import INDEX, import_of, message_of, task_of
from tests.dynamo import emulator
from tests.functions.container import container
from tests.functions.place import KEYS, Cloud
from tests.sqs import MOST_RECEIVED, new_queue


def messages(*bodies: str) -> dict[str, Any]:
    return {
        "Records": [
            {
                "messageId": str(uuid.uuid4()),
                "receiptHandle": "handle",
                "body": body,
                "attributes": {"ApproximateReceiveCount": "1"},
                "messageAttributes": {},
                "md5OfBody": "",
                "eventSource": "aws:sqs",
                "eventSourceARN": "arn:aws:sqs:eu-west-1:123456789012:jobs",
                "awsRegion": "eu-west-1",
            }
            for body in bodies
        ]
    }


def begun(vault: Vault, word: str, count: int = 5) -> str:
    items = [ImportItem(content=f"Ana has read {word} number {n}") for n in range(count)]
    return message_of(import_of(imports.begin(vault, items, by=OWNER).id))


def contents(vault: Vault, word: str) -> list[str]:
    page = listing.memories(vault, Listed(), limit=200)
    return sorted(one.content for one in page.items if word in one.content)


def test_messages_that_come_twice_and_out_of_order_store_each_text_once(
    cloud: Cloud, vault: Vault, folder: Path
) -> None:
    first, second = begun(vault, "poems"), begun(vault, "novels")

    with container("worker", folder, cloud.environment) as worker:
        for event in (messages(second, first), messages(first), messages(second, second)):
            assert worker.invoke(event) == {"batchItemFailures": []}

    for message, word in ((first, "poems"), (second, "novels")):
        assert imports.found(vault, task_of(message).id).state is BatchState.DONE
        assert len(contents(vault, word)) == 5


def test_nothing_is_begun_in_the_last_ten_seconds(cloud: Cloud, vault: Vault, folder: Path) -> None:
    batch = begun(vault, "letters")

    with container("worker", folder, cloud.environment) as worker:
        assert worker.invoke(messages(batch), seconds=9.9) == {"batchItemFailures": []}
        assert contents(vault, "letters") == []
        worker.invoke(messages(batch), seconds=60)

    assert len(contents(vault, "letters")) == 5


def test_a_message_in_vain_is_named_alone_and_told_without_content(
    cloud: Cloud, folder: Path
) -> None:
    table = emulator.new_table(cloud.client)
    event = messages("a secret word")

    with container("worker", folder, {**cloud.environment, "VAULT_TABLE": table}) as worker:
        assert worker.invoke(messages(message_of(INDEX))) == {"batchItemFailures": []}
        cast("Any", cloud.client).delete_table(TableName=table)
        told = worker.invoke(event, seconds=60)
        log = worker.log

    failed = [one["itemIdentifier"] for one in told["batchItemFailures"]]
    assert failed == [event["Records"][0]["messageId"]]
    assert "message failed error=" in log
    assert "secret word" not in log


def test_a_poisoned_message_fails_alone_and_is_put_aside_for_good(
    cloud: Cloud, vault: Vault, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    queue = new_queue(cloud.environment["AWS_ENDPOINT_URL"])
    told = {**cloud.environment, "JOBS_QUEUE_URL": queue.url}
    batch, poison = begun(vault, "riddles"), '{"kind": "secret word", "id": "bat_1"}'

    with container("worker", folder, told) as worker:
        event = messages(batch, poison)
        failed = worker.invoke(event, seconds=60)["batchItemFailures"]
        assert failed == [{"itemIdentifier": event["Records"][1]["messageId"]}]
        assert len(contents(vault, "riddles")) == 5
        queue.send(poison)
        queue.send(batch)
        tries_made = 0

        def function(body: str) -> None:
            nonlocal tries_made
            tries_made += body == poison
            if worker.invoke(messages(body), seconds=60)["batchItemFailures"]:
                raise Unavailable("It failed.")

        aside = next(found for _ in tries(60.0) if queue.bring(function) == 0
                     and (found := queue.bodies_aside()))  # fmt: skip
        assert "secret word" not in worker.log

    assert (aside, tries_made) == ([poison], MOST_RECEIVED)
    assert len(contents(vault, "riddles")) == 5


def test_reindex_goes_on_with_what_no_message_tells_of(
    cloud: Cloud, vault: Vault, folder: Path
) -> None:
    begun(vault, "plays")

    with container("reindex", folder, cloud.environment) as reindex:
        assert reindex.invoke({}, seconds=60)["done"]
        assert '"IndexLag"' in reindex.log

    assert len(contents(vault, "plays")) == 5
