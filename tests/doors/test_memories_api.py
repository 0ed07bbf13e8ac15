"""`/api/memories` and the review, as the owner has them."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.doors.conftest import PLACES


@pytest.fixture(scope="module", params=PLACES)
def place(request: pytest.FixtureRequest) -> str:
    return request.param


def proposed(client: httpx.Client, content: str, **fields: object) -> dict[str, Any]:
    return remembered(client, content, propose=True, **fields)


def remembered(client: httpx.Client, content: str, **fields: object) -> dict[str, Any]:
    answer = client.post("/api/memories", json={"content": content, **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()["memory"]


def contents(client: httpx.Client, **query: Any) -> list[str]:
    return [one["content"] for one in client.get("/api/memories", params=query).json()["data"]]


def test_a_memory_is_answered_with_everything_that_is_known(client: httpx.Client) -> None:
    answer = client.post(
        "/api/memories",
        json={
            "content": "  Ana is allergic to hazelnuts \n",
            "type": "fact",
            "source": "kitchen talk",
            "source_date": "2026-11-17",
            "tags": ["Food", "food", "health"],
        },
    )

    memory = answer.json()["memory"]
    assert (answer.status_code, answer.json()["outcome"]) == (201, "stored")
    assert answer.headers["Location"] == f"/api/memories/{memory['id']}"
    assert answer.headers["ETag"] == '"1"'
    assert memory["content"] == "Ana is allergic to hazelnuts"
    assert (memory["type"], memory["source"]) == ("fact", "kitchen talk")
    assert (memory["source_date"], memory["tags"]) == ("2026-11-17", ["food", "health"])
    assert (memory["status"], memory["actor"], memory["revision"]) == ("active", "owner", 1)
    assert len(memory["created_at"]) == 24
    assert memory["created_at"].endswith("Z")
    assert client.get(f"/api/memories/{memory['id']}").json() == memory


def test_what_is_known_already_is_not_stored_again(client: httpx.Client) -> None:
    first = remembered(client, "Drinks tea")

    again = client.post("/api/memories", json={"content": "drinks   TEA"})

    assert (again.status_code, again.json()["outcome"]) == (200, "duplicate")
    assert again.json()["memory"]["id"] == first["id"]
    assert contents(client) == ["Drinks tea"]


def test_a_repeated_key_gives_the_first_answer_and_another_request_is_refused(
    client: httpx.Client,
) -> None:
    headers = {"Idempotency-Key": "one"}
    first = client.post("/api/memories", json={"content": "Drinks tea"}, headers=headers)
    again = client.post("/api/memories", json={"content": "Drinks tea"}, headers=headers)
    other = client.post("/api/memories", json={"content": "Drinks milk"}, headers=headers)

    assert (again.status_code, again.json()) == (201, first.json())
    assert (other.status_code, other.json()["error"]["code"]) == (422, "request_id_reused")
    assert contents(client) == ["Drinks tea"]


def test_auto_mode_takes_effect_at_once_unless_it_is_proposed(auto: httpx.Client) -> None:
    old = remembered(auto, "Lives in Utrecht")
    new = remembered(auto, "Lives in Zwolle", supersedes=old["id"])
    waiting = remembered(auto, "Wants to live in Assen", propose=True)

    was = auto.get(f"/api/memories/{old['id']}").json()
    assert (was["status"], was["superseded_by"]) == ("superseded", new["id"])
    assert was["superseded_at"] is not None
    assert (new["status"], new["supersedes"]) == ("active", old["id"])
    assert waiting["status"] == "proposed"


def test_an_edit_keeps_the_earlier_text_and_can_be_undone(client: httpx.Client) -> None:
    memory = remembered(client, "Plays the violin", source_date="2020-01-01")
    address = f"/api/memories/{memory['id']}"

    edited = client.patch(
        address,
        json={"content": "Plays the viola", "source_date": None, "tags": ["music"]},
        headers={"If-Match": '"1"'},
    )

    assert (edited.status_code, edited.headers["ETag"]) == (200, '"2"')
    now = edited.json()
    assert (now["content"], now["source_date"], now["tags"]) == ("Plays the viola", None, ["music"])
    assert [one["content"] for one in now["history"]] == ["Plays the violin"]
    back = client.post(f"{address}/undo").json()
    assert (back["content"], back["revision"]) == ("Plays the violin", 3)


def test_a_stale_edit_is_told_what_is_there_now(client: httpx.Client) -> None:
    memory = remembered(client, "Plays the violin")
    address = f"/api/memories/{memory['id']}"
    client.patch(address, json={"content": "Plays the viola", "expected_revision": 1})

    by_header = client.patch(address, json={"type": "fact"}, headers={"If-Match": '"1"'})
    by_body = client.patch(address, json={"type": "fact", "expected_revision": 1})

    for answer in (by_header, by_body):
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (409, "conflict")
        assert error["current"] == client.get(address).json()
        assert error["current"]["content"] == "Plays the viola"


def test_an_edit_into_another_memory_names_it(client: httpx.Client) -> None:
    tea, milk = remembered(client, "Drinks tea"), remembered(client, "Drinks milk")

    answer = client.patch(
        f"/api/memories/{milk['id']}", json={"content": "drinks tea", "expected_revision": 1}
    )

    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["memory_id"]) == (409, "duplicate", tea["id"])


def test_a_forgotten_text_is_gone_and_kept_out_until_its_exclusion_is_lifted(
    client: httpx.Client,
) -> None:
    memory = remembered(client, "Owes Bo 20 euros")
    address = f"/api/memories/{memory['id']}"

    assert client.delete(address).status_code == 204
    assert client.get(address).status_code == 404
    assert client.delete(address).status_code == 404
    refused = client.post("/api/memories", json={"content": "owes bo 20 EUROS"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "excluded")
    kept_out = client.get("/api/exclusions").json()["data"]
    assert [(one["identity"], one["by"]) for one in kept_out] == [(memory["identity"], "owner")]
    assert client.delete(f"/api/exclusions/{memory['identity']}").status_code == 204
    assert client.get("/api/exclusions").json() == {"data": [], "next": None}
    remembered(client, "Owes Bo 20 euros")


def test_a_proposal_is_approved_with_another_text_and_replaces_what_it_contradicts(
    client: httpx.Client,
) -> None:
    old = proposed(client, "Meets Jo on Tuesdays at 17:30 in the old library")
    client.post(f"/api/memories/{old['id']}/approve")
    new = proposed(client, "Meets Jo on Tuesdays at 18:30 in the old library")
    assert new["conflicts_with"] == [old["id"]]

    approved = client.post(
        f"/api/memories/{new['id']}/approve?supersede_similar=1",
        json={"content": "Meets Jo on Tuesdays at 18:45 in the old library"},
        headers={"If-Match": '"1"'},
    )

    now = approved.json()
    assert approved.headers["ETag"] == '"2"'
    assert (now["status"], now["review"]["decision"]) == ("active", "approved")
    assert now["content"].endswith("18:45 in the old library")
    assert client.get(f"/api/memories/{old['id']}").json()["superseded_by"] == new["id"]
    assert client.post(f"/api/memories/{new['id']}/undo").json()["status"] == "proposed"
    assert client.get(f"/api/memories/{old['id']}").json()["status"] == "active"


def test_an_approval_of_another_revision_than_was_seen_is_refused(client: httpx.Client) -> None:
    memory = proposed(client, "Plays the violin")
    address = f"/api/memories/{memory['id']}"
    client.patch(address, json={"content": "Plays the drums"}, headers={"If-Match": "*"})

    answer = client.post(f"{address}/approve", headers={"If-Match": '"1"'})

    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "conflict")
    assert answer.json()["error"]["current"]["content"] == "Plays the drums"
    assert client.get(address).json()["status"] == "proposed"


def test_a_rejected_text_stays_out_until_the_rejection_is_undone(client: httpx.Client) -> None:
    memory = proposed(client, "Hates mornings")
    address = f"/api/memories/{memory['id']}"

    assert client.post(f"{address}/reject").json()["status"] == "rejected"
    refused = client.post("/api/memories", json={"content": "Hates mornings"})
    assert refused.json()["error"]["code"] == "excluded"
    assert client.post(f"{address}/undo").json()["status"] == "proposed"
    assert client.get("/api/exclusions").json()["data"] == []


def test_keeping_both_settles_a_conflict(client: httpx.Client) -> None:
    old = remembered(client, "Meets Jo on Tuesdays at 17:30 in the old library")
    client.post(f"/api/memories/{old['id']}/approve")
    new = remembered(client, "Meets Jo on Tuesdays at 18:30 in the old library")

    kept = client.post(f"/api/memories/{new['id']}/keep-both").json()

    assert (kept["status"], kept["conflicts_with"]) == ("active", [])
    assert client.get(f"/api/memories/{old['id']}").json()["status"] == "active"


def test_a_decision_is_made_once_and_its_retry_told_the_same(client: httpx.Client) -> None:
    memory = proposed(client, "Hates mornings")
    address = f"/api/memories/{memory['id']}/approve"

    first = client.post(address, headers={"Idempotency-Key": "k"})
    retried = client.post(address, headers={"Idempotency-Key": "k"})
    again = client.post(address)

    assert (retried.status_code, retried.json()) == (200, first.json())
    assert (again.status_code, again.json()["error"]["code"]) == (422, "wrong_state")


def test_many_are_decided_at_once_and_each_is_told(client: httpx.Client) -> None:
    ids = [proposed(client, f"Fact number {n}")["id"] for n in range(3)]
    client.post(f"/api/memories/{ids[0]}/approve")

    answer = client.post("/api/review", json={"verb": "approve", "ids": [*ids, "mem_unknown"]})

    told = answer.json()
    assert (told["done"], told["failed"]) == (2, 2)
    assert [one["id"] for one in told["data"]] == [*ids, "mem_unknown"]
    codes = [one["error"] and one["error"]["code"] for one in told["data"]]
    assert codes == ["wrong_state", None, None, "not_found"]
    assert told["data"][1]["memory"]["status"] == "active"
    gone = client.post("/api/review", json={"verb": "forget", "ids": ids}).json()
    assert (gone["done"], gone["data"][0]["memory"]) == (3, None)
    assert contents(client) == []


def test_many_decisions_are_retried_safely(client: httpx.Client) -> None:
    ids = [proposed(client, f"Fact number {n}")["id"] for n in range(2)]
    order = {"verb": "approve", "ids": ids}

    first = client.post("/api/review", json=order, headers={"Idempotency-Key": "k"}).json()
    again = client.post("/api/review", json=order, headers={"Idempotency-Key": "k"}).json()

    assert (again["done"], again) == (2, first)


def test_lists_are_filtered_and_paged_to_the_end(client: httpx.Client) -> None:
    for n in range(7):
        proposed(client, f"Fact number {n}", tags=["odd" if n % 2 else "even"], type="fact")
    approved = client.get("/api/memories", params={"limit": 1}).json()["data"][0]["id"]
    client.post(f"/api/memories/{approved}/approve")

    found: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = client.get("/api/memories", params={"limit": 3, "cursor": cursor}).json()
        found += [one["content"] for one in page["data"]]
        cursor = page["next"]

    assert found == [f"Fact number {n}" for n in range(7)]
    assert contents(client, tags=["ODD"]) == [f"Fact number {n}" for n in (1, 3, 5)]
    assert contents(client, status="active") == ["Fact number 0"]
    assert contents(client, type="event") == []


def test_ids_are_read_whole_in_the_order_asked_for(client: httpx.Client) -> None:
    ids = [remembered(client, f"Fact number {n}")["id"] for n in range(3)]

    assert contents(client, ids=[ids[2], ids[0]]) == ["Fact number 2", "Fact number 0"]
    unknown = client.get("/api/memories", params={"ids": [ids[0], "mem_unknown"]})
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "not_found")
    assert client.get("/api/memories", params={"ids": ids, "status": "active"}).status_code == 400


def test_characters_nobody_sees_are_kept_and_shown(client: httpx.Client) -> None:
    memory = remembered(client, "Pay\u202e Bo fa\u200bst")

    assert memory["content"] == "Pay\u202e Bo fa\u200bst"
    flags = [(one["position"], one["code_point"]) for one in memory["hidden_characters"]]
    assert flags == [(3, "U+202E"), (10, "U+200B")]


def test_threads_that_say_one_thing_make_one_memory(client: httpx.Client) -> None:
    def say(n: int) -> httpx.Response:
        return client.post("/api/memories", json={"content": f"Fact {n // 4}"})

    with ThreadPoolExecutor(8) as threads:
        told = list(threads.map(say, range(16)))

    assert sorted(one.status_code for one in told) == [200] * 12 + [201] * 4
    assert sorted(contents(client)) == [f"Fact {n}" for n in range(4)]


def test_sixty_four_writers_at_once_lose_and_double_nothing(client: httpx.Client) -> None:
    def say(n: int) -> httpx.Response:
        key = {"Idempotency-Key": f"key-{n}"}
        return client.post("/api/memories", json={"content": f"Fact {n}"}, headers=key)

    def say_the_same(_: int) -> httpx.Response:
        return client.post("/api/memories", json={"content": "The same fact"})

    with ThreadPoolExecutor(64) as threads:
        told = list(threads.map(say, range(64)))
        again = list(threads.map(say, range(64)))
        same = list(threads.map(say_the_same, range(64)))

    assert [one.status_code for one in told] == [201] * 64
    assert [one.json() for one in again] == [one.json() for one in told]
    assert sorted(one.status_code for one in same) == [200] * 63 + [201]
    texts = [*(f"Fact {n}" for n in range(64)), "The same fact"]
    assert sorted(contents(client, limit=100)) == sorted(texts)
    assert client.get("/api/audit/verify").json()["intact"]


def test_a_memory_that_would_outgrow_its_place_is_refused_and_stays_as_it_was(
    client: httpx.Client,
) -> None:
    """DynamoDB takes 400 KB an item, and every earlier text is kept in it."""
    memory = remembered(client, "a note of its own length")
    address = f"/api/memories/{memory['id']}"

    def longest(n: int) -> str:
        return f"{n:02}" + "\U0001f41d" * 7_998

    def edited(n: int) -> httpx.Response:
        headers = {"If-Match": f'"{n + 1}"'}
        return client.patch(address, json={"content": longest(n)}, headers=headers)

    answers = [edited(n) for n in range(11)]

    assert [one.status_code for one in answers] == [200] * 10 + [422]
    assert answers[-1].json()["error"]["code"] == "refused"
    assert client.get(address).json()["content"] == longest(9)
    new = remembered(client, longest(12), supersedes=memory["id"])  # as the answer says
    assert contents(client, status="active") == [longest(12)]
    assert client.get(address).json()["superseded_by"] == new["id"]


def test_only_the_personal_vault_exists(client: httpx.Client) -> None:
    here = client.get("/api/memories", headers={"Keeproom-Vault": "personal"})
    by_header = client.get("/api/memories", headers={"Keeproom-Vault": "work"})
    by_query = client.post("/api/memories?vault=work", json={"content": "x"})

    assert here.status_code == 200
    for answer in (by_header, by_query):
        assert (answer.status_code, answer.json()["error"]["param"]) == (404, "vault")
    assert contents(client, vault="personal") == []
