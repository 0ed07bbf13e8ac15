"""What looks like a credential is refused, kept nowhere and repeated nowhere."""

import logging
from pathlib import Path

import httpx
import pytest

from tests.doors.conftest import SECRET, error_of, held


@pytest.mark.parametrize(
    ("method", "address", "body", "status"),
    [
        ("POST", "/api/memories", {"content": f"My token is {SECRET}"}, 422),
        ("POST", "/api/memories", {"content": "My token", "source": SECRET}, 422),
        ("POST", "/api/memories", {"content": "My token", "tags": [SECRET]}, 422),
        ("POST", "/api/memories", {"content": "My token", "type": SECRET}, 400),
        ("POST", "/api/memories", {"content": "My token", "source_date": SECRET}, 400),
        ("POST", "/api/memories", {"content": "My token", "supersedes": SECRET}, 404),
        ("POST", "/api/memories", {"content": "My token", SECRET: 1}, 400),
        ("POST", "/api/review", {"verb": "approve", "ids": ["mem_1"], SECRET: 1}, 400),
        ("POST", "/api/bulk", {"items": [{"content": "My token", SECRET: 1}]}, 400),
        ("PUT", "/api/guide", {"content": f"The token is {SECRET}", "expected_number": 0}, 422),
        ("GET", f"/api/memories?status={SECRET}", None, 400),
        ("GET", f"/api/memories?cursor={SECRET}", None, 400),
        ("GET", f"/api/memories?{SECRET}=1", None, 400),
        ("GET", f"/{SECRET}", None, 404),
    ],
)
def test_a_refused_secret_is_neither_kept_nor_repeated(
    empty: httpx.Client,
    caplog: pytest.LogCaptureFixture,
    method: str,
    address: str,
    body: object,
    status: int,
) -> None:
    caplog.set_level(logging.DEBUG, "keeproom")

    answer = empty.request(method, address, json=body)

    error_of(answer, status)
    assert SECRET not in answer.text + str(answer.headers)
    logged = [one.getMessage() for one in caplog.records if one.name.startswith("keeproom")]
    assert logged
    assert SECRET.lower() not in "".join(logged).lower()


def test_an_edit_into_a_secret_leaves_the_memory_as_it_was(
    client: httpx.Client, tmp_path: Path
) -> None:
    memory = client.post("/api/memories", json={"content": "My token"}).json()["memory"]
    address = f"/api/memories/{memory['id']}"

    for method, where in (("PATCH", address), ("POST", f"{address}/approve")):
        secret = {"content": f"My token is {SECRET}", "expected_revision": 1}
        answer = client.request(method, where, json=secret)
        assert error_of(answer, 422)["code"] == "secret_like"
        assert SECRET not in answer.text
    assert client.get(address).json() == memory
    assert SECRET.encode() not in held(tmp_path)


def test_the_secret_of_an_import_is_written_down_nowhere(
    client: httpx.Client, tmp_path: Path
) -> None:
    answer = client.post("/api/bulk", json={"items": ["Drinks tea", f"My token is {SECRET}"]})

    assert answer.json()["outcomes"]["data"][1]["reason"] == "secret_like"
    assert SECRET not in answer.text
    assert SECRET.encode() not in held(tmp_path)
