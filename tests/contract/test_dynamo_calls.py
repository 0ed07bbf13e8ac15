"""How the table speaks to DynamoDB: in portions, patiently, and never twice by accident."""

from collections.abc import Sequence
from typing import Any

import pytest
from botocore.exceptions import ClientError  # pyright: ignore[reportMissingTypeStubs]

from keeproom.aws.memory_store import DynamoTable
from keeproom.engines.item_store.table import Absent, Busy, Check, Failed, Item, Same, Write
from tests.dynamo.paper import PaperClient, Raw, refusal
from tests.dynamo.weather import cancelled


def items(count: int) -> list[Item]:
    return [{"pk": "V#v#G#g", "sk": f"M#{n:03}", "n": n, "data": bytes([n])} for n in range(count)]


def keys(of: Sequence[Item]) -> list[tuple[str, str]]:
    return [(str(item["pk"]), str(item["sk"])) for item in of]


def test_answers_in_portions_are_put_together() -> None:
    table, kept = DynamoTable(PaperClient(portion=7), "vault"), items(20)
    table.load(kept)

    assert list(table.get([*keys(kept), *keys(kept)]).values()) == kept
    page = table.page("V#v#G#g", "M#", after="", limit=12)
    assert (list(page.items), page.more) == (kept[:12], True)
    page = table.page("V#v#G#g", "M#", after="M#015", limit=12, newest=True)
    assert (list(page.items), page.more) == (kept[14:2:-1], True)
    table.drop(keys(kept))
    assert table.get(keys(kept)) == {}


def test_the_failed_steps_are_named() -> None:
    table, (one, two, three) = DynamoTable(PaperClient(), "vault"), items(3)
    table.load([two])
    steps = [Write(one, Absent()), Write(two, Absent()), Check(keys([three])[0], Same({"n": 1}))]

    with pytest.raises(Failed) as told:
        table.transact(steps)
    assert told.value.places == {1, 2}
    assert table.get(keys([one])) == {}


class Scripted(PaperClient):
    """Answers with these errors first."""

    def __init__(self, *errors: Exception) -> None:
        super().__init__()
        self._errors = list(errors)
        self.tokens: list[str] = []

    def transact_write_items(self, **request: Any) -> Raw:
        self.tokens.append(request["ClientRequestToken"])
        if self._errors:
            raise self._errors.pop(0)
        return super().transact_write_items(**request)


BROKEN = refusal("TransactWriteItems", "InternalServerError", status=500)
CONFLICT = cancelled("TransactionConflict", [True])
THROTTLED = cancelled("ThrottlingError", [True])
IN_PROGRESS = refusal("TransactWriteItems", "TransactionInProgressException")


def test_a_conflict_is_told_at_once() -> None:
    client = Scripted(CONFLICT)

    with pytest.raises(Busy):
        DynamoTable(client, "vault").transact([Write(items(1)[0])])
    assert len(client.tokens) == 1


def test_a_conflict_with_a_try_in_doubt_is_no_answer() -> None:
    client = Scripted(BROKEN, CONFLICT, IN_PROGRESS, THROTTLED)
    table, (item,) = DynamoTable(client, "vault"), items(1)
    table.transact([Write(item)])

    assert table.get(keys([item])) == {keys([item])[0]: item}
    assert len(client.tokens) == 5
    assert len(set(client.tokens)) == 1, "one payload, one token"


def test_another_payload_has_another_token() -> None:
    client = Scripted()
    table, (item,) = DynamoTable(client, "vault"), items(1)
    table.transact([Write(item)])
    table.transact([Write(item)])

    assert len(set(client.tokens)) == 2


@pytest.mark.parametrize(
    "error",
    [
        refusal("TransactWriteItems", "AccessDeniedException"),
        refusal("TransactWriteItems", "ValidationException"),
        cancelled("ValidationError", [True]),
    ],
    ids=["denied", "invalid", "cancelled as invalid"],
)
def test_what_will_never_work_is_not_tried_again(error: Exception) -> None:
    client = Scripted(error)

    with pytest.raises(ClientError):
        DynamoTable(client, "vault").transact([Write(items(1)[0])])
    assert len(client.tokens) == 1


def test_every_kind_of_item_has_a_partition_of_its_own() -> None:
    table = DynamoTable(PaperClient(), "vault")
    table.load(
        [{"pk": "V#v", "sk": "HEAD"}, {"pk": "V#v", "sk": "B#1"}, {"pk": "V#v", "sk": "BM#1#2"}]
    )

    assert [item["sk"] for item in table.page("V#v", "B#", after="", limit=9).items] == ["B#1"]
    assert table.get([("V#v", "HEAD")]) == {("V#v", "HEAD"): {"pk": "V#v", "sk": "HEAD"}}
