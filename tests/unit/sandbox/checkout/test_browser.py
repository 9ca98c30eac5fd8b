"""The checkout in a real Chromium: clicks, keys, colours, sizes, and what other sites may not do."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from support.browsing import needs_chromium
from unit.sandbox.checkout.shop import Shop
from unit.sandbox.checkout.windows import (
    CONTRASTS,
    PHONE,
    SCHEMES,
    TARGETS,
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
    """As on the card, however one writes a date; browsers are told which field is which.

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
    tokens = [
        page.get_by_label(label).get_attribute("autocomplete")
        for label in ("Card number", "Expiry date", "Security code")
    ]
    assert tokens == ["cc-number", "cc-exp", "cc-csc"]
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
def test_decline_is_seen_and_then_paid(shop: Shop, path: Any, open_page: Open) -> None:
    """On a phone: the message has the focus and is in sight, the form is kept."""
    order = shop.order()
    page = open_page(english(path, order), size=PHONE)
    page.get_by_label("Card number").fill("4000 0000 0000 9995")
    page.get_by_label("Expiry date").fill("12 / 39")
    page.get_by_label("Security code").fill("123")
    page.get_by_role("button", name="Pay €").click()
    message = page.get_by_role("alert")
    expect(message).to_be_focused()
    expect(message).to_be_in_viewport(ratio=1)
    expect(message).to_contain_text("There are not enough funds.")
    expect(page.get_by_label("Expiry date")).to_have_value("12 / 39")
    expect(page.get_by_label("Security code")).to_have_value("")
    page.get_by_label("Card number").fill("4242 4242 4242 4242")
    page.get_by_label("Security code").fill("123")
    page.get_by_role("button", name="Pay €").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Your payment is complete.")
    assert shop.events() == ["payment.failed", "payment.captured", "order.paid"]


@pytest.mark.slow
def test_reloading_a_decline_is_harmless(shop: Shop, path: Any, open_page: Open) -> None:
    """The browser sends the form again: another decline, and never a payment."""
    order = shop.order()
    page = open_page(english(path, order))
    page.get_by_role("button", name="Stolen card").click()
    expect(page.get_by_role("alert")).to_contain_text("The payment was declined.")
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("The payment was declined.")
    assert shop.again(order)["status"] == "requires_payment"


@pytest.mark.slow
def test_challenge_fails_and_then_succeeds(shop: Shop, path: Any, open_page: Open) -> None:
    """The 3-D Secure page leads back with a message, and the second time to the end."""
    order = shop.order()
    page = open_page(english(path, order))
    page.get_by_role("button", name="3-D Secure ··3220").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Confirm your payment")
    page.get_by_role("button", name="Do not confirm").click()
    expect(page.get_by_role("alert")).to_be_focused()
    expect(page.get_by_role("alert")).to_contain_text("not confirmed with your bank")
    page.get_by_role("button", name="3-D Secure ··3220").click()
    page.get_by_role("button", name="Confirm", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Your payment is complete.")
    assert shop.events() == ["payment.failed", "payment.captured", "order.paid"]


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
def test_page_works_without_javascript(shop: Shop, path: Any, open_page: Open) -> None:
    """There is none, so switching it off changes nothing."""
    order = shop.order()
    page = open_page(english(path, order), java_script_enabled=False)
    page.get_by_text("SEPA Direct Debit", exact=True).click()
    page.get_by_label("IBAN").fill("DE89370400440532013000")
    page.get_by_role("button", name="Pay €").click()
    page.wait_for_url("**/complete?*lang=en")
    assert shop.again(order)["status"] == "processing"


@pytest.mark.parametrize(
    ("country", "currency", "tag", "heading", "label"),
    [
        ("DE", "EUR", "de", "172,43\N{NO-BREAK SPACE}€ bezahlen", "Kartennummer"),
        ("JP", "JPY", "ja", "¥16,556のお支払い", "カード番号"),
    ],
)
@pytest.mark.slow
def test_page_speaks_the_shoppers_language(
    shop: Shop,
    path: Any,
    open_page: Open,
    country: str,
    currency: str,
    tag: str,
    heading: str,
    label: str,
) -> None:
    """By country, with the country's numbers; the browser's own language does not matter."""
    page = open_page(path(shop.order(currency=currency, shipping={"country": country})))
    expect(page.locator("html")).to_have_attribute("lang", tag)
    expect(page.get_by_role("heading", level=1)).to_have_text(heading)
    expect(page.get_by_label(label)).to_be_visible()


def press(page: Page, name: str) -> None:
    """Presses a button and waits for the page that it leads to, style sheet included."""
    with page.expect_navigation():
        page.get_by_role("button", name=name, exact=name == "Confirm").click()


def every_page(shop: Shop, path: Any, page: Page) -> Iterator[str]:
    """Walks through one page of each kind and yields where it is."""
    first, second = english(path, shop.order()), english(path, shop.order())
    page.goto(first)
    yield "pay"
    press(page, "Pay €")
    yield "gaps"
    page.get_by_text("SEPA Direct Debit", exact=True).click()
    yield "debit"
    press(page, "3-D Secure ··3220")
    yield "challenge"
    press(page, "Confirm")
    yield "paid"
    page.goto(second)
    press(page, "Confirmed after 3 min")
    yield "processing"
    page.goto("/checkout/nothing?key=pk_test_sandbox")
    yield "missing"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.slow
def test_every_text_stands_out(shop: Shop, path: Any, open_page: Open, scheme: str) -> None:
    """4.5 to 1 for text and 3 to 1 for the edges of fields, in light and in dark."""
    page = open_page(color_scheme=scheme)
    for where in every_page(shop, path, page):
        found = page.evaluate(CONTRASTS)
        assert found, where
        assert [each for each in found if each[1] < each[2]] == [], where
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        darkness = sum(int(part) for part in background[4:-1].split(",")) < 3 * 128
        assert darkness == (scheme == "dark"), where


@pytest.mark.slow
def test_everything_fits_a_phone(shop: Shop, path: Any, open_page: Open) -> None:
    """Nothing sticks out at 360 pixels, and a finger hits everything: 44 by 44."""
    page = open_page(size=PHONE)
    for where in every_page(shop, path, page):
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"], where
        small = [each for each in page.evaluate(TARGETS) if min(each[1:]) < 44]
        assert small == [], where


@pytest.mark.slow
def test_every_language_fits_a_small_phone(shop: Shop, path: Any, open_page: Open) -> None:
    """Long words and long amounts wrap or fold, in each language and down to 320 pixels."""
    items = [{"name": "Donaudampfschiffahrt" * 12, "quantity": 99, "unit_amount": 99_999_99}]
    order = shop.order(items=items, amount=999_999_999_99)
    page = open_page(size={"width": 320, "height": 640})
    for tag in LANGUAGES:
        page.goto(path(order, lang=tag))
        assert page.evaluate("document.documentElement.scrollWidth") == 320, tag


@pytest.mark.slow  # the plain run has some of them in proof/security/test_websites.py
def test_hostile_names_run_nothing(shop: Shop, path: Any, open_page: Open) -> None:
    """What looks like markup is shown as it was written."""
    name = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
    page = open_page(path(shop.order(items=[{"name": name, "quantity": 1, "unit_amount": 900}])))
    expect(page.get_by_text(name)).to_be_visible()
    assert "owned" not in page.title()


# --- other sites ------------------------------------------------------------------------------


def visit_stranger(page: Page, content: str) -> None:
    """Opens a page of somebody else's, which needs no network to be there."""
    page.route(
        "http://stranger.example/",
        lambda route: route.fulfill(content_type="text/html", body=content),
    )
    page.goto("http://stranger.example/")


@pytest.mark.slow
def test_strangers_form_cannot_pay(shop: Shop, path: Any, open_page: Open) -> None:
    """Even a site that knows the client secret cannot send the form (CSRF)."""
    order = shop.order()
    hidden = shop.get(path(order)).hidden("pay-card")
    inputs = "".join(f'<input name="{name}" value="{text}">' for name, text in hidden.items())
    page = open_page()
    visit_stranger(
        page,
        f'<form method="post" action="{shop.url}{path(order)}">{inputs}'
        '<button name="test_card" value="visa">Win</button></form>',
    )
    page.get_by_role("button").click()
    expect(page.get_by_role("heading")).to_have_text("This cannot be done")
    assert shop.payments(order) == []


@pytest.mark.slow  # the header that says so is held by test_pages.py
def test_stranger_cannot_frame_the_page(
    shop: Shop, path: Any, open_page: Open, complaints: list[str]
) -> None:
    """No other site can lay the checkout under its own buttons (clickjacking)."""
    page = open_page()
    visit_stranger(page, f'<iframe src="{shop.url}{path(shop.order())}"></iframe>')
    expect(page.frame_locator("iframe").locator("body")).not_to_be_empty()
    assert page.frame_locator("iframe").locator("form").count() == 0
    assert "frame-ancestors 'none'" in complaints.pop()


@pytest.mark.slow
def test_the_sandbox_s_own_address_can_be_read_on_every_screen(open_page: Open) -> None:
    """Nothing is cut or pushed aside, all of it has contrast, and links are hit by a finger."""
    page = open_page("/")
    for width in (320, 1280):
        page.set_viewport_size({"width": width, "height": 740})
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert [found for found in page.evaluate(CONTRASTS) if found[1] < found[2]] == []
            assert [found for found in page.evaluate(TARGETS) if found[2] < 24] == []
