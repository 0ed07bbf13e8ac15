"""Proof Key for Code Exchange (RFC 7636), by S256 alone."""

import base64
import hashlib


def challenge_of(verifier: str) -> str:
    """What goes ahead of the verifier: its SHA-256 in base64url, without padding."""
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
