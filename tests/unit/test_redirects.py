"""Where a code may be sent, and where never."""

import pytest

from keeproom.oauth.errors import InvalidRedirectUri
from keeproom.oauth.redirects import checked, destination, matches, with_query


@pytest.mark.parametrize(
    "uri",
    [
        "https://claude.ai/api/mcp/auth_callback",
        "https://app.example:8443/cb?tenant=1&x=%20",
        "https://xn--bcher-kva.example/cb",
        "https://[2001:db8::1]/cb",
        "http://localhost/callback",
        "http://localhost:1/callback",
        "http://127.0.0.1:53682/callback",
        "http://127.0.0.1",
        "http://[::1]:8080/",
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "com.example.app:/oauth",
        "vscode://vscode.github-authentication/did-authenticate",
    ],
)
def test_a_code_may_go_to_programs_here_to_apps_and_over_https(uri: str) -> None:
    assert checked(uri) == uri


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "callback",
        "//app.example/cb",
        "/callback",
        # what runs or shows what it holds
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "javascript://app.example/%0aalert(1)",
        "data:text/html,hello",
        "file:///etc/passwd",
        "vbscript:msgbox",
        "blob:https://app.example/1",
        "about:blank",
        "view-source:https://app.example",
        # another machine without encryption, under whatever name
        "http://app.example/cb",
        "http://localhost.app.example/cb",
        "http://127.0.0.1.app.example/cb",
        "http://127.1/cb",
        "http://2130706433/cb",
        "http://0.0.0.0/cb",
        "http://192.168.1.5/cb",
        "HTTP://app.example/cb",
        # users, fragments, and what two readers would take for two addresses
        "http://localhost@app.example/cb",
        "https://claude.ai@app.example/cb",
        "https://user:secret@app.example/cb",
        "cursor://claude.ai@app/cb",
        "https://app.example/cb#",
        "https://app.example/cb#fragment",
        "https://app.example\\@claude.ai/cb",
        "https:app.example/cb",
        "https:///cb",
        "https://",
        "https://app.example:port/cb",
        "https://app.example:99999/cb",
        "https://-app.example/cb",
        "https://%61pp.example/cb",
        "https://app.example /cb",
        "https://app.example/c b",
        "https://app.example/cb\r\nLocation: https://evil.example",
        "https://app.example/\x00",
        # letters that look like others
        "https://сlaude.ai/cb",
        "https://\uff43laude.ai/cb",
        "https://claude。ai/cb",
        "https://app.example/ä",
        "cursor:",
        "https://app.example/" + "x" * 2000,
    ],
)
def test_a_code_never_goes_anywhere_else(uri: str) -> None:
    with pytest.raises(InvalidRedirectUri):
        checked(uri)


@pytest.mark.parametrize(
    ("uri", "registered"),
    [
        ("http://127.0.0.1:5000/callback", "http://127.0.0.1/callback"),
        ("http://127.0.0.1:5000/callback", "http://127.0.0.1:3030/callback"),
        ("http://localhost/callback", "http://localhost:3030/callback"),
        ("http://[::1]:5000/callback?a=b", "http://[::1]/callback?a=b"),
        ("https://app.example/cb", "https://app.example/cb"),
        ("cursor://anysphere/cb", "cursor://anysphere/cb"),
    ],
)
def test_the_port_of_a_loopback_address_is_free(uri: str, registered: str) -> None:
    assert matches(uri, ["https://other.example/", registered])


@pytest.mark.parametrize(
    ("uri", "registered"),
    [
        ("http://localhost:5000/callback", "http://127.0.0.1/callback"),
        ("http://127.0.0.1:5000/callback/", "http://127.0.0.1/callback"),
        ("http://127.0.0.1:5000/Callback", "http://127.0.0.1/callback"),
        ("http://127.0.0.1:5000/callback?x", "http://127.0.0.1/callback"),
        ("http://127.0.0.1:5000/callback#x", "http://127.0.0.1/callback"),
        ("http://127.0.0.1:99999/callback", "http://127.0.0.1/callback"),
        ("http://127.0.0.1:5000@app.example/callback", "http://127.0.0.1/callback"),
        ("http://user@127.0.0.1:5000/callback", "http://127.0.0.1/callback"),
        ("http://127.0.0.1:5000\\callback", "http://127.0.0.1/callback"),
        ("https://127.0.0.1:5000/callback", "http://127.0.0.1/callback"),
        ("https://app.example:8443/cb", "https://app.example/cb"),
        ("https://app.example/cb/", "https://app.example/cb"),
        ("https://app.example/cb?", "https://app.example/cb"),
        ("https://APP.example/cb", "https://app.example/cb"),
        ("https://app.example/cb/../evil", "https://app.example/cb"),
        ("https://app.example", "https://app.example/"),
        ("cursor://anysphere/cb2", "cursor://anysphere/cb"),
        ("", ""),
    ],
)
def test_every_other_difference_counts(uri: str, registered: str) -> None:
    assert not matches(uri, [registered] if registered else [])


@pytest.mark.parametrize(
    ("uri", "host", "source", "here"),
    [
        ("https://Claude.ai/cb", "claude.ai", "https://claude.ai", False),
        ("https://app.example:8443/cb", "app.example:8443", "https://app.example:8443", False),
        ("http://127.0.0.1:5/cb", "127.0.0.1:5", "http://127.0.0.1:5", True),
        ("http://localhost?x", "localhost", "http://localhost", True),
        ("http://[::1]:5/cb", "[::1]:5", "http:", True),
        ("https://127.0.0.1/cb", "127.0.0.1", "https://127.0.0.1", False),
        ("Cursor://anysphere/cb", "cursor:", "cursor:", True),
    ],
)
def test_the_owner_sees_where_access_goes(uri: str, host: str, source: str, here: bool) -> None:  # noqa: FBT001
    found = destination(uri)

    assert (found.host, found.source, found.here) == (host, source, here)


def test_an_answer_is_put_behind_what_the_client_has_there() -> None:
    answer = {"code": "a b", "state": None, "iss": "http://localhost:8787"}
    told = "code=a+b&iss=http%3A%2F%2Flocalhost%3A8787"

    assert with_query("cursor://x/cb", answer) == f"cursor://x/cb?{told}"
    assert with_query("https://x.example/cb?a=%20&a=", answer) == (
        f"https://x.example/cb?a=%20&a=&{told}"
    )
