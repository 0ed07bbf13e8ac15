"""Pages that are made here: no scripts, nothing from elsewhere, every text escaped."""

import base64
import hashlib
from dataclasses import dataclass
from html import escape

from starlette.responses import HTMLResponse

from keeproom.api.page_style import STYLE

_STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()

_PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{style}</style>
<main>
<div class="brand"><svg width="24" height="24" viewBox="0 0 24 24" aria-hidden="true">\
<path d="M4 21V10.5a8 8 0 0 1 16 0V21Z" fill="currentColor"/>\
<path class="door" d="M9 21v-7a3 3 0 0 1 6 0v7Z"/></svg>\
<b>Keeproom</b><span>{host}</span></div>
{card}
</main>
</html>
"""

_SAID = """\
<section class="card said" role="alert"><h1>{title}</h1>
<p>{sentence}</p>{link}</section>"""


@dataclass(frozen=True, slots=True)
class Link:
    """One way on from a page."""

    words: str
    address: str


def policy(*, sends_to: str = "") -> str:
    """The content security policy. `sends_to`: where the answer to the form leads; browsers hold
    that against `form-action` too."""
    forms = f"'self' {sends_to}" if sends_to else "'none'"
    return (
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; form-action {forms}; "
        "base-uri 'none'; frame-ancestors 'none'"
    )


def whole(title: str, host: str, card: str) -> str:
    """The page around a card, which is HTML already."""
    return _PAGE.format(title=escape(title), style=STYLE, host=escape(host), card=card)


def said(
    status: int, title: str, sentence: str, *, host: str, link: Link | None = None
) -> HTMLResponse:
    """The card with one sentence, and at most one way on."""
    way = (
        f'\n<a class="button" href="{escape(link.address)}">{escape(link.words)}</a>'
        if link
        else ""
    )
    card = _SAID.format(title=escape(title), sentence=escape(sentence), link=way)
    page = whole("Keeproom", host, card)
    return HTMLResponse(page, status, {"Content-Security-Policy": policy()})
