"""Debian's Chromium, driven by Playwright."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

CHROMIUM: Final = Path("/usr/bin/chromium")
REBOUND: Final = (
    "rebound.example"  # first somebody's server, and 127.0.0.1 when it is asked for again
)
ARGUMENTS: Final = (
    *"--headless --no-sandbox --disable-gpu --disable-quic --no-first-run".split(),
    *"--disable-background-networking --disable-component-update --disable-sync".split(),
    # Newer browsers let no page elsewhere reach this machine; the older ones must be kept out too.
    "--disable-features=LocalNetworkAccessChecks",
    f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1",
)
expect.set_options(timeout=60_000)  # what is to be seen on a page may come late
PHONE: Final[ViewportSize] = {"width": 360, "height": 740}
DESKTOP: Final[ViewportSize] = {"width": 1280, "height": 800}
Open = Callable[..., Page]
needs_chromium: Final = pytest.mark.skipif(
    not CHROMIUM.exists(), reason="needs Debian's package chromium: apt-get install chromium"
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One Chromium for all tests of a module, with a home of its own.

    For no longer: while it is there, nothing else can run an event loop in this thread.
    """
    home = str(tmp_path_factory.mktemp("chromium"))
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=ARGUMENTS,
            env={**os.environ, "HOME": home},
            timeout=120_000,
        )
        yield launched
        launched.close()


@pytest.fixture
def complaints() -> list[str]:
    """What the browser wrote into its console; at the end of a test there must be nothing."""
    return []


@contextmanager
def windows(
    browser: Browser, base_url: str, complaints: list[str], passed: str = "\0"
) -> Iterator[Open]:
    """Opens an address below another in a window of its own, which nothing may complain about.

    A line in its console with `passed` in it is none.
    """
    contexts = []

    def note(text: str) -> None:
        if passed not in text:
            complaints.append(text)

    def opened(path: str | None = None, *, size: ViewportSize = DESKTOP, **options: Any) -> Page:
        context = browser.new_context(base_url=base_url, viewport=size, locale="en-GB", **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("console", lambda message: note(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        if path is not None:
            page.goto(path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


def visit_stranger(page: Page, content: str) -> None:
    """Opens a page of somebody else's, which needs no network to be there."""
    page.route(
        "http://stranger.example/",
        lambda route: route.fulfill(content_type="text/html", body=content),
    )
    page.goto("http://stranger.example/")
