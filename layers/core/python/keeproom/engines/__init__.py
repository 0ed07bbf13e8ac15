"""Machinery the places share, and the product does not know."""
