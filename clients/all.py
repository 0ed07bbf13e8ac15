"""Every client: its name, and what drives it."""

from collections.abc import Callable, Mapping

from clients import claude, codex, conformance, inspector, keeproom, libraries, mcp_remote
from clients.visit import Visit

type Drive = Callable[[Visit], str]

CLIENTS: Mapping[str, tuple[str, Drive]] = {
    "python2": ("Python SDK 2", libraries.python2),
    "python1": ("Python SDK 1", libraries.python1),
    "typescript1": ("TypeScript SDK 1", libraries.typescript1),
    "typescript2": ("TypeScript SDK 2", libraries.typescript2),
    "mcp-remote": ("mcp-remote", mcp_remote.drive),
    "inspector": ("Inspector CLI", inspector.drive),
    "codex": ("Codex CLI", codex.drive),
    "claude": ("Claude Code", claude.drive),
    "conformance": ("Conformance suite", conformance.drive),
    "stdio": ("keeproom mcp", keeproom.stdio),
    "doctor": ("keeproom doctor", keeproom.doctor),
}
