"""Claude Code: adds the vault, signs in, checks its health, signs out. Its tools are called by a
model alone, which takes an account; the health check connects and lists them."""

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Sequence
from pathlib import Path

from clients.instructions import CLAUDE_ADD, CLAUDE_LOGIN, command
from clients.node import native, version_of
from clients.scenario import expect
from clients.session import Failed
from clients.visit import Visit

PACKAGE = "@anthropic-ai/claude-code"
NAME = "keeproom"
PATIENCE = 45.0  # seconds
QUIET = {
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "TERM": "xterm",
    "DISPLAY": ":99",  # without one it prints the address and opens no browser
}
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b\][^\x07]*\x07")


class ClaudeCode:
    def __init__(self, visit: Visit) -> None:
        self._program = native(PACKAGE, "claude")
        self._environment = visit.environment(**QUIET)
        self._folder = visit.home / "project"
        self._folder.mkdir(parents=True, exist_ok=True)
        self.credentials = visit.home / ".claude/.credentials.json"

    def run(self, *words: str) -> str:
        done = subprocess.run(
            [self._program, *words], env=self._environment, cwd=self._folder, text=True,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        told = done.stdout + done.stderr
        expect(done.returncode == 0, f"claude {' '.join(words)}: {told[-400:].strip()}")
        return told

    def login(self, words: Sequence[str] = ("mcp", "login", NAME)) -> None:
        """It asks for a terminal."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self._folder)
            os.execve(self._program, [str(self._program), *words], self._environment)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 2000, 0, 0))
        told = _all_it_says(pid, terminal)
        _, status = os.waitpid(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        expect(code == 0, f"claude mcp login: {_ESCAPES.sub('', told)[-400:].strip()}")

    def health(self) -> str:
        (line,) = [one for one in self.run("mcp", "list").splitlines() if one.startswith(NAME)]
        return line.rpartition(" - ")[2]


def _all_it_says(pid: int, terminal: int) -> str:
    told, until = "", time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if select.select([terminal], [], [], 0.5)[0]:
            try:
                told += os.read(terminal, 65_536).decode(errors="replace")
            except OSError:  # it has ended
                return told
    os.kill(pid, 9)
    return told


def _kept(path: Path) -> dict[str, dict[str, dict[str, object]]]:
    return json.loads(path.read_text())


def drive(visit: Visit) -> str:
    claude = ClaudeCode(visit)
    claude.run(*command(visit.address, CLAUDE_ADD)[1:])
    expect("Needs authentication" in claude.health(), "let in without approval")
    claude.login(command(visit.address, CLAUDE_LOGIN)[1:])
    expect("Connected" in claude.health(), f"after login: {claude.health()}")
    _refresh(claude)
    claude.run("mcp", "logout", NAME)
    expect("Needs authentication" in claude.health(), f"after logout: {claude.health()}")
    expect(not visit.owner.grants(), "logging out left the grant")
    claude.login()
    expect("Connected" in claude.health(), f"after the second login: {claude.health()}")
    (revoked,) = visit.owner.revoke_all()
    expect("Connected" not in claude.health(), "connected although it was revoked")
    expect(visit.owner.saw_refused(revoked), "it did not come to the vault")
    return version_of(PACKAGE)


def _refresh(claude: ClaudeCode) -> None:
    kept = _kept(claude.credentials)
    (held,) = kept["mcpOAuth"].values()
    before = held["refreshToken"]
    held |= {"accessToken": "spoilt", "expiresAt": 1}
    claude.credentials.write_text(json.dumps(kept))
    expect("Connected" in claude.health(), "not connected after its token expired")
    (held,) = _kept(claude.credentials)["mcpOAuth"].values()
    if held["refreshToken"] == before:
        raise Failed("the refresh token is the old one")
