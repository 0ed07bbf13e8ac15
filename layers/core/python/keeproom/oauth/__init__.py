"""Letting apps in: OAuth 2.1, decided here, without a web framework or a database."""
