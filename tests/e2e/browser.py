"""A real browser before the deployed vault, and a person at it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from tests.e2e.cloud import Cloud

if TYPE_CHECKING:
    from playwright.async_api import Page

CHROMIUM = Path("/usr/bin/chromium")


def missing() -> str:
    """What a browser needs and this machine does not have."""
    if not CHROMIUM.exists():
        return f"no {CHROMIUM}: install the package chromium"
    if find_spec("playwright") is None:
        return "playwright is not installed: make test"
    return ""


@asynccontextmanager
async def opened(cloud: Cloud) -> AsyncGenerator["Page"]:
    """One page of a browser that holds nothing yet and finds the names of AWS in this account."""
    from playwright.async_api import async_playwright  # noqa: PLC0415  starts Node

    async with async_playwright() as driver:
        chromium = await driver.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox"],
            proxy={"server": cloud.environment["HTTPS_PROXY"], "bypass": "127.0.0.1,localhost"},
        )
        context = await chromium.new_context(ignore_https_errors=True, base_url=cloud.address())
        context.set_default_timeout(20_000)
        yield await context.new_page()
        await chromium.close()


async def logs_in(page: "Page", address: str, password: str) -> None:
    """On Cognito's own page, which the browser has come to."""
    host = urlsplit(page.url).hostname or ""
    assert host.endswith(".amazoncognito.com"), page.url
    await page.get_by_label("Username").fill(address)
    await page.get_by_role("button", name="Next").click()
    await page.get_by_label("Password").fill(password)
    await page.get_by_role("button", name="Sign in").click()


async def logs_in_by_code(page: "Page", address: str) -> None:
    """By the code that Cognito e-mails; here it is always the same."""
    await page.get_by_label("Username").fill(address)
    await page.get_by_role("button", name="Next").click()
    await page.get_by_role("button", name="Email code").click()
    await page.get_by_label("Enter the code we emailed you").fill("123456")
    await page.get_by_role("button", name="Sign in").click()


async def chooses(page: "Page", password: str) -> None:
    """Whose first password came by e-mail is asked for another."""
    await page.get_by_label("New password", exact=True).fill(password)
    await page.get_by_label("Confirm new password").fill(password)
    await page.get_by_role("button", name="Update password").click()


async def whoami(page: "Page") -> str:
    """As whom the vault knows this browser; empty when as nobody."""
    answer = await page.goto("/api/owner")
    assert answer is not None
    return (await answer.json())["address"] if answer.ok else ""


async def approves(page: "Page", address: str) -> str:
    """Allows everything the app asks for there. The address the browser is sent back to."""
    await page.goto(address)
    for box in await page.get_by_role("checkbox").all():
        await box.check()
    (back,) = parse_qs(urlsplit(address).query)["redirect_uri"]
    async with page.expect_request(f"{back}?*") as came:
        await page.get_by_role("button", name="Approve").click()
    return (await came.value).url


async def signs_out(page: "Page") -> None:
    await page.goto("/auth/logout")
    await page.get_by_role("button", name="This browser").click()
    await page.get_by_role("heading", name="Signed out").wait_for()
