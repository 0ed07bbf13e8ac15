"""The conformance suite of MCP, for both revisions of the protocol: the door for agents, and the
authorization server before it."""

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import httpx

from clients.node import node, script, version_of
from clients.person import approve_and_return
from clients.places import clean_environment, free_port
from clients.session import Failed
from clients.token_proxy import with_token
from clients.visit import Visit

PACKAGE = "@modelcontextprotocol/conformance"
REVISIONS = ("2025-11-25", "2026-07-28")
EXPECTED = Path(__file__).with_name("expected")
_APPROVAL = re.compile(r"http\S+/authorize\?\S+")


def drive(visit: Visit) -> str:
    for revision in REVISIONS:
        check(visit, revision)
        check_sign_in(visit, revision)
    return f"{version_of(PACKAGE)} ({', '.join(REVISIONS)})"


def check(visit: Visit, revision: str) -> None:
    """Raises `Failed` when a scenario fails that is not expected to, or the other way round."""
    visit.home.mkdir(parents=True, exist_ok=True)
    with with_token(visit.address) as address:
        done = subprocess.run(
            [
                node(),
                script(PACKAGE, "dist", "index.js"),
                *("server", "--url", f"{address}/mcp", "--requirements", revision),
                *("--expected-failures", EXPECTED / f"{revision}.yml"),
                *("--output-dir", visit.home / revision),
            ],
            cwd=visit.home,
            env=clean_environment(HOME=str(visit.home)),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    (visit.home / f"{revision}.log").write_text(done.stdout + done.stderr)
    if done.returncode:
        told = done.stdout + done.stderr
        _, found, unexpected = told.partition("Expected failures (in baseline)")
        raise Failed(f"{revision}: {((found and unexpected) or told)[-2500:].strip()}")


def check_sign_in(visit: Visit, revision: str) -> None:
    """Raises `Failed` when a scenario of the suite for authorization servers fails."""
    asked = {
        "client_name": "Conformance",
        "redirect_uris": ["http://127.0.0.1/callback"],
        "token_endpoint_auth_method": "none",
    }
    registered = httpx.post(f"{visit.address}/register", json=asked).raise_for_status().json()
    with subprocess.Popen(
        [
            node(),
            script(PACKAGE, "dist", "index.js"),
            *("authorization", "--url", visit.address, "--resource", visit.mcp),
            *("--client-id", registered["client_id"], "--port", str(free_port())),
            *("--spec-version", revision, "--output-dir", visit.home / f"{revision}-sign-in"),
        ],
        cwd=visit.home,
        env=clean_environment(HOME=str(visit.home)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as run:
        try:
            told = _approved(run.stdout or ())
            run.wait()
        finally:
            run.kill()  # else it waits five minutes for an approval that failed
    if run.returncode:
        raise Failed(f"{revision}, sign-in: {told[-2500:].strip()}")


def _approved(lines: Iterable[str]) -> str:
    """All that is told, with a person approving the page that is named on the way."""
    told = ""
    for line in lines:
        told += line
        if page := _APPROVAL.search(line):
            approve_and_return(page[0])
    return told
