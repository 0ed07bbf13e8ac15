"""A small OpenID Connect provider on this machine, which can be made to go wrong."""

import base64
import hashlib
import json
import secrets
import time
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, cast
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from jwt.algorithms import RSAAlgorithm

CLIENT_ID, SECRET = "keeproom", "a secret/with:signs"
ADDRESS = "owner@example.com"


@cache
def key(number: int) -> RSAPrivateKey:
    """Each takes a while to make."""
    return generate_private_key(public_exponent=65537, key_size=2048)


@dataclass
class Code:
    challenge: str
    redirect_uri: str
    nonce: str


@dataclass
class Issuer:
    """`signs`: the number of the key that signs; `shown`: those in its key set, by their names.
    `person`: what it says of whoever comes. `change`: claims to add or, when None, to leave out.
    `asked`: how often each place was."""

    url: str
    signs: int = 1
    kid: str = "one"
    algorithm: str = "RS256"
    shown: dict[str, int] = field(default_factory=lambda: {"one": 1})
    person: dict[str, Any] = field(
        default_factory=lambda: {"sub": "p1", "email": ADDRESS, "email_verified": True}
    )
    userinfo: dict[str, Any] = field(default_factory=dict[str, Any])
    change: dict[str, Any] = field(default_factory=dict[str, Any])
    describes: dict[str, Any] = field(default_factory=dict[str, Any])
    answers: Callable[[str], tuple[int, Any] | None] = lambda _: None
    asked: Counter[str] = field(default_factory=Counter[str])
    codes: dict[str, Code] = field(default_factory=dict[str, Code])

    def description(self) -> Mapping[str, Any]:
        told = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "jwks_uri": f"{self.url}/keys",
            "end_session_endpoint": f"{self.url}/logout",
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
            **self.describes,
        }
        return {name: value for name, value in told.items() if value is not None}

    def keys(self) -> Mapping[str, Any]:
        return {"keys": [public(number, kid) for kid, number in self.shown.items()]}

    def document(self, path: str, header: str) -> tuple[int, Mapping[str, Any]]:
        match path:
            case "/.well-known/openid-configuration":
                return 200, self.description()
            case "/keys":
                return 200, self.keys()
            case "/userinfo" if header == "Bearer at":
                return 200, self.userinfo
            case _:
                return 404, {}

    def id_token(self, nonce: str) -> str:
        now = int(time.time())
        claims = {
            "iss": self.url,
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 600,
            "nonce": nonce,
            **self.person,
            **self.change,
        }
        given = {name: value for name, value in claims.items() if value is not None}
        if self.algorithm == "none":
            return jwt.encode(given, "", algorithm="none", headers={"kid": self.kid})
        if self.algorithm == "HS256":
            shared = str(public(self.signs, self.kid)["n"])
            return jwt.encode(given, shared, algorithm="HS256", headers={"kid": self.kid})
        return jwt.encode(
            given, key(self.signs), algorithm=self.algorithm, headers={"kid": self.kid}
        )

    def signed_in(self, asked: Mapping[str, str]) -> str:
        """Everybody who comes is the person. The address the browser goes back to."""
        code = secrets.token_urlsafe(16)
        self.codes[code] = Code(asked["code_challenge"], asked["redirect_uri"], asked["nonce"])
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def exchanged(self, form: Mapping[str, str]) -> tuple[int, Mapping[str, Any]]:
        code = self.codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        proof = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if (form.get("client_id"), form.get("client_secret")) != (CLIENT_ID, SECRET):
            return 401, {"error": "invalid_client"}
        if code is None or (code.challenge, code.redirect_uri) != (proof, form["redirect_uri"]):
            return 400, {"error": "invalid_grant"}
        return 200, {"id_token": self.id_token(code.nonce), "access_token": "at"}


def public(number: int, kid: str) -> dict[str, Any]:
    told = RSAAlgorithm.to_jwk(key(number).public_key(), as_dict=True)
    return {**told, "kid": kid, "use": "sig", "alg": "RS256"}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    issuer: Issuer


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""

    @property
    def issuer(self) -> Issuer:
        return cast("_Server", self.server).issuer

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        self.issuer.asked[parts.path] += 1
        query = dict(parse_qsl(parts.query))
        if own := self.issuer.answers(parts.path):
            self.told(*own)
        elif parts.path == "/authorize":
            self.sent_on(self.issuer.signed_in(query))
        elif parts.path == "/logout":
            self.sent_on(query["post_logout_redirect_uri"])
        else:
            self.told(*self.issuer.document(parts.path, self.headers.get("authorization", "")))

    def do_POST(self) -> None:
        self.issuer.asked[self.path] += 1
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        form = dict(parse_qsl(body))
        kind, _, sent = self.headers.get("authorization", "").partition(" ")
        if kind == "Basic":
            name, _, secret = base64.b64decode(sent).decode().partition(":")
            form |= {"client_id": unquote(name), "client_secret": unquote(secret)}
        self.told(*(self.issuer.answers(self.path) or self.issuer.exchanged(form)))

    def told(self, status: int, content: Any) -> None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def sent_on(self, address: str) -> None:
        self.send_response(302)
        self.send_header("Location", address)
        self.send_header("Content-Length", "0")
        self.end_headers()


@contextmanager
def issuer() -> Generator[Issuer]:
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.issuer = Issuer(f"http://127.0.0.1:{server.server_port}")
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        try:
            yield server.issuer
        finally:
            server.shutdown()
