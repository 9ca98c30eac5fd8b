"""Windows of a real Chromium on the checkout, and what is measured in them."""

from collections.abc import Callable, Iterator
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, ViewportSize

from support.browsing import browser
from unit.sandbox.checkout.shop import Shop

__all__ = ["browser", "complaints", "open_page"]  # fixtures

PHONE: ViewportSize = {"width": 360, "height": 740}
DESKTOP: ViewportSize = {"width": 1280, "height": 800}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
Open = Callable[..., Page]

# Contrast of every visible text with what lies behind it, and of every field's edge (WCAG 2.1,
# 1.4.3 and 1.4.11).
CONTRASTS = """
() => {
  const light = (part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  const parts = (color) => color.match(/[0-9.]+/g).map(Number);
  const luminance = (color) => {
    const [red, green, blue] = parts(color);
    return 0.2126 * light(red) + 0.7152 * light(green) + 0.0722 * light(blue);
  };
  const ratio = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const color = getComputedStyle(each).backgroundColor;
      const [, , , alpha = 1] = parts(color);
      if (alpha === 1) return color;
      if (alpha !== 0) throw new Error(`half transparent: ${color}`);
    }
    throw new Error("nothing behind");
  };
  const seen = (element) => element.getClientRects().length > 0;
  const found = [];
  for (const element of document.body.querySelectorAll("*")) {
    if (!seen(element)) continue;
    const style = getComputedStyle(element);
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    const typed = element.matches("input[type=text]");
    if (own || typed) found.push([element.outerHTML.slice(0, 80), ratio(style.color, behind(element)), 4.5]);
    if (typed) {
      const around = behind(element.parentElement);
      found.push([element.id + " edge", ratio(style.borderTopColor, around), 3]);
    }
  }
  return found;
}
"""
# Every control that a finger hits, with its size; a radio or a box is hit through its label.
TARGETS = """
() => [...document.querySelectorAll("a, button, summary, input[type=text], label[for]")]
  .filter((e) => e.getClientRects().length > 0)
  .filter((e) => !e.matches("label") || document.getElementById(e.htmlFor).type !== "text")
  .map((e) => [e.outerHTML.slice(0, 80), e.getBoundingClientRect().width,
               e.getBoundingClientRect().height])
"""


@pytest.fixture
def complaints() -> list[str]:
    """What the browser wrote into its console; at the end of a test there must be nothing."""
    return []


@pytest.fixture
def open_page(browser: Browser, shop: Shop, complaints: list[str]) -> Iterator[Open]:
    """Opens an address in a window of its own, which nothing may complain about."""
    contexts = []

    def note(message: ConsoleMessage) -> None:
        # A decline is answered with 402 and a gap with 400; Chromium notes that of any page.
        if "the server responded with a status of 40" not in message.text:
            complaints.append(message.text)

    def opened(path: str = "", *, size: ViewportSize = DESKTOP, **options: Any) -> Page:
        context = browser.new_context(base_url=shop.url, viewport=size, locale="en-GB", **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("console", note)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        if path:
            page.goto(path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []
