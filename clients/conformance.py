"""The conformance suite of MCP, for both revisions of the protocol."""

import subprocess
from pathlib import Path

from clients.node import node, script, version_of
from clients.places import clean_environment
from clients.session import Failed
from clients.token_proxy import with_token
from clients.visit import Visit

PACKAGE = "@modelcontextprotocol/conformance"
REVISIONS = ("2025-11-25", "2026-07-28")
EXPECTED = Path(__file__).with_name("expected")


def drive(visit: Visit) -> str:
    for revision in REVISIONS:
        check(visit, revision)
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
