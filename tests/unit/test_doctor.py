"""The doctor names the step at which an app would fail, and why."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from keeproom.engines.doctor.callback import listening
from keeproom.engines.doctor.examine import examine, http_client, mcp_address
from keeproom.engines.doctor.target import Finding, Health, Target, Visit
from tests.faulty_vault import ADDRESS, MCP, REDIRECT, SERVED, FaultyVault, Told, approving

STEPS = [
    "challenge",
    "resource metadata",
    "server metadata",
    "registration",
    "approval",
    "token",
    "first call",
    "revocation",
]
RESOURCE_AT = "GET /.well-known/oauth-protected-resource/mcp"
SERVER_AT = "GET /.well-known/oauth-authorization-server"
PAGE = Told(text="<!doctype html><title>Sign in</title>", headers={"Content-Type": "text/html"})


def findings(vault: FaultyVault, visit: Visit | None = None) -> list[Finding]:
    with http_client(vault) as http:
        target = Target(mcp=MCP, http=http, redirect=REDIRECT, visit=visit or approving())
        return list(examine(target))


def last(vault: FaultyVault, visit: Visit | None = None) -> Finding:
    """The step at which it ended, every step before it having been taken."""
    found = findings(vault, visit)
    assert [one.step for one in found] == STEPS[: len(found)]
    return found[-1]


def test_a_healthy_vault_is_well_at_every_step_and_keeps_no_grant() -> None:
    vault = FaultyVault()

    found = findings(vault)

    assert [one.step for one in found] == STEPS
    assert {one.health for one in found} == {Health.OK}
    assert vault.revoked == ["rt"]


SICK: list[tuple[str, str, Told, str]] = [
    ("challenge", "POST /mcp", Told(status=200), "without a token"),
    ("challenge", "POST /mcp", Told(status=403), "firewall"),
    ("challenge", "POST /mcp", Told(status=404), "leads elsewhere"),
    ("challenge", "POST /mcp", Told(status=405), "does not take POST"),
    ("challenge", "POST /mcp", Told(status=421), "host name"),
    ("challenge", "POST /mcp", Told(status=502), "does not reach"),
    ("challenge", "POST /mcp", Told(status=500), "The vault failed"),
    (
        "challenge",
        "POST /mcp",
        Told(status=307, headers={"Location": "https://www.example.org/mcp"}),
        "lose their token",
    ),
    ("resource metadata", RESOURCE_AT, Told(status=404), "leads elsewhere"),
    ("resource metadata", RESOURCE_AT, PAGE, "sign-in wall"),
    (
        "resource metadata",
        RESOURCE_AT,
        Told(content={"resource": "http://10.0.0.7:8787/mcp"}),
        "PUBLIC_URL",
    ),
    ("resource metadata", RESOURCE_AT, Told(content={"resource": MCP}), "authorization_servers"),
    ("server metadata", SERVER_AT, Told(status=401), "answers in its place"),
    ("server metadata", SERVER_AT, PAGE, "sign-in wall"),
    ("server metadata", SERVER_AT, Told(content={**SERVED, "issuer": f"{ADDRESS}/"}), "PUBLIC_URL"),
    (
        "server metadata",
        SERVER_AT,
        Told(content={**SERVED, "code_challenge_methods_supported": ["plain"]}),
        "Another authorization server",
    ),
    (
        "registration",
        SERVER_AT,
        Told(content={**SERVED, "registration_endpoint": ""}),
        "no registration_endpoint",
    ),
    ("registration", "POST /register", Told(status=429), "Wait a minute"),
    ("registration", "POST /register", Told(status=201), "without client_id"),
    ("token", "POST /token", Told(status=400, content={"error": "invalid_grant"}), "invalid_grant"),
    ("token", "POST /token", PAGE, "sign-in wall"),
    ("token", "POST /token", Told(content={"token_type": "mac"}), "bearer"),
    ("first call", "initialize", Told(status=401), "Authorization header away"),
    ("first call", "initialize", Told(status=421), "PUBLIC_URL"),
    ("first call", "initialize", Told(status=406), "Accept header"),
    ("first call", "tools/list", PAGE, "sign-in wall"),
    ("first call", "tools/list", Told(content={"result": {"tools": []}}), "tools: none"),
    ("first call", "tools/list", Told(content={"error": {"code": -32601}}), "-32601"),
    ("first call", "tools/call", Told(content={"result": {"isError": True}}), "vault's log"),
    ("revocation", "POST /revoke", Told(status=503), "starting or busy"),
]


@pytest.mark.parametrize(("step", "where", "told", "words"), SICK)
def test_a_faulty_answer_ends_at_its_step_with_the_likely_cause(
    step: str, where: str, told: Told, words: str
) -> None:
    found = last(FaultyVault({where: told}))

    assert (found.step, found.health) == (step, Health.FAIL)
    assert words in " ".join((found.saw, found.cause, found.remedy))
    assert found.cause.endswith(".")
    assert found.remedy.endswith(".")


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({}, "takes the header away"),
        ({"x-amzn-Remapped-www-authenticate": "Bearer"}, "renames"),
        ({"WWW-Authenticate": 'Basic realm="staging"'}, "password or token of its own"),
    ],
)
def test_a_missing_challenge_is_odd_and_does_not_end_the_examination(
    headers: Mapping[str, str], words: str
) -> None:
    found = findings(FaultyVault({"POST /mcp": Told(status=401, headers=headers)}))

    assert [one.step for one in found] == STEPS
    assert [one.health for one in found] == [Health.ODD, *[Health.OK] * 7]
    assert words in found[0].cause


BROUGHT: list[tuple[Mapping[str, str | None], str]] = [
    ({"code": None, "error": "access_denied"}, "The owner denied it"),
    ({"code": None, "error": "invalid_scope"}, "refused the request"),
    ({"state": "another"}, "not to our question"),
    ({"code": None}, "not to our question"),
    ({"iss": "https://elsewhere.example.org"}, "PUBLIC_URL"),
]


@pytest.mark.parametrize(("changed", "words"), BROUGHT)
def test_what_the_browser_brings_back_is_checked(
    changed: Mapping[str, str | None], words: str
) -> None:
    found = last(FaultyVault(), approving(**changed))

    assert (found.step, found.health) == ("approval", Health.FAIL)
    assert words in " ".join((found.saw, found.cause, found.remedy))


def test_a_browser_that_does_not_come_back_is_the_approvals_fault() -> None:
    assert last(FaultyVault(), lambda _: None).step == "approval"


def failing(error: Exception, root: Exception) -> Callable[[], Exception]:
    def made() -> Exception:
        error.__cause__ = root
        return error

    return made


@pytest.mark.parametrize("where", ["POST /mcp", SERVER_AT, "POST /token", "tools/list"])
def test_a_connection_that_breaks_belongs_to_the_step_it_breaks_in(where: str) -> None:
    broken = failing(httpx.RemoteProtocolError("gone"), OSError())

    found = last(FaultyVault(fails={where: broken}))

    assert found.health is Health.FAIL
    assert "in the middle of an answer" in found.cause


def test_a_name_that_leads_nowhere_is_said_to() -> None:
    lost = failing(httpx.ConnectError("lost"), socket.gaierror())

    assert "leads nowhere" in last(FaultyVault(fails={"POST /mcp": lost})).saw


def reached(address: str, *, seconds: float = 5) -> Finding:
    with httpx.Client(timeout=seconds) as http:
        target = Target(mcp=f"{address}/mcp", http=http, redirect=REDIRECT, visit=approving())
        (found,) = examine(target)
        return found


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of a server that takes every connection and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_nobody_at_the_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        free = server.getsockname()[1]

    assert "nobody listens" in reached(f"http://127.0.0.1:{free}").saw


def test_a_server_that_says_nothing_is_out_of_time(silent: int) -> None:
    assert "no answer" in reached(f"http://127.0.0.1:{silent}", seconds=0.2).saw


@pytest.fixture
def answering() -> Iterator[
    tuple[socket.socket, Callable[[Callable[[socket.socket], None]], None]]
]:
    """A listening socket, and what lets somebody answer its first caller."""
    threads: list[threading.Thread] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer(by: Callable[[socket.socket], None]) -> None:
            def run() -> None:
                connection, _ = server.accept()
                with connection:
                    by(connection)

            threads.append(threading.Thread(target=run))
            threads[-1].start()

        yield server, answer
        for thread in threads:
            thread.join()


type Answering = tuple[socket.socket, Callable[[Callable[[socket.socket], None]], None]]


def test_plain_http_where_tls_is_spoken(answering: Answering) -> None:
    server, answer = answering
    answer(lambda connection: connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n"))

    assert "no TLS" in reached(f"https://127.0.0.1:{server.getsockname()[1]}").saw


def test_a_certificate_nobody_knows(answering: Answering, tmp_path: Path) -> None:
    server, answer = answering
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(self_signed(tmp_path))

    def handshake(connection: socket.socket) -> None:
        with pytest.raises(ssl.SSLError):
            context.wrap_socket(connection, server_side=True)

    answer(handshake)

    found = reached(f"https://127.0.0.1:{server.getsockname()[1]}")

    assert "certificate of 127.0.0.1 is not trusted" in found.saw


def self_signed(folder: Path) -> Path:
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    path = folder / "self-signed.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    return path


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("https://memory.example.org", MCP),
        ("https://memory.example.org/", MCP),
        ("https://memory.example.org/mcp/", MCP),
        ("memory.example.org", MCP),
        ("http://localhost:8787", "http://localhost:8787/mcp"),
        ("localhost:8787", "http://localhost:8787/mcp"),
        ("127.0.0.1:8787/mcp", "http://127.0.0.1:8787/mcp"),
    ],
)
def test_an_address_may_be_typed_with_and_without_its_path(typed: str, meant: str) -> None:
    assert mcp_address(typed) == meant


def test_the_browser_is_awaited_on_this_machine() -> None:
    with listening() as back, httpx.Client() as browser:
        assert browser.get(back.address.replace("/callback", "/favicon.ico")).status_code == 404
        assert browser.get(back.address, params={"code": "c", "state": "s"}).status_code == 200

        assert back.wait(seconds=5) == {"code": "c", "state": "s"}
        assert back.wait(seconds=0.01) is None
