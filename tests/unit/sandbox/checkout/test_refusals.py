"""Who is kept out: other sites, strange hosts, wrong keys, unknown orders, odd requests."""

from typing import Any
from urllib.parse import urlencode

import pytest

from unit.sandbox.checkout.shop import CheckoutPage, Shop

FORM = "application/x-www-form-urlencoded"


def assert_refused(page: CheckoutPage, status: int) -> None:
    """A plain page without a form, under the same protection as all."""
    assert page.status == status
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    assert page.headers["cache-control"] == "no-store"
    assert "www-authenticate" not in page.headers
    assert len(page.all("h1")) == 1
    assert page.all("form") == []


def posted(shop: Shop, path: str, headers: dict[str, str]) -> CheckoutPage:
    """A form that pays at once, with just these headers."""
    fields = {**shop.get(path).hidden("pay-card"), "test_card": "visa"}
    return shop.call("POST", path, {"Content-Type": FORM, **headers}, urlencode(fields))


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "null"},
        {"Origin": "https://shop.example"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "null"},
        {"Sec-Fetch-Site": "same-site", "Origin": "null"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "same-origin", "Origin": "https://shop.example"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "OWN"},
    ],
)
def test_forms_of_other_sites_are_refused(shop: Shop, path: Any, headers: dict[str, str]) -> None:
    """A page elsewhere cannot have the shopper's browser pay."""
    order = shop.order()
    own = {name: text.replace("OWN", shop.url) for name, text in headers.items()}
    assert_refused(posted(shop, path(order), own), 403)
    assert shop.payments(order) == []


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "OWN"},
        {"Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "same-origin", "Origin": "null"},
        {"Sec-Fetch-Site": "same-origin", "Origin": "OWN"},
    ],
)
def test_forms_of_our_own_pages_are_taken(shop: Shop, path: Any, headers: dict[str, str]) -> None:
    """Whichever of the two headers a browser sends."""
    own = {name: text.replace("OWN", shop.url) for name, text in headers.items()}
    assert posted(shop, path(shop.order()), own).status == 303


@pytest.mark.parametrize("step", ["", "/challenge", "/bank"])
def test_every_post_is_guarded(shop: Shop, path: Any, step: str) -> None:
    """Not only the first one."""
    page = shop.call("POST", path(shop.order(), step), {"Content-Type": FORM}, "a=b")
    assert_refused(page, 403)


@pytest.mark.parametrize(
    "secret", ["nothing", "ord_x_secret_y", "%00", "..%2f", "%ff", "%3Cscript%3E", "a" * 3000]
)
def test_unknown_secret_is_a_plain_404(shop: Shop, secret: str) -> None:
    """It names neither the order nor what was asked for."""
    page = shop.get(f"/checkout/{secret}?key=pk_test_sandbox")
    assert_refused(page, 404)
    assert page.one("h1").text == "This checkout does not exist"
    assert "script" not in page.body


def test_wrong_secret_of_a_real_order_is_unknown(shop: Shop, path: Any) -> None:
    """Half of the secret, or the id alone, opens nothing."""
    order = shop.order()
    for secret in (order["id"], order["client_secret"][:-1], order["client_secret"] + "x"):
        assert_refused(shop.get(f"/checkout/{secret}?key=pk_test_sandbox"), 404)
    assert_refused(shop.get(path(order, "/")), 404)
    assert_refused(shop.get(path(order, "/other")), 404)


def test_missing_page_speaks_the_language_that_was_asked_for(shop: Shop) -> None:
    """There is no order that could say another."""
    page = shop.get("/checkout/nothing?key=pk_test_sandbox&lang=fr")
    assert page.one("html").attrs["lang"] == "fr"
    assert page.one("h1").text.startswith("Cette page")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_verbs_are_refused(shop: Shop, path: Any, method: str) -> None:
    """Only GET and POST are known, and no preflight is answered."""
    page = shop.call(method, path(shop.order()), {"Origin": "https://shop.example"})
    assert_refused(page, 405)
    assert not any(name.startswith("access-control") for name in page.headers)


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({"Content-Type": "application/json"}, "{}", 415),
        ({"Content-Type": "multipart/form-data; boundary=x"}, "--x--", 415),
        ({}, "a=b", 415),
        ({"Content-Type": FORM}, "a=%zz", 400),
        ({"Content-Type": FORM}, "a=%ff", 400),
        ({"Content-Type": FORM}, "a=" + "b" * 20000, 413),
    ],
)
def test_bodies_that_are_no_form_of_ours_are_refused(
    shop: Shop, path: Any, headers: dict[str, str], body: str, status: int
) -> None:
    """Small forms in UTF-8, and nothing else."""
    headers = {"Sec-Fetch-Site": "same-origin", **headers}
    assert_refused(shop.call("POST", path(shop.order()), headers, body), status)


def test_made_up_answer_of_a_bank_is_refused(shop: Shop, path: Any) -> None:
    """An outcome that no button has changes nothing."""
    order = shop.order()
    fields = {**shop.get(path(order)).hidden("pay-klarna"), "answer": "perhaps"}
    assert_refused(shop.send(path(order, "/bank"), **fields), 400)
    assert shop.payments(order) == []


# --- keys -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "key", ["sk_test_sandbox", "rk_test_readonly", "pk_test_nothing", "sk_live_sandbox", "x"]
)
def test_only_publishable_keys_mount_the_page(shop: Shop, path: Any, key: str) -> None:
    """A secret key in the address is refused, told to the developer and not repeated."""
    order = shop.order()
    page = shop.get(path(order, key=key))
    assert page.status in (403, 404)
    assert_refused(page, page.status)
    assert key not in page.one("main").text
    fields = {**shop.get(path(order)).hidden("pay-card"), "test_card": "visa"}
    assert shop.send(path(order, key=key), **fields).status == page.status
    assert shop.payments(order) == []


@pytest.mark.parametrize("query", ["", "?key=", "?lang=de"])
def test_page_that_forgets_its_key_is_told(shop: Shop, query: str) -> None:
    """Nothing is mounted without the publishable key, and the developer reads why (spec: 2)."""
    page = shop.get(f"/checkout/{shop.order()['client_secret']}{query}")
    assert_refused(page, 403)
    assert "?key=pk_test_" in page.one("aside").text


def test_secret_key_is_explained(shop: Shop, path: Any) -> None:
    """The developer learns what to open instead."""
    note = shop.get(path(shop.order(), key="sk_test_sandbox")).one("aside").text
    assert "secret keys stay on the server" in note
    assert "?key=pk_test_" in note


def test_another_publishable_key_stays_with_the_shopper(shop: Shop, path: Any) -> None:
    """From page to page, and into the payment."""
    made = shop.control("POST", "/keys", {"type": "publishable"})["secret"]
    order = shop.order()
    address = path(order, key=made)
    page = shop.get(address)
    assert all(made in link.attrs["href"] for link in page.all("a", hreflang="de"))
    paid = shop.send(address, test_card="visa", **page.hidden("pay-card"))
    assert paid.location == path(order, "/complete", key=made)
    assert shop.get(paid.location).status == 200


def test_rolled_key_mounts_nothing(shop: Shop, path: Any) -> None:
    """A page with a key that has ended says so to the developer (spec: Authentication)."""
    (key,) = (k for k in shop.control("GET", "/keys")["data"] if k["type"] == "publishable")
    order = shop.order()
    shop.control("POST", f"/keys/{key['id']}/roll", {})
    page = shop.get(path(order))
    assert_refused(page, 403)
    assert "rolled" in page.one("aside").text
    assert "?key=pk_test_" in page.one("aside").text


def test_key_of_the_other_mode_finds_no_order(shop: Shop, path: Any) -> None:
    """Modes are kept apart (spec: What it does, 9)."""
    assert_refused(shop.get(path(shop.order(), key="pk_live_sandbox")), 404)
