"""Reading a client's document: only from the public internet, and little of it."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from threading import Event
from time import monotonic

import httpx
import pytest

from keeproom.clock import tries
from keeproom.engines.deadline import AT_ONCE
from keeproom.engines.documents import FiledDocuments, WebDocuments, is_public
from keeproom.errors import Invalid
from keeproom.oauth.ports import DocumentUnavailable
from tests.letting_in import Watch

URL = "https://app.example/client.json"
PUBLIC = "93.184.215.14"

type Answer = Callable[[httpx.Request], httpx.Response]


def reading(
    answer: Answer,
    *,
    leads_to: Sequence[str] = (PUBLIC,),
    resolved: list[str] | None = None,
) -> WebDocuments:
    def resolve(host: str) -> Sequence[str]:
        if resolved is not None:
            resolved.append(host)
        return leads_to

    return WebDocuments(clock=Watch(), resolve=resolve, transport=httpx.MockTransport(answer))


def nobody(_: httpx.Request) -> httpx.Response:
    pytest.fail("nothing may be sent there")


def fixed(answer: httpx.Response) -> Answer:
    return lambda _: answer


def told(
    content: bytes = b'{"client_id": "x"}', *, kind: str = "application/json", control: str = ""
) -> Answer:
    named = {"content-type": kind, "cache-control": control}
    return lambda _: httpx.Response(200, stream=httpx.ByteStream(content), headers=named)


def test_the_connection_goes_to_the_very_address_that_was_checked() -> None:
    seen, resolved = list[httpx.Request](), list[str]()

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return told()(request)

    assert reading(answer, resolved=resolved).fetch(URL).content == {"client_id": "x"}
    (request,) = seen
    assert resolved == ["app.example"], "once: a second answer might lead elsewhere"
    assert request.url.host == PUBLIC
    assert request.headers["host"] == "app.example"
    assert request.extensions["sni_hostname"] == "app.example"
    assert request.url.path == "/client.json"


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1",
        "169.254.169.254", "168.63.129.16", "192.0.0.192", "198.18.0.1", "224.0.0.1", "240.0.0.1",
        "255.255.255.255", "203.0.113.1",
        "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1",
        "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1",
        "2002:7f00:1::", "2001:db8::1", "2001::1", "somewhere", "",
    ],
)  # fmt: skip
def test_an_address_that_is_not_public_is_never_asked(address: str) -> None:
    assert not is_public(address)
    with pytest.raises(DocumentUnavailable):
        reading(nobody, leads_to=[PUBLIC, address]).fetch(URL)


@pytest.mark.parametrize("address", [PUBLIC, "8.8.8.8", "2606:4700::6810:84e5"])
def test_public_addresses_are(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "http://app.example/client.json",
        "https://app.example:8443/client.json",
        "https://app.example:22/client.json",
        "https://user@app.example/client.json",
        "https:///client.json",
        "https://app.example:port/client.json",
        "ftp://app.example/client.json",
    ],
)
def test_only_https_on_its_own_port_is_spoken(url: str) -> None:
    with pytest.raises(DocumentUnavailable):
        reading(nobody).fetch(url)


def test_a_name_that_leads_nowhere_is_no_document() -> None:
    with pytest.raises(DocumentUnavailable):
        reading(nobody, leads_to=[]).fetch(URL)


@pytest.mark.parametrize(
    "answer",
    [
        fixed(httpx.Response(302, headers={"location": "https://127.0.0.1/"})),
        fixed(httpx.Response(403, json={"client_id": "x"})),
        fixed(httpx.Response(200, html="<h1>Checking your browser</h1>")),
        told(kind="text/plain"),
        told(b"not JSON"),
        told(b'["a", "list"]'),
        told(b"\xff\xfe"),
        told(b'{"client_name": "' + b"x" * 5_000 + b'"}'),
        told(b"[" * 4_900),
    ],
)
def test_anything_but_a_small_document_is_none(answer: Answer) -> None:
    with pytest.raises(DocumentUnavailable):
        reading(answer).fetch(URL)


def test_a_broken_connection_is_no_document() -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    with pytest.raises(DocumentUnavailable):
        reading(answer).fetch(URL)


@pytest.mark.parametrize(
    ("control", "seconds"),
    [
        ("max-age=60", 60),
        ("public, Max-Age=600, immutable", 600),
        ("max-age=999999999", 86_400),
        ("no-store", 0),
        ("max-age=600, no-cache", 0),
        ("", 3600),
        ("s-maxage=60", 3600),
    ],
)
def test_a_document_is_fresh_as_long_as_its_server_says(control: str, seconds: int) -> None:
    found = reading(told(control=control)).fetch(URL)

    assert found.fresh_until == Watch().now + timedelta(seconds=seconds)


def test_documents_for_trying_clients_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "documents.json"
    file.write_text('{"https://a.example/c.json": {"client_id": "https://a.example/c.json"}}')
    documents = FiledDocuments.read(file, otherwise=reading(told()))

    assert documents.fetch("https://a.example/c.json").content["client_id"]
    assert documents.fetch(URL).content == {"client_id": "x"}
    file.write_text("[]")
    with pytest.raises(Invalid):
        FiledDocuments.read(file, otherwise=reading(told()))


def test_a_name_that_is_never_found_out_ends_in_time() -> None:
    answered = Event()

    def resolve(_: str) -> Sequence[str]:
        answered.wait(30)
        return [PUBLIC]

    slow = WebDocuments(
        clock=Watch(), resolve=resolve, transport=httpx.MockTransport(nobody), patience=0.1
    )
    begun = monotonic()
    with pytest.raises(DocumentUnavailable):
        slow.fetch(URL)
    assert monotonic() - begun < 5
    answered.set()


def test_names_that_hang_do_not_pile_up() -> None:
    answered, asked = Event(), list[str]()

    def resolve(host: str) -> Sequence[str]:
        asked.append(host)
        answered.wait(30)
        return [PUBLIC]

    slow = WebDocuments(
        clock=Watch(), resolve=resolve, transport=httpx.MockTransport(nobody), patience=0.01
    )
    for _ in range(AT_ONCE + 9):
        with pytest.raises(DocumentUnavailable):
            slow.fetch(URL)
    assert len(asked) == AT_ONCE
    answered.set()
    for _ in tries():
        try:
            assert reading(told()).fetch(URL).content == {"client_id": "x"}
        except DocumentUnavailable:
            continue
        return
    pytest.fail("those that hung are still in the way")


def test_a_name_that_cannot_be_looked_up_is_no_document() -> None:
    def resolve(_: str) -> Sequence[str]:
        raise OSError

    lost = WebDocuments(clock=Watch(), resolve=resolve, transport=httpx.MockTransport(nobody))
    with pytest.raises(DocumentUnavailable):
        lost.fetch(URL)
