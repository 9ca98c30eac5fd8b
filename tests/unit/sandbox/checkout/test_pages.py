"""What the checkout shows: language, total, items, and the page for each state of an order."""

import re
from typing import Any

import pytest

from unit.sandbox.checkout.shop import CheckoutPage, Shop

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)
NBSP = "\N{NO-BREAK SPACE}"
HOSTILE = "\"><script>alert(1)</script><img src=x onerror=alert(2)>'&amp;\u202e"


def assert_protected(page: CheckoutPage) -> None:
    """Every page refuses scripts but our own files, frames, other sites, sniffing and keeping.

    The one with a card's fields has one script, which sets their digits; the others have none.
    """
    scripts = [element.attrs["src"] for element in page.all("script")]
    assert scripts in ([], ["/checkout/card.js"])
    assert page.headers["content-security-policy"] == POLICY
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("country", "currency", "tag", "heading"),
    [
        ("DE", "EUR", "de", f"172,43{NBSP}€ bezahlen"),
        ("FR", "EUR", "fr", f"Payer 173,88{NBSP}€"),
        ("MX", "MXN", "es", None),
        ("JP", "JPY", "ja", "¥16,556のお支払い"),
        ("US", "USD", "en", "Pay US$"),
        ("NL", "EUR", "en", "Pay €"),
    ],
)
def test_language_follows_the_country(
    shop: Shop, path: Any, country: str, currency: str, tag: str, heading: str | None
) -> None:
    """The page speaks the country's language, or English where it cannot, and writes its numbers."""
    page = shop.get(path(shop.order(currency=currency, shipping={"country": country})))
    assert page.status == 200
    assert page.one("html").attrs["lang"] == tag
    if heading:
        assert heading in page.one("h1").text
    (current,) = page.all("a", aria_current="true")
    assert current.attrs["hreflang"] == tag


@pytest.mark.parametrize("tag", ["en", "de", "fr", "es", "ja"])
def test_shopper_may_choose_another_language(shop: Shop, path: Any, tag: str) -> None:
    """The switch leads to the same page, and the choice stays on the way through the forms."""
    page = shop.get(path(shop.order()))
    link = page.one("a", hreflang=tag)
    chosen = shop.get(link.attrs["href"])
    assert chosen.one("html").attrs["lang"] == tag
    form = chosen.one("form", id="pay-card")
    assert form.attrs["action"].endswith(f"&lang={tag}")
    paid = shop.send(form.attrs["action"], test_card="visa", **chosen.hidden("pay-card"))
    assert shop.get(paid.location).one("html").attrs["lang"] == tag


def test_total_is_broken_down(shop: Shop, path: Any) -> None:
    """Items, shipping, duty, tax and total, as the order has them (spec: What it does, 2)."""
    order = shop.order()
    charges = order["landed_cost"]
    page = shop.get(path(order, lang="en"))
    assert page.rows == {
        "Items": "€129.00",
        "Shipping": "€9.90",
        "Customs duty": f"€{charges['duty'] / 100:.2f}",
        "Import tax (VAT)": f"€{charges['vat'] / 100:.2f}",
        "Total EUR": f"€{order['amount_total'] / 100:.2f}",
    }
    items = [e.text for e in page.all("ul", class_="items")[0].inside if e.tag == "li"]
    assert items == ["Linen jacket€89.00", "Cotton socks4 \N{MULTIPLICATION SIGN} €10.00€40.00"]
    assert "included and guaranteed" in page.one("section", class_="summary").text


def test_fees_are_a_row_of_their_own(shop: Shop, path: Any) -> None:
    """Where a customs fee is due, the rows still add up to the total."""
    order = shop.order(currency="USD", shipping={"country": "CA"}, amount=60000)
    assert order["landed_cost"]["fees"] > 0
    rows = shop.get(path(order, lang="en")).rows
    cents = {name: int(re.sub(r"\D", "", text)) for name, text in rows.items()}
    total = cents.pop("Total USD")
    assert "Customs fees" in cents
    assert sum(cents.values()) == total == order["amount_total"]


def test_shortfall_is_a_discount(shop: Shop, path: Any) -> None:
    """An order cheaper than its items shows the difference as a discount (assumptions: Order)."""
    rows = shop.get(path(shop.order(amount=12000), lang="en")).rows
    assert rows["Discount"] == "\N{MINUS SIGN}€9.00"
    assert "Shipping" not in rows


def test_charges_that_are_not_collected_are_not_in_the_total(shop: Shop, path: Any) -> None:
    """With `collect_landed_cost` off, the shopper is told what comes at the door."""
    shop.control("POST", "/settings", {"collect_landed_cost": False})
    order = shop.order()
    page = shop.get(path(order, lang="en"))
    assert page.rows == {"Items": "€129.00", "Shipping": "€9.90", "Total EUR": "€138.90"}
    due = f"about €{order['landed_cost']['total'] / 100:.2f} are not included"
    assert due in page.one("section", class_="summary").text


def test_estimate_is_told_apart_from_a_guarantee(shop: Shop, path: Any) -> None:
    """Nothing is promised that the order does not promise (spec: What it does, 6)."""
    order = shop.order(items=[{"name": "?", "quantity": 1, "unit_amount": 9000}])
    page = shop.get(path(order, lang="en"))
    assert "an estimate" in page.one("section", class_="summary").text


def test_order_without_charges_says_so(shop: Shop, path: Any) -> None:
    """Goods from the same country bear none."""
    order = shop.order(currency="USD", shipping={"country": "US"})
    assert order["landed_cost"]["guaranteed"]
    page = shop.get(path(order))
    assert "No duties or import taxes are due" in page.one("section", class_="summary").text


def test_long_orders_are_folded(shop: Shop, path: Any) -> None:
    """A hundred items do not push the payment out of sight."""
    items = [{"name": f"Item {i}", "quantity": 1, "unit_amount": 100} for i in range(100)]
    page = shop.get(path(shop.order(items=items), lang="en"))
    assert page.one("summary").text == "Show 96 more items"
    shown = [e for e in page.all("ul", class_="items")[0].inside if e.tag == "li"]
    assert len(shown) == 4
    assert page.body.count("Item ") == 100


def test_methods_are_the_orders_in_its_order(shop: Shop, path: Any) -> None:
    """Every method of the order is a choice with a name for people."""
    order = shop.order()
    page = shop.get(path(order))
    radios = page.all("input", type="radio")
    assert [radio.attrs["value"] for radio in radios] == order["methods"]
    assert ["checked" in radio.attrs for radio in radios] == [True, False, False, False]
    names = [page.one("label", for_=radio.attrs["id"]).text for radio in radios]
    assert names == ["Kredit- oder Debitkarte", "SEPA-Lastschrift", "Klarna", "PayPal"]


def test_hostile_names_stay_text(shop: Shop, path: Any) -> None:
    """What a merchant writes into an order never becomes markup."""
    items = [{"name": HOSTILE, "quantity": 1, "unit_amount": 100}]
    shipping = {"country": "DE", "postal_code": HOSTILE, "city": HOSTILE, "name": HOSTILE}
    page = shop.get(path(shop.order(items=items, shipping=shipping)))
    assert page.all("img") == []
    assert_protected(page)
    isolated = [e.text for e in page.all("bdi")]
    shown = HOSTILE.replace("\u202e", "\\u{202e}")
    assert shown in isolated
    assert any(shown in text and text.endswith("DE") for text in isolated)


@pytest.mark.parametrize(
    "mark", [*"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"]
)
def test_a_mark_that_turns_text_is_seen(shop: Shop, path: Any, mark: str) -> None:
    """A name cannot write an amount backwards; what it tried is there to read."""
    items = [{"name": f"Jacket{mark}00.1", "quantity": 1, "unit_amount": 100}]
    shipping = {"country": "DE", "name": f"A{mark}B"}
    page = shop.get(path(shop.order(items=items, shipping=shipping)))
    assert mark not in page.body
    shown = f"\\u{{{ord(mark):x}}}"
    assert f"Jacket{shown}00.1" in page.body
    assert f"A{shown}B" in page.body


@pytest.mark.parametrize("query", ["lang", "key", "method", "result", "return_url", "parent"])
def test_hostile_queries_stay_text(shop: Shop, path: Any, query: str) -> None:
    """Nor does what anybody writes into an address."""
    page = shop.get(path(shop.order(), **{query: '"><script>alert(1)</script>'}))
    assert page.status in (200, 400, 403)
    assert_protected(page)


def test_page_works_without_anything_from_elsewhere(shop: Shop, path: Any) -> None:
    """No inline script or style, and only files of our own."""
    page = shop.get(path(shop.order(), lang="en"))
    assert page.all("style") == []
    assert "No money moves." in page.one("p", class_="mode").text
    assert page.one("script").text == ""
    assert "style=" not in page.body
    assert "://" not in page.body
    assert_protected(page)
    for link in page.all("link"):
        file = shop.get(link.attrs["href"])
        assert file.status == 200
        assert_protected(file)
        assert "url(" not in file.body
        assert "@import" not in file.body


def test_no_secret_key_reaches_the_browser(shop: Shop, path: Any) -> None:
    """The page carries the publishable key only (spec: Authentication)."""
    order = shop.order()
    first = shop.get(path(order))
    last = shop.get(shop.submit(path(order), test_card="visa").location)
    assert "key=pk_test_sandbox" in first.one("form", id="pay-card").attrs["action"]
    for page in (first, last):
        assert "sk_" not in page.body
        assert "whsec_" not in page.body


def test_every_field_has_label_and_autocomplete(shop: Shop, path: Any) -> None:
    """People with a screen reader or a password manager can fill the form in."""
    page = shop.get(path(shop.order()))
    wanted = {"number": "cc-number", "expiry": "cc-exp", "cvc": "cc-csc", "iban": "off"}
    for name, autocomplete in wanted.items():
        field = page.field(name)
        assert field.attrs["autocomplete"] == autocomplete
        assert page.one("label", for_=field.attrs["id"]).text
    assert {page.field(name).attrs["inputmode"] for name in ("number", "expiry", "cvc")} == {
        "numeric"
    }
    assert {"novalidate", "action"} <= page.one("form", id="pay-card").attrs.keys()
    assert len(page.all("h1")) == 1
    assert page.one("fieldset").inside[0].tag == "legend"


@pytest.mark.parametrize("tag", ["en", "de", "fr", "es", "ja"])
def test_notes_for_developers_are_english_and_marked(shop: Shop, path: Any, tag: str) -> None:
    """They are set apart from what a shopper would see, in every language of the page."""
    page = shop.get(path(shop.order(), lang=tag))
    note = page.one("aside")
    assert note.attrs["lang"] == "en"
    assert "One click fills the form and pays." in [each.text for each in page.all("p")]
    assert note.text.startswith("For developers")


# --- the states -------------------------------------------------------------------------------


def end(shop: Shop, order: Any, path: Any) -> CheckoutPage:
    """Where the checkout of an order that is not to be paid leads to."""
    page = shop.get(path(order, lang="en"))
    assert page.location == path(order, "/complete", lang="en")
    return shop.get(page.location)


def test_paid_order_shows_its_last_page(shop: Shop, path: Any) -> None:
    """What was paid, with what, and that fulfilment follows order.paid (spec: 8)."""
    order = shop.order()
    shop.submit(path(order), test_card="visa")
    page = end(shop, order, path)
    assert page.one("h1").text == "Thank you. Your payment is complete."
    assert f"€{order['amount_total'] / 100:.2f}" in page.one("main").text
    assert page.rows == {"Order": order["id"], "Paid with": "Visa, ending in 4242"}
    note = page.one("aside").text
    assert "Fulfilment follows the webhook event order.paid." in note
    assert "order.paid was sent" in note
    assert page.all("form") == []
    assert_protected(page)


def test_refund_shows_on_the_last_page(shop: Shop, path: Any) -> None:
    """A shopper who comes back sees what was returned."""
    order = shop.order()
    shop.submit(path(order), test_card="mastercard")
    shop.api("POST", "/v1/refunds", {"payment": shop.payments(order)[0]["id"], "amount": 1000})
    assert end(shop, order, path).rows["Refunded"] == "€10.00"


def test_authorized_order_is_not_called_paid(shop: Shop, path: Any) -> None:
    """The amount is reserved; the developer is told that order.paid follows the capture."""
    order = shop.order(capture_method="manual")
    assert "reserved now" in shop.get(path(order, lang="en")).one("form", id="pay-card").text
    shop.submit(path(order), test_card="visa")
    page = end(shop, order, path)
    assert page.one("h1").text == "Thank you. Your payment is reserved."
    assert f"svc orders capture {order['id']}" in page.one("aside").text
    shop.api("POST", f"/v1/orders/{order['id']}/capture", {"amount": 5000})
    captured = end(shop, order, path)
    assert captured.one("h1").text == "Thank you. Your payment is complete."
    assert "€50.00" in captured.one("main").text


def test_processing_order_waits_for_the_bank(shop: Shop, path: Any) -> None:
    """A debit is on its way until the bank confirms; then the same address shows it as paid."""
    order = shop.order()
    shop.submit(path(order), "sepa_debit", test_iban="confirmed_late")
    page = end(shop, order, path)
    assert page.one("h1").text == "Thank you. Your payment is on its way."
    assert page.rows["Paid with"] == "SEPA Direct Debit"
    assert "order.paid is not sent yet" in page.one("aside").text
    [payment] = shop.payments(order)
    assert f"svc sandbox settle {payment['id']}" in page.one("aside").text
    shop.control("POST", "/clock/advance", {"seconds": 180})
    again = shop.get(page.one("a", class_="second").attrs["href"])
    assert again.one("h1").text == "Thank you. Your payment is complete."


def test_rejected_debit_leads_back_to_paying(shop: Shop, path: Any) -> None:
    """The shopper who checks again is told, and can pay in another way."""
    order = shop.order()
    shop.submit(path(order), "sepa_debit", test_iban="rejected_late")
    waiting = end(shop, order, path)
    shop.control("POST", "/clock/advance", {"seconds": 180})
    back = shop.get(waiting.one("a", class_="second").attrs["href"])
    page = shop.get(back.location)
    assert page.message.startswith("There are not enough funds.")
    assert page.one("input", id="choose-sepa_debit").attrs["checked"] == ""
    assert shop.submit(path(order), test_card="visa").status == 303
    assert shop.again(order)["status"] == "paid"


def test_cancelled_order_asks_for_nothing(shop: Shop, path: Any) -> None:
    """There is nothing to pay and no form to do it with."""
    order = shop.order()
    shop.api("POST", f"/v1/orders/{order['id']}/cancel", {})
    page = end(shop, order, path)
    assert page.one("h1").text == "This order was cancelled."
    assert page.all("form") == []
    assert "Paid with" not in page.rows
    assert "order.cancelled was sent" in page.one("aside").text


def test_unpaid_order_has_no_last_page(shop: Shop, path: Any) -> None:
    """Whoever opens the last address early is led to paying, and told nothing of a failure."""
    order = shop.order()
    page = shop.get(shop.get(path(order, "/complete")).location)
    assert page.all("div", role="alert") == []
    assert page.one("form", id="pay-card")


def test_control_tells_the_path_of_an_orders_page(shop: Shop, path: Any) -> None:
    """The client secret was shown only once; the dashboard can still open the page."""
    order = shop.order()
    assert shop.control("GET", f"/orders/{order['id']}/checkout_url") == {
        "object": "checkout_url",
        "order": order["id"],
        "client_secret": order["client_secret"],
        "path": path(order),
    }


def test_control_knows_the_modes_apart(shop: Shop) -> None:
    """A live order is asked for with mode=live."""
    order = shop.order(key="sk_live_sandbox")
    where = f"/orders/{order['id']}/checkout_url"
    assert shop.control("GET", where)["code"] == "resource_missing"
    assert shop.control("GET", f"{where}?mode=live")["order"] == order["id"]
