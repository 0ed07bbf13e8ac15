"""What a request shows of the page it comes from. A browser says so itself, by `Origin` (with every
POST) and by `Sec-Fetch-Site`; a program says nothing of it."""

from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_FROM_HERE = {"same-origin", "none"}  # `none`: typed into the address line


def origin_of(url: str) -> str:
    """Scheme and host of an address, as a browser names them."""
    parts = urlsplit(url.lower())
    return f"{parts.scheme}://{parts.netloc}"


def same_origin(request: HTTPConnection, own: str) -> bool:
    """No page of another origin, as far as the request says."""
    return all(origin.lower() == own for origin in request.headers.getlist("origin"))


def no_other_site(request: HTTPConnection) -> bool:
    return set(request.headers.getlist("sec-fetch-site")) <= _FROM_HERE


def shows_origin(request: HTTPConnection) -> bool:
    """It says of itself that it comes from a page of ours, where `same_origin` does not mind."""
    headers = request.headers
    return "origin" in headers or headers.getlist("sec-fetch-site") == ["same-origin"]


def came_by_link(request: HTTPConnection) -> bool:
    """The browser's own window went there, so that no other page can read what it shows. A browser
    that says nothing of this is old, or a program."""
    headers = request.headers
    window = headers.getlist("sec-fetch-mode") == ["navigate"]
    return window and headers.getlist("sec-fetch-dest") == ["document"]
