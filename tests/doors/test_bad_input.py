"""What makes no sense is refused with a code and a sentence, and nothing of it is kept."""

import json
from collections.abc import Iterator

import httpx
import pytest

from tests.doors.conftest import PLACES, SECRET, error_of

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module", params=PLACES)
def place(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("x" * 8001, "8,001 characters"),
        ("", "empty"),
        (" \n\t ", "white space"),
        ("\u200b\u2060", "invisible"),
        ("a\x00b", "NUL"),
        ("a\x1bb", "control character"),
        ("a\x85b", "C1 control character"),
        ("e" + "\u0301" * 1000, "1,000 combining marks"),
    ],
    ids=lambda value: value if len(value) < 40 and value.isprintable() else "",
)
def test_text_that_cannot_be_kept_is_refused(empty: httpx.Client, content: str, why: str) -> None:
    error = error_of(empty.post("/api/memories", json={"content": content}), 400)

    assert (error["code"], error["param"]) == ("invalid", "content"), why


def test_8000_characters_are_taken(client: httpx.Client) -> None:
    answer = client.post("/api/memories", json={"content": " " + "x" * 8000 + "\n"})

    assert answer.status_code == 201


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b"{'content': 'x'}",
        b'{"content": NaN}',
        b"\xff\xfe\x00",
        b'{"content": "\xff"}',
        b"[" * 200_000,
        b'{"content":' * 100_000,
        b'{"content": ' + b"1" * 10_000 + b"}",
    ],
    ids=["nothing", "half", "null", "list", "string", "quotes", "nan", "utf-16", "latin-1",
         "deep-lists", "deep-objects", "long-number"],
)  # fmt: skip
@pytest.mark.parametrize("address", ["/api/memories", "/api/review", "/api/bulk"])
def test_a_body_that_is_no_json_object_is_refused(
    empty: httpx.Client, address: str, body: bytes
) -> None:
    answer = empty.post(address, content=body, headers=JSON)

    assert error_of(answer, 400)["code"] == "invalid"


@pytest.mark.parametrize("kind", ["text/html", "application/octet-stream", "nonsense", ""])
def test_a_kind_of_body_nobody_reads_is_refused(empty: httpx.Client, kind: str) -> None:
    answer = empty.post("/api/bulk", content="Drinks tea", headers={"Content-Type": kind})

    assert error_of(answer, 400)["param"] == "Content-Type"


def test_half_a_character_is_repaired(client: httpx.Client) -> None:
    body = b'{"content": "half \\ud800 here, whole \\ud83d\\ude00", "tags": ["\\udfff"]}'

    answer = client.post("/api/memories", content=body, headers=JSON)

    assert answer.json()["memory"]["content"] == "half \ufffd here, whole 😀"
    brought = b'{"items": ["other half \\udc00", {"content": "x", "tags": ["t\\ud800"]}]}'
    told = client.post("/api/bulk", content=brought, headers=JSON).json()
    assert (told["state"], told["stored"]) == ("done", 2)


@pytest.mark.parametrize("name", ["contents", "Content", "\\ud800", "a\\u0000"])
def test_half_a_character_in_a_name_is_no_fault_of_ours(empty: httpx.Client, name: str) -> None:
    body = f'{{"content": "Drinks tea", "{name}": 1}}'.encode()

    error_of(empty.post("/api/memories", content=body, headers=JSON), 400)


def chunks(size: int) -> Iterator[bytes]:
    yield b'{"content": "'
    for _ in range(size // 100_000):
        yield b"x" * 100_000
    yield b'"}'


@pytest.mark.parametrize("address", ["/api/memories", "/api/bulk", "/api/guide"])
def test_five_megabytes_are_too_many(empty: httpx.Client, address: str) -> None:
    method = "PUT" if address == "/api/guide" else "POST"
    body = json.dumps({"content": "x" * 5_000_000}).encode()

    announced = empty.request(method, address, content=body, headers=JSON)
    streamed = empty.request(method, address, content=chunks(5_000_000), headers=JSON)

    assert error_of(announced, 413)["code"] == "too_large"
    assert error_of(streamed, 413)["code"] == "too_large"


@pytest.mark.parametrize("length", ["-1", "abc", "1e3", "9" * 30])
def test_a_length_that_is_none_is_refused(empty: httpx.Client, length: str) -> None:
    answer = empty.post("/api/memories", content=b"{}", headers={**JSON, "Content-Length": length})

    assert answer.status_code in (400, 413)


def test_more_items_than_one_import_takes_are_refused(empty: httpx.Client) -> None:
    answer = empty.post("/api/bulk", json={"items": ["x"] * 20_001})

    assert error_of(answer, 413)["code"] == "too_large"


@pytest.mark.parametrize(
    "address",
    [
        "/api/memories",
        "/api/recall?q=tea",
        "/api/batches",
        "/api/guide/versions",
        "/api/exclusions",
        "/api/audit",
    ],
)
def test_a_limit_out_of_reach_is_refused(empty: httpx.Client, address: str) -> None:
    for limit in ("0", "-1", "1000000000", "9" * 40, "1.5", "many", ""):
        error = error_of(empty.get(f"{address}{'&' if '?' in address else '?'}limit={limit}"), 400)
        assert (error["code"], error["param"]) == ("invalid", "limit")


def test_a_limit_out_of_reach_is_refused_for_the_outcomes_of_an_import(
    client: httpx.Client,
) -> None:
    batch = client.post("/api/bulk", json={"items": ["Drinks tea"]}).json()["id"]

    assert error_of(client.get(f"/api/batches/{batch}?limit=0"), 400)["param"] == "limit"
    assert error_of(client.get(f"/api/batches/{batch}?cursor=x"), 400)["param"] == "cursor"


@pytest.mark.parametrize(
    "address",
    ["/api/memories", "/api/memories?status=active", "/api/batches", "/api/guide/versions",
     "/api/exclusions", "/api/audit"],
)  # fmt: skip
def test_a_cursor_of_somewhere_else_is_refused(client: httpx.Client, address: str) -> None:
    for n in range(3):
        client.post("/api/memories", json={"content": f"Fact {n}"}).raise_for_status()
    real = client.get("/api/memories?limit=1").json()["next"]
    other = "/api/audit?limit=1" if address == "/api/memories" else "/api/memories?limit=1"
    foreign = client.get(other).json()["next"]

    for cursor in (foreign, real[:-2] + "AA", "x", "é", "\x00", "A" * 5000, "../../etc"):
        error = error_of(
            client.get(address.split("?")[0], params={**_query(address), "cursor": cursor}), 400
        )
        assert (error["code"], error["param"]) == ("invalid", "cursor")


def _query(address: str) -> dict[str, str]:
    return dict(part.split("=") for part in address.partition("?")[2].split("&") if part)


UNKNOWN = ("mem_1a22cd42fd41f0c1d8d5a30", "x", "%00", "%20", "🙂", "a" * 3000, SECRET)


@pytest.mark.parametrize(
    ("method", "address", "body"),
    [
        ("GET", "/api/memories/{}", None),
        ("PATCH", "/api/memories/{}", {"content": "Drinks tea", "expected_revision": 1}),
        ("DELETE", "/api/memories/{}", None),
        ("POST", "/api/memories/{}/approve", None),
        ("POST", "/api/memories/{}/reject", None),
        ("POST", "/api/memories/{}/keep-both", None),
        ("POST", "/api/memories/{}/undo", None),
        ("POST", "/api/memories/{}/forget", None),
        ("GET", "/api/batches/{}", None),
        ("POST", "/api/batches/{}/undo", None),
        ("POST", "/api/batches/{}/cancel", None),
        ("DELETE", "/api/exclusions/{}", None),
        ("GET", "/api/memories?ids={}", None),
        ("GET", "/api/memories?batch_id={}", None),
    ],
)
def test_an_unknown_id_is_not_found(
    empty: httpx.Client, method: str, address: str, body: object
) -> None:
    for unknown in UNKNOWN:
        answer = empty.request(method, address.format(unknown), json=body)
        assert error_of(answer, 404)["code"] == "not_found"


def test_an_unknown_memory_is_not_superseded(empty: httpx.Client) -> None:
    for unknown in ("mem_1a22cd42fd41f0c1d8d5a30", "", "x" * 500):
        body = {"content": "Drinks tea", "supersedes": unknown}
        assert error_of(empty.post("/api/memories", json=body), 404)["code"] == "not_found"


@pytest.mark.parametrize(
    ("method", "address", "body"),
    [
        ("POST", "/api/memories", {"content": "Drinks tea", "tag": "x"}),
        ("PATCH", "/api/memories/mem_1", {"contents": "x"}),
        ("POST", "/api/memories/mem_1/approve", {"text": "x"}),
        ("POST", "/api/review", {"verb": "approve", "ids": ["mem_1"], "reason": "x"}),
        ("POST", "/api/bulk", {"items": ["Drinks tea"], "tags": ["x"]}),
        ("POST", "/api/bulk", {"items": [{"content": "Drinks tea", "tag": "x"}]}),
        ("PUT", "/api/guide", {"content": "x", "version": 1}),
        ("PUT", "/api/settings", {"mode": "auto"}),
    ],
)
def test_a_field_that_would_be_ignored_is_an_error(
    empty: httpx.Client, method: str, address: str, body: object
) -> None:
    error = error_of(empty.request(method, address, json=body), 400)

    assert error["code"] == "invalid"
    assert error["param"]


@pytest.mark.parametrize(
    ("method", "address"),
    [
        ("GET", "/api/memories?state=active"),
        ("GET", "/api/recall?q=tea&query=tea"),
        ("POST", "/api/memories/mem_1/approve?supersede=1"),
        ("POST", "/api/bulk?dry_run=1"),
        ("GET", "/api/audit/verify?deep=1"),
        ("DELETE", "/api/memories/mem_1?reason=x"),
        ("GET", "/health?verbose=1"),
    ],
)
def test_a_parameter_that_would_be_ignored_is_an_error(
    empty: httpx.Client, method: str, address: str
) -> None:
    error = error_of(empty.request(method, address), 400)

    assert (error["code"], error["param"]) == ("invalid", "query")


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "content"),
        ({"content": 5}, "content"),
        ({"content": None}, "content"),
        ({"content": ["x"]}, "content"),
        ({"content": "x", "type": "wish"}, "type"),
        ({"content": "x", "tags": "x"}, "tags"),
        ({"content": "x", "tags": [1]}, "tags[0]"),
        ({"content": "x", "tags": [""]}, "tags"),
        ({"content": "x", "tags": ["a", "b", "c", "d", "e", "f", "g", "h", "i"]}, "tags"),
        ({"content": "x", "source": "y" * 500}, "source"),
        ({"content": "x", "source_date": "30.11.2026"}, "source_date"),
        ({"content": "x", "source_date": "2026-02-30"}, "source_date"),
        ({"content": "x", "source_date": ""}, "source_date"),
        ({"content": "x", "source_date": 20261130}, "source_date"),
        ({"content": "x", "propose": "yes"}, "propose"),
        ({"content": "x", "propose": 1}, "propose"),
    ],
)
def test_a_field_of_the_wrong_form_is_named(
    empty: httpx.Client, body: dict[str, object], param: str
) -> None:
    error = error_of(empty.post("/api/memories", json=body), 400)

    assert (error["code"], error["param"]) == ("invalid", param)


@pytest.mark.parametrize(
    ("method", "address", "body", "param"),
    [
        ("GET", "/api/recall", None, "q"),
        ("GET", "/api/recall?q=", None, "query"),
        ("GET", "/api/recall?q=tea&since=yesterday", None, "since"),
        ("GET", "/api/recall?q=tea&since=2026-02-01&until=2026-01-01", None, "since"),
        ("GET", "/api/recall?q=tea&types=wish", None, "types[0]"),
        ("GET", "/api/recall?q=tea&preset=best", None, "preset"),
        ("GET", "/api/recall?q=tea&explain=maybe", None, "explain"),
        ("GET", "/api/memories?status=lost", None, "status"),
        ("POST", "/api/review", {"verb": "praise", "ids": ["mem_1"]}, "verb"),
        ("POST", "/api/review", {"verb": "approve", "ids": []}, "ids"),
        ("POST", "/api/review", {"verb": "approve", "ids": ["mem_1"] * 1001}, "ids"),
        ("POST", "/api/review", {"verb": "reject", "ids": ["mem_1"], "supersede_similar": True},
         "supersede_similar"),
        ("POST", "/api/bulk", {"items": []}, "items"),
        ("POST", "/api/bulk", {"items": ["x"], "text": "x"}, "items"),
        ("POST", "/api/bulk", {"items": [{"type": "fact"}]}, "items[0].content"),
        ("POST", "/api/bulk", {"items": ["x", 5]}, "items[1]"),
        ("PUT", "/api/settings", {"approval_mode": "never"}, "approval_mode"),
        ("PUT", "/api/settings", {"recall_limit": 0}, "recall_limit"),
        ("PUT", "/api/settings", {"keep_audit_days": -1}, "keep_audit_days"),
        ("PUT", "/api/settings", {"keep_rejected_days": 10**9}, "keep_rejected_days"),
        ("PUT", "/api/guide", {"content": " ", "expected_number": 0}, "content"),
        ("PUT", "/api/guide", {"content": "x" * 40_001, "expected_number": 0}, "content"),
        ("PUT", "/api/guide", {"content": "x"}, "If-Match"),
        ("PATCH", "/api/memories/mem_1", {"content": "x"}, "If-Match"),
        ("GET", "/api/guide/versions/-1", None, "number"),
        ("GET", "/api/guide/versions/first", None, "number"),
    ],
)  # fmt: skip
def test_a_part_that_makes_no_sense_is_named(
    empty: httpx.Client, method: str, address: str, body: object, param: str
) -> None:
    error = error_of(empty.request(method, address, json=body), 400)

    assert (error["code"], error["param"]) == ("invalid", param)


@pytest.mark.parametrize("tag", ["x", '"1", "2"', 'W/"1"', '"-1"', '"' + "9" * 40 + '"'])
def test_an_etag_that_is_none_is_refused(client: httpx.Client, tag: str) -> None:
    memory = client.post("/api/memories", json={"content": "Drinks tea"}).json()["memory"]

    answer = client.patch(
        f"/api/memories/{memory['id']}", json={"content": "Drinks milk"}, headers={"If-Match": tag}
    )

    assert error_of(answer, 400)["param"] == "If-Match"
    assert client.get(f"/api/memories/{memory['id']}").json() == memory


def test_an_edit_of_nothing_is_refused(client: httpx.Client) -> None:
    memory = client.post("/api/memories", json={"content": "Drinks tea"}).json()["memory"]

    for body in ({}, {"content": None}, {"expected_revision": 1}):
        error_of(client.patch(f"/api/memories/{memory['id']}", json=body), 400)
    assert client.get(f"/api/memories/{memory['id']}").json() == memory
