"""Windows of a real Chromium on the checkout, and what is measured in them."""

from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Browser

from support.browsing import DESKTOP, PHONE, Open, browser, complaints, windows
from unit.sandbox.checkout.shop import Shop

__all__ = ["DESKTOP", "PHONE", "Open", "browser", "complaints", "open_page"]

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")

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
def open_page(browser: Browser, shop: Shop, complaints: list[str]) -> Iterator[Open]:
    """Opens an address; a decline is answered with 402 and a gap with 400, which Chromium notes."""
    passed = "the server responded with a status of 40"
    with windows(browser, shop.url, complaints, passed) as opened:
        yield opened
