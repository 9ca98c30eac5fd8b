"""Debian's Chromium, driven by Playwright."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

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
