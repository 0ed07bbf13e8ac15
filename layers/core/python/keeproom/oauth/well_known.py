"""Copies of the documents that well-known clients publish: their own servers do not answer every
data centre, and the owner should not have to wait for them."""

from collections.abc import Mapping

_LOOPBACK = ("http://localhost/callback", "http://127.0.0.1/callback")
_PUBLISHED = {
    "https://claude.ai/oauth/mcp-oauth-client-metadata": (
        "Claude",
        ("https://claude.ai/api/mcp/auth_callback",),
    ),
    "https://claude.ai/oauth/claude-code-client-metadata": ("Claude Code", _LOOPBACK),
    "https://chatgpt.com/oauth/client.json": (
        "ChatGPT",
        ("https://chatgpt.com/connector_platform_oauth_redirect",),
    ),
    "https://chatgpt.com/oauth/codex/client.json": ("Codex", _LOOPBACK),
}


def copy_of(address: str) -> Mapping[str, object] | None:
    """The document at that address as we know it."""
    if address not in _PUBLISHED:
        return None
    name, redirect_uris = _PUBLISHED[address]
    return {
        "client_id": address,
        "client_name": name,
        "redirect_uris": list(redirect_uris),
        "token_endpoint_auth_method": "none",
    }
