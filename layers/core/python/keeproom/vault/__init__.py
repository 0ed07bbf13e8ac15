"""Memories: what agents save, what they get back, what the owner decides."""
