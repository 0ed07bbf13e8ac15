#!/usr/bin/env python3
"""The person at the browser: opens an approval page, ticks every permission, and approves.

As a program (`person.py ADDRESS`) it stands in for the browser that a client opens. It returns at
once and takes its time, as people do: mcp-remote opens the page before it listens for the answer.
"""

import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from html.parser import HTMLParser
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

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(Form(action=has.get("action", "")))
        elif self.forms and "disabled" not in has:
            self._field(tag, has)

    def _field(self, tag: str, has: dict[str, str]) -> None:
        form, name, kind = self.forms[-1], has.get("name", ""), has.get("type", "text")
        if tag == "select":
            self._select = name
        elif tag == "option" and "selected" in has:
            form.fields.append((self._select, has.get("value", "")))
        elif name and (tag == "button" or (tag == "input" and kind == "submit")):
            form.buttons.append((name, has.get("value", "")))
        elif name and tag == "input" and (kind != "radio" or "checked" in has):
            form.fields.append((name, has.get("value", "on")))


def form_of(page: str) -> Form:
    """The first form of the page; every box is ticked. Raises `NotApproved` without one."""
    reader = _Forms()
    reader.feed(page)
    if not reader.forms:
        raise NotApproved(f"no form on the page: {page[:300]!r}")
    return reader.forms[0]


def approve(address: str, *, pressing: str = "approve") -> str:
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
            elif answer.status_code == httpx.codes.OK:
                answer = _submit(browser, answer, pressing)
            else:
                raise NotApproved(f"{answer.status_code} at {answer.url.path}: {answer.text[:300]}")
    raise NotApproved("sent around in circles")


def _submit(browser: httpx.Client, page: httpx.Response, pressing: str) -> httpx.Response:
    form = form_of(page.text)
    pressed = [button for button in form.buttons if pressing in button[1].lower()]
    if not pressed:
        raise NotApproved(f"no button {pressing!r} among {form.buttons}")
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
    time.sleep(PAUSE)
    approve_and_return(address)


if __name__ == "__main__":
    main()
