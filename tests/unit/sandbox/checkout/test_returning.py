"""Shoppers who return: to the shop when they have paid, and later with the card that they saved."""

from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from unit.sandbox.checkout.shop import CheckoutPage, Shop

BACK = "http://localhost:3000/thanks?cart=7&empty="


def labels(page: CheckoutPage) -> list[str]:
    """The ways to pay, in their order."""
    return [
        page.one("label", for_=radio.attrs["id"]).text for radio in page.all("input", type="radio")
    ]


def save(shop: Shop, path: Any, tag: str = "visa", **changes: Any) -> None:
    shop.submit(path(shop.order(**changes)), test_card=tag, save_card="on")


# --- to the shop ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "method", "fields", "outcome"),
    [
        ({}, "card", {"test_card": "visa"}, "paid"),
        ({"capture_method": "manual"}, "card", {"test_card": "visa"}, "authorized"),
        ({}, "sepa_debit", {"test_iban": "confirmed_late"}, "processing"),
    ],
)
def test_shopper_returns_with_order_and_outcome(
    shop: Shop, path: Any, changes: Any, method: str, fields: dict[str, str], outcome: str
) -> None:
    """In the query, after what was in it; the page's policy lets its form lead to that origin."""
    order = shop.order(**changes)
    page = shop.get(path(order, return_url=BACK))
    assert "form-action 'self' http://localhost:3000;" in page.headers["content-security-policy"]
    end = shop.submit(path(order, return_url=BACK), method, **fields).location
    assert end == path(order, "/complete", return_url=BACK)
    returned = urlsplit(shop.get(end).location)
    assert returned.netloc + returned.path == "localhost:3000/thanks"
    asked = [("cart", "7"), ("empty", ""), ("order", order["id"]), ("outcome", outcome)]
    assert parse_qsl(returned.query, keep_blank_values=True) == asked


def test_cancelled_order_returns_too(shop: Shop, path: Any) -> None:
    """It was cancelled under the page: the shop learns that, and not that it was paid."""
    order = shop.order()
    form = shop.get(path(order, return_url=BACK)).hidden("pay-card")
    shop.api("POST", f"/v1/orders/{order['id']}/cancel", {})
    end = shop.send(path(order, return_url=BACK), test_card="visa", **form).location
    assert shop.get(end).location.endswith(f"order={order['id']}&outcome=cancelled")


@pytest.mark.parametrize(
    ("address", "taken"),
    [
        ("https://shop.example/thanks", True),
        ("https://shop.example:8443", True),
        ("http://127.0.0.1:3000/?a=b#c", True),
        ("http://shop.localhost/", True),
        ("http://[::1]:3000/", True),
        ("http://shop.example/", False),
        ("http://localhost.example/", False),
        ("http://localhost@shop.example/", False),
        ("//shop.example/", False),
        ("javascript:alert(1)", False),
        ("https://shop.example;script-src *", False),
        ("https://shop.example/\r\nSet-Cookie: a=b", False),
        ("", False),
    ],
)
def test_return_leads_to_https_or_this_machine(
    shop: Shop, path: Any, address: str, taken: bool
) -> None:
    """Anything else is told to the developer, before anybody pays, and is in no header."""
    page = shop.get(path(shop.order(), return_url=address))
    assert page.status == (200 if taken else 400)
    policy = page.headers["content-security-policy"]
    assert policy.count("script-src") == 1
    if not taken:
        assert "return_url is an https address" in page.one("aside").text
        assert "form-action 'self';" in policy


@pytest.mark.parametrize("parent", ["http://localhost:3000", "https://shop.localhost"])
def test_frame_is_told_and_does_not_return_by_itself(shop: Shop, path: Any, parent: str) -> None:
    """Its last page has the outcome for the page around it, and only that page may frame it."""
    order = shop.order()
    address = path(order, return_url=BACK, parent=parent)
    page = shop.get(shop.submit(address, test_card="visa").location)
    told = page.one("script").attrs
    assert (told["data-outcome"], told["data-page"]) == ("paid", parent)
    assert f"frame-ancestors {parent};" in page.headers["content-security-policy"]


@pytest.mark.parametrize(
    "parent", ["http://shop.example", "*", "http://localhost:3000/x", "http://localhost; *", ""]
)
def test_no_other_page_is_told(shop: Shop, path: Any, parent: str) -> None:
    """A page elsewhere cannot name itself, and nothing of what it named is in the policy."""
    page = shop.get(path(shop.order(), parent=parent))
    assert page.status == 400
    assert "?parent=http://localhost:3000" in page.one("aside").text
    assert "frame-ancestors 'none';" in page.headers["content-security-policy"]


# --- with a saved card ------------------------------------------------------------------------


def test_saved_card_is_offered_again(shop: Shop, path: Any) -> None:
    """First among the ways to pay, and chosen; one button pays with it, and it stays one card."""
    save(shop, path)
    order = shop.order()
    page = shop.get(path(order, lang="en"))
    assert labels(page)[:2] == ["Visa, ending in 4242", "Card"]
    (radio, *others) = page.all("input", type="radio")
    assert "checked" in radio.attrs
    assert not any("checked" in each.attrs for each in others)
    identity = radio.attrs["value"]
    assert shop.send(path(order), **page.hidden(f"pay-{identity}")).status == 303
    (payment,) = shop.payments(order)
    assert (payment["status"], payment["payment_method"]["id"]) == ("captured", identity)
    assert labels(shop.get(path(shop.order(), lang="en"))).count("Visa, ending in 4242") == 1


def test_shoppers_are_told_apart_by_the_merchant(shop: Shop, path: Any) -> None:
    """`metadata[customer]` says whose cards they are; without it there is one shopper."""
    ann: Any = {"metadata": {"customer": "ann"}}
    ben: Any = {"metadata": {"customer": "ben"}}
    save(shop, path, **ann)
    save(shop, path, "mastercard")
    assert labels(shop.get(path(shop.order(**ann), lang="en")))[0] == "Visa, ending in 4242"
    assert labels(shop.get(path(shop.order(**ben), lang="en")))[0] == "Card"
    strange = shop.get(path(shop.order(**ann))).all("input", type="radio")[0].attrs["value"]
    order = shop.order(**ben)
    form = {**shop.get(path(order)).hidden("pay-card"), "saved": strange}
    assert shop.send(path(order), **form).status == 400
    assert shop.payments(order) == []


def test_the_latest_three_that_are_good_are_offered(shop: Shop, path: Any) -> None:
    """None twice, and none that expires before the order is paid."""
    for tag in ("visa", "amex", "jcb", "visa", "discover"):
        save(shop, path, tag)
    assert [
        label.split(",")[0] for label in labels(shop.get(path(shop.order(), lang="en")))[:4]
    ] == [
        "Discover",
        "Visa",
        "JCB",
        "Card",
    ]
    shop.control("POST", "/clock/advance", {"seconds": 4 * 366 * 86400})
    assert labels(shop.get(path(shop.order(), lang="en")))[0] == "Card"


def test_saved_card_is_challenged_and_declined_as_a_new_one(shop: Shop, path: Any) -> None:
    """Its bank asks first; "do not confirm" pays nothing and leaves the choice as it was."""
    page = shop.get(shop.submit(path(shop.order()), test_card="challenge", save_card="on").location)
    form = page.one("form", class_="choices")
    hidden = {e.attrs["name"]: e.attrs["value"] for e in form.inside if e.tag == "input"}
    shop.send(form.attrs["action"], answer="succeed", **hidden)
    order = shop.order()
    first = shop.get(path(order, lang="en"))
    identity = first.all("input", type="radio")[0].attrs["value"]
    asked = shop.get(shop.send(path(order, lang="en"), **first.hidden(f"pay-{identity}")).location)
    form = asked.one("form", class_="choices")
    hidden = {e.attrs["name"]: e.attrs["value"] for e in form.inside if e.tag == "input"}
    for answer, status in {"fail": "failed", "succeed": "captured"}.items():
        shop.send(form.attrs["action"], answer=answer, **hidden)
        assert shop.payments(order)[0]["status"] == status
    assert shop.payments(order)[0]["payment_method"]["id"] == identity
