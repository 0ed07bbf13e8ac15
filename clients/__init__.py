"""Drives the MCP clients that people use against a vault: `make clients`."""
