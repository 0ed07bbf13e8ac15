"""The Inspector's command line: every call is a run of its own that reads what it has kept."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

from clients.node import node, script, version_of
from clients.scenario import go_through
from clients.session import Failed, NotLetIn
from clients.visit import Visit

PACKAGE = "@modelcontextprotocol/inspector"
ERAS = ("modern", "legacy")
TOKENS = ":tokens:"  # in the name of the secret that holds them


class Inspector:
    """`era`: of the protocol that it is told to speak."""

    def __init__(self, visit: Visit, era: str) -> None:
        self.version, self.protocol = version_of(PACKAGE), era
        self._visit = visit
        self._kept: tuple[str, ...] = ()
        # Strict: a schema that some client could not read ends it.
        self._run("--method", "tools/list", "--strict")
        self._kept = ("--stored-auth-only",)

    def tools(self) -> list[str]:
        return [tool["name"] for tool in self._run("--method", "tools/list")["tools"]]

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        words = [f"{name}={value}" for name, value in arguments.items()]
        asked = ["--method", "tools/call", "--tool-name", tool]
        result = self._run(*asked, *(word for one in words for word in ("--tool-arg", one)))
        if result.get("isError"):
            raise Failed(str(result["content"]))
        return result["structuredContent"]

    def spoil(self) -> None:
        held = self._held()
        held["access_token"] = "spoilt"
        kept = json.loads(self._secrets.read_text())
        kept["secrets"] = {name: json.dumps(held) for name in kept["secrets"] if TOKENS in name}
        self._secrets.write_text(json.dumps(kept))

    def refresh_token(self) -> str:
        return self._held()["refresh_token"]

    @property
    def _secrets(self) -> Path:
        return self._visit.home / ".mcp-inspector/secrets.json"

    def _held(self) -> dict[str, Any]:
        secrets: dict[str, str] = json.loads(self._secrets.read_text())["secrets"]
        return next(json.loads(text) for name, text in secrets.items() if TOKENS in name)

    def _run(self, *words: str) -> dict[str, Any]:
        command: list[str | Path] = [
            node(),
            script(PACKAGE, "clients", "launcher", "build", "index.js"),
            "--cli",
            self._visit.mcp,
            *("--transport", "http", "--protocol-era", self.protocol, "--format", "json"),
            *self._kept,
            *words,
        ]
        environment = self._visit.environment(
            MCP_AUTO_OPEN_ENABLED="true", MCP_INSPECTOR_SECRET_STORE="file"
        )
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=60, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if done.returncode:
            raise NotLetIn(f"exit {done.returncode}: {done.stderr[-400:].strip()}")
        return json.loads(done.stdout.strip().splitlines()[-1])["result"]


def drive(visit: Visit) -> str:
    for era in ERAS:
        home = visit.home / era
        go_through(Inspector(replace(visit, home=home), era), visit, f"inspector{era}")
    return f"{version_of(PACKAGE)} ({', '.join(ERAS)})"
