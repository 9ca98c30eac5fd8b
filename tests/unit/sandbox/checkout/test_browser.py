"""The checkout in a real Chromium: clicks, keys, colours, sizes, and what other sites may not do."""

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from support.browsing import needs_chromium
from unit.sandbox.checkout.shop import Shop
from unit.sandbox.checkout.windows import (
    PHONE,
    Open,
    browser,
    complaints,
    open_page,
)

__all__ = ["browser", "complaints", "open_page"]  # fixtures

LANGUAGES = ("en", "de", "fr", "es", "ja")
pytestmark = needs_chromium


def english(path: Any, order: Any) -> str:
    return str(path(order, lang="en"))


def test_test_card_pays_by_one_click(shop: Shop, path: Any, open_page: Open) -> None:
    """From the page to the last one, and the order is paid."""
    order = shop.order()
    page = open_page(path(order))
    page.get_by_role("button", name="Visa").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "Vielen Dank. Ihre Zahlung ist abgeschlossen."
    )
    note = page.get_by_role("complementary")
    expect(note).to_contain_text("Fulfilment follows the webhook event order.paid.")
    assert shop.again(order)["status"] == "paid"
    page.go_back()
    expect(page).to_have_url(shop.url + path(order, "/complete"))


def typed(field: Locator, keys: str) -> None:
    field.fill("")
    field.press_sequentially(keys)


@pytest.mark.slow
def test_digits_and_the_slash_are_set_while_typed(shop: Shop, path: Any, open_page: Open) -> None:
    """As on the card, however one writes a date.

    A digit taken away and put back in the middle moves nothing: the caret stays where one types.
    """
    page = open_page(english(path, shop.order()))
    field = page.get_by_label("Card number")
    for keys, number in {
        "4242424242424242": "4242 4242 4242 4242",
        "378282246310005": "3782 822463 10005",
        "4242 4242 4242 4242": "4242 4242 4242 4242",
        "6200000000000000005": "6200 0000 0000 0000005",
    }.items():
        typed(field, keys)
        expect(field).to_have_value(number)
    field.fill("")
    field.press_sequentially("4242999942424242")
    for key in (*["ArrowLeft"] * 10, "Backspace", "Backspace", "Backspace", "1", "2", "3"):
        field.press(key)
    expect(field).to_have_value("4242 9123 4242 4242")
    field.fill("no number")
    expect(field).to_have_value("no number")
    field = page.get_by_label("Expiry date")
    for keys, date in {
        "1239": "12 / 39",
        "539": "05 / 39",
        "12/39": "12 / 39",
        "1/39": "01 / 39",
        "12 / 2039": "12 / 2039",
    }.items():
        typed(field, keys)
        expect(field).to_have_value(date)
        for _ in date:
            field.press("Backspace")
        expect(field).to_have_value("")


@pytest.mark.slow
def test_decline_is_seen(shop: Shop, path: Any, open_page: Open) -> None:
    """On a phone: the message has the focus and is in sight."""
    page = open_page(english(path, shop.order()), size=PHONE)
    page.get_by_label("Card number").fill("4000 0000 0000 9995")
    page.get_by_label("Expiry date").fill("12 / 39")
    page.get_by_label("Security code").fill("123")
    page.get_by_role("button", name="Pay €").click()
    message = page.get_by_role("alert")
    expect(message).to_be_focused()
    expect(message).to_be_in_viewport(ratio=1)
    expect(message).to_contain_text("There are not enough funds.")


@pytest.mark.slow
def test_redirect_method_goes_there_and_back(shop: Shop, path: Any, open_page: Open) -> None:
    """Choosing a method shows its form only; leaving the bank's page charges nothing."""
    page = open_page(english(path, shop.order()))
    page.get_by_text("Klarna", exact=True).click()
    expect(page.get_by_label("Card number")).to_be_hidden()
    page.get_by_role("button", name="Continue to Klarna").click()
    page.get_by_role("button", name="Cancel and go back").click()
    expect(page.get_by_role("alert")).to_contain_text("You have not been charged.")
    expect(page.get_by_label("Klarna")).to_be_checked()


def focused(page: Page) -> str:
    """What the keyboard is at: its id, else its text."""
    found: str = page.evaluate("document.activeElement.id || document.activeElement.textContent")
    return found


@pytest.mark.slow
def test_everything_is_reached_by_keyboard(shop: Shop, path: Any, open_page: Open) -> None:
    """Languages, methods, fields, button: in the order in which they are seen, focus in sight."""
    order = shop.order()
    page = open_page(english(path, order))
    way = []
    for _ in range(10):
        page.keyboard.press("Tab")
        way.append(focused(page))
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid", way
    fields = ["choose-card", "number", "expiry", "cvc", "save_card"]
    assert way == ["English", "Deutsch", "Français", "Español", "日本語", *fields]
    page.get_by_label("Card", exact=True).focus()
    page.keyboard.press("ArrowDown")
    assert focused(page) == "choose-sepa_debit"
    page.keyboard.press("Tab")
    page.keyboard.type("DE89 3704 0044 0532 0130 00")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Your payment is on its way.")
    assert shop.again(order)["status"] == "processing"


@pytest.mark.slow
def test_every_language_fits_a_small_phone(shop: Shop, path: Any, open_page: Open) -> None:
    """Long words and long amounts wrap or fold, in each language and down to 320 pixels."""
    items = [{"name": "Donaudampfschiffahrt" * 12, "quantity": 99, "unit_amount": 99_999_99}]
    order = shop.order(items=items, amount=999_999_999_99)
    page = open_page(size={"width": 320, "height": 640})
    for tag in LANGUAGES:
        page.goto(path(order, lang=tag))
        assert page.evaluate("document.documentElement.scrollWidth") == 320, tag


# --- other sites ------------------------------------------------------------------------------
