"""Codex: signs in from its command line; its app-server, which its editors use, calls the tools.
Needs no account, since no model is called."""

import json
import queue
import subprocess
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from clients.instructions import CODEX_ADD, command
from clients.node import native, version_of
from clients.scenario import expect, go_through
from clients.session import Failed, NotLetIn
from clients.visit import Visit

PACKAGE = "@openai/codex"
NAME = "keeproom"
PATIENCE = 30.0  # seconds for one answer


class AppServer:
    """A running app-server with one conversation open."""

    def __init__(self, run: "subprocess.Popen[str]", folder: str) -> None:
        self._run, self._count = run, 0
        self._said: queue.Queue[dict[str, Any] | None] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        self.ask("initialize", {"clientInfo": {"name": "keeproom-clients", "version": "1"}})
        self._say({"method": "initialized"})
        self._thread = self.ask("thread/start", {"cwd": folder})["thread"]["id"]

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        asked = {"threadId": self._thread, "server": NAME, "tool": tool, "arguments": arguments}
        return self.ask("mcpServer/tool/call", asked)

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._count += 1
        self._say({"id": self._count, "method": method, "params": params})
        while True:
            try:
                said = self._said.get(timeout=PATIENCE)
            except queue.Empty as error:
                raise Failed(f"{method}: no answer within {PATIENCE:.0f} s") from error
            if said is None:
                raise Failed(f"{method}: the app-server has ended")
            if said.get("id") == self._count and "method" not in said:
                if "error" in said:
                    raise NotLetIn(said["error"].get("message", ""))
                return said["result"]

    def _say(self, said: dict[str, Any]) -> None:
        assert self._run.stdin is not None
        self._run.stdin.write(json.dumps(said) + "\n")
        self._run.stdin.flush()

    def _listen(self) -> None:
        assert self._run.stdout is not None
        for line in self._run.stdout:
            if line.startswith("{"):
                self._said.put(json.loads(line))
        self._said.put(None)


class Codex:
    """A session whose app-server is started anew for every call, as an editor would be."""

    protocol = "2025-06-18"

    def __init__(self, visit: Visit) -> None:
        self.version = version_of(PACKAGE)
        self._visit = visit
        self._credentials = visit.home / ".codex/.credentials.json"
        (visit.home / ".codex").mkdir(parents=True, exist_ok=True)
        (visit.home / ".codex/config.toml").write_text('mcp_oauth_credentials_store = "file"\n')
        self.command(*command(visit.address, CODEX_ADD)[1:])
        expect("OAuth" in self.command("mcp", "list"), "not signed in after `codex mcp add`")

    def tools(self) -> list[str]:
        with self._server() as server:
            listed = server.ask("mcpServerStatus/list", {})["data"]
        return [tool for one in listed if one["name"] == NAME for tool in one["tools"]]

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        with self._server() as server:
            result = server.call(tool, arguments)
        if result.get("isError"):
            raise Failed(str(result["content"]))
        return result["structuredContent"]

    def spoil(self) -> None:
        kept = json.loads(self._credentials.read_text())
        for one in kept.values():
            one |= {"access_token": "spoilt", "expires_at": 1}
        self._credentials.write_text(json.dumps(kept))

    def refresh_token(self) -> str:
        (one,) = json.loads(self._credentials.read_text()).values()
        return one["refresh_token"]

    def command(self, *words: str) -> str:
        done = subprocess.run(
            [native(PACKAGE, "codex"), *words], env=self._visit.environment(), text=True,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False,
        )  # fmt: skip
        told = done.stdout + done.stderr
        expect(done.returncode == 0, f"codex {' '.join(words)}: {told[-400:].strip()}")
        return told

    @contextmanager
    def _server(self) -> Generator[AppServer]:
        with subprocess.Popen(
            [native(PACKAGE, "codex"), "app-server"], env=self._visit.environment(), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        ) as run:  # fmt: skip
            try:
                yield AppServer(run, str(self._visit.home))
            finally:
                run.kill()


def drive(visit: Visit) -> str:
    session = Codex(visit)
    session.command("mcp", "logout", NAME)
    expect("Not logged in" in session.command("mcp", "list"), "still signed in after logout")
    visit.owner.revoke_all()  # Codex leaves its grant behind when it signs out
    session.command("mcp", "login", NAME)
    go_through(session, visit, "codex")
    return f"{session.version} ({session.protocol})"
