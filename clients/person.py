#!/usr/bin/env python3
"""The person at the browser: opens an approval page, ticks every permission, and approves.

As a program (`person.py ADDRESS`) it stands in for the browser that a client opens. It returns at
once and takes its time, as people do: mcp-remote opens the page before it listens for the answer.
"""

import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import override
from urllib.parse import urljoin, urlsplit

import httpx

PAUSE = 1.5  # seconds; mcp-remote listens about one second after it opened the page
HOPS = 8
NAVIGATION = {"Accept": "text/html", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


class NotApproved(Exception):
    """The page was not one that a person could approve on."""


@dataclass
class Form:
    """The first form of a page, as its fields are when the page has loaded."""

    action: str = ""
    fields: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    buttons: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._select = ""
        self._is_option = False

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(Form(action=has.get("action", "")))
        elif tag == "select":
            self._select = has.get("name", "")
        elif tag == "option" and self._select:
            self._is_option = True
        elif self.forms and has.get("name") and "disabled" not in has:
            self._field(tag, has)

    @override
    def handle_data(self, data: str) -> None:
        """The first option is the one that is chosen; what is sent is its text."""
        if self._is_option:
            self.forms[-1].fields.append((self._select, data))
            self._select, self._is_option = "", False

    def _field(self, tag: str, has: dict[str, str]) -> None:
        if tag == "button":
            self.forms[-1].buttons.append((has["name"], has.get("value", "")))
        elif tag == "input":
            self.forms[-1].fields.append((has["name"], has.get("value", "on")))


def form_of(page: str) -> Form:
    """The first form of the page; every box is ticked. Raises `NotApproved` without one."""
    reader = _Forms()
    reader.feed(page)
    if not reader.forms:
        raise NotApproved(f"no form on the page: {page[:300]!r}")
    return reader.forms[0]


def approve(address: str) -> str:
    """Where the browser is sent after the approval: the client's own address, not yet visited.
    Raises `NotApproved`."""
    with httpx.Client(timeout=20, headers=NAVIGATION) as browser:
        answer = browser.get(address, headers={"Sec-Fetch-Site": "none"})
        for _ in range(HOPS):
            if answer.has_redirect_location:
                onward = urljoin(str(answer.url), answer.headers["location"])
                if urlsplit(onward).netloc != urlsplit(address).netloc:
                    return onward
                answer = browser.get(onward)
            elif answer.is_success:
                answer = _submit(browser, answer)
            else:
                raise NotApproved(
                    f"{answer.status_code} at {answer.url.path}: {_said(answer.text)}"
                )
    raise NotApproved("sent around in circles")


def _said(page: str) -> str:
    """What a page that asks nothing tells."""
    return re.sub(r"<[^>]+>|\s+", " ", page.partition("</style>")[2] or page).strip()[:300]


def _submit(browser: httpx.Client, page: httpx.Response) -> httpx.Response:
    form = form_of(page.text)
    pressed = [button for button in form.buttons if button[1] == "approve"]
    if not pressed:
        raise NotApproved(f"nothing to approve with among {form.buttons}")
    sent: dict[str, list[str]] = {}
    for name, value in (*form.fields, pressed[0]):
        sent.setdefault(name, []).append(value)
    origin = f"{page.url.scheme}://{page.url.netloc.decode()}"
    headers = {"Origin": origin, "Referer": f"{origin}/", "Sec-Fetch-Site": "same-origin"}
    return browser.post(urljoin(str(page.url), form.action), data=sent, headers=headers)


def approve_and_return(address: str) -> None:
    """Approve, and visit the client's address until it listens, for ten seconds."""
    onward = approve(address)
    for _ in range(20):
        try:
            httpx.get(onward, timeout=20, follow_redirects=True)
        except httpx.ConnectError:
            time.sleep(0.5)
        else:
            return
    raise NotApproved("nobody listens at the client's address")


def main() -> None:
    """With a file at PERSON_AWAY, nobody is at the browser. Either way PERSON_LOG is told."""
    address = next((word for word in sys.argv[1:] if word.startswith("http")), "")
    if "--now" not in sys.argv:
        # The browser outlives the command that opens it.
        subprocess.Popen(
            [sys.executable, __file__, "--now", address],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=open(os.environ.get("PERSON_LOG", os.devnull), "ab"),  # noqa: SIM115
            start_new_session=True,
        )
        return
    sys.stderr.write(f"asked {address}\n")
    if Path(os.environ.get("PERSON_AWAY", os.devnull)).is_file():
        return
    time.sleep(PAUSE)
    approve_and_return(address)


if __name__ == "__main__":
    main()
