"""Who is taken for the owner: whoever sits at this machine, and no web page of another site."""

from collections.abc import Iterator

import httpx
import pytest

from keeproom.vault.vault import Vault
from tests.applications import OWNER, application
from tests.doors.conftest import client_in
from tests.http import client_of

ELSEWHERE = "https://evil.example"


@pytest.fixture(scope="module")
def holding(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """One memory that another site would like to read, change or remove."""
    with client_in(tmp_path_factory.mktemp("holding")) as client:
        client.post("/api/memories", json={"content": "Owes Bo 20 euros"}).raise_for_status()
        yield client


def refused(answer: httpx.Response) -> bool:
    """With the one form of an error, nothing of the vault, and no leave to read even that."""
    is_refused = answer.status_code == 403
    if is_refused:
        assert answer.json()["error"]["code"] == "forbidden"
        assert "Owes" not in answer.text
    assert not [name for name in answer.headers if name.startswith("access-control")]
    return is_refused


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:8787", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:8787", "[::1]:8787"],
)
def test_this_machine_is_reached_by_its_own_names(holding: httpx.Client, host: str) -> None:
    assert holding.get("/api/memories", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8787",
        "localhost.evil.example",
        "localhost@evil.example",
        "evil.example@localhost",
        "127.0.0.1.evil.example",
        "localhost:8787.evil.example",
        "192.168.1.5:8787",
        "0.0.0.0:8787",
        "127.1",
        "",
    ],
)
def test_a_name_that_was_bound_to_this_machine_opens_nothing(
    holding: httpx.Client, host: str
) -> None:
    assert refused(holding.get("/api/memories", headers={"Host": host}))


def test_two_hosts_are_none(holding: httpx.Client) -> None:
    headers = [("Host", "localhost:8787"), ("Host", "evil.example")]

    assert refused(holding.get("/api/memories", headers=headers))


METHODS = pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
OURS = "http://localhost:8787"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": OURS},
        {"Origin": OURS, "Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
    ],
)
@METHODS
def test_the_vaults_own_pages_and_programs_here_are_the_owners(
    holding: httpx.Client, method: str, headers: dict[str, str]
) -> None:
    assert not refused(holding.request(method, "/api/memories", headers=headers))


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": ELSEWHERE},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "http://localhost:3000"},
        {"Origin": "http://localhost"},
        {"Origin": "https://localhost:8787"},
        {"Origin": "http://127.0.0.1:8787"},
        {"Origin": f"{OURS}.evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": OURS, "Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-origin, cross-site"},
    ],
)
@METHODS
def test_pages_of_other_sites_are_not(
    holding: httpx.Client, method: str, headers: dict[str, str]
) -> None:
    assert refused(holding.request(method, "/api/memories", headers=headers))


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
@pytest.mark.parametrize("address", ["/api/bulk", "/api/memories", "/api/review"])
def test_a_form_on_another_site_changes_nothing(
    holding: httpx.Client, address: str, kind: str
) -> None:
    answer = holding.post(
        address,
        content='{"content": "Pay Eve", "items": ["Pay Eve"]}',
        headers={"Content-Type": kind, "Origin": ELSEWHERE, "Sec-Fetch-Site": "cross-site"},
    )

    assert refused(answer)
    assert len(holding.get("/api/memories").json()["data"]) == 1


def test_a_preflight_from_another_site_gets_no_leave(holding: httpx.Client) -> None:
    answer = holding.options(
        "/api/memories", headers={"Origin": ELSEWHERE, "Access-Control-Request-Method": "PATCH"}
    )

    assert refused(answer)


@pytest.mark.parametrize("name", ["X-Forwarded-For", "X-Forwarded-Host", "Forwarded"])
def test_a_tunnel_to_this_machine_opens_nothing(holding: httpx.Client, name: str) -> None:
    assert refused(holding.get("/api/memories", headers={name: "for=203.0.113.9"}))


@pytest.mark.parametrize("peer", ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
def test_this_machine_is_told_by_its_address(vault: Vault, peer: str) -> None:
    with client_of(application(vault), peer=(peer, 50_000)) as client:
        assert client.get("/api/memories").status_code == 200


@pytest.mark.parametrize("peer", ["192.168.1.9", "::ffff:192.168.1.9", "fe80::1%eth0", "somewhere"])
def test_another_machine_cannot_say_it_is_this_one(vault: Vault, peer: str) -> None:
    with client_of(application(vault), peer=(peer, 50_000)) as client:
        assert refused(client.get("/api/memories"))


@pytest.fixture(
    params=[
        {"owner": ""},
        {"owner": OWNER, "public_url": "https://vault.example"},
        {"owner": OWNER, "public_url": "http://localhost.evil.example"},
    ]
)
def closed(vault: Vault, request: pytest.FixtureRequest) -> Iterator[httpx.Client]:
    with client_of(application(vault, **request.param)) as client:
        yield client


@pytest.mark.parametrize(
    "address", ["/api/memories", "/api/openapi.json", "/api/unknown", "/api", "/%61pi/memories"]
)
def test_nobody_is_the_owner_where_no_local_owner_may_be(
    closed: httpx.Client, address: str
) -> None:
    assert refused(closed.get(address))
    assert closed.get("/health").json() == {"status": "ok"}


def test_a_loopback_public_address_keeps_the_local_owner(vault: Vault) -> None:
    app = application(vault, public_url="http://127.0.0.1:9000")
    with client_of(app) as client:
        assert client.get("/api/memories").status_code == 200


def test_every_answer_carries_the_security_headers(vault: Vault, client: httpx.Client) -> None:
    answers = [
        client.get("/health"),
        client.get("/api/memories"),
        client.get("/nowhere"),
        client.get("/api/memories", headers={"Host": "evil.example"}),
        client.post("/api/memories", json={}),
        client.post("/api/memories", content=b"x" * 5_000_000),
    ]

    assert [one.status_code for one in answers] == [200, 200, 404, 403, 400, 413]
    for answer in answers:
        headers = answer.headers
        assert headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"
        assert "Strict-Transport-Security" not in headers
    with client_of(application(vault, owner="", public_url="https://vault.example")) as public:
        assert "max-age" in public.get("/health").headers["Strict-Transport-Security"]
