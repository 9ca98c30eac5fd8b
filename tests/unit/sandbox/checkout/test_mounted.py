"""The checkout in a page of the shop's own, and fulfilment that follows order.paid alone."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from playwright.sync_api import FrameLocator, Page, Route, expect

from support.browsing import needs_chromium
from support.serving import QuietHandler, serving
from unit.sandbox.checkout.shop import Doc, Shop
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

pytestmark = needs_chromium
SHOWN = """<!doctype html><html lang="en"><meta charset="utf-8"><title>A shop</title>
<main><h1>A shop</h1><div id="checkout"></div></main>
<script src="{sandbox}/checkout.js"></script>
<script>
  window.told = [];
  window.addEventListener("message", (event) => told.push([event.origin, event.data]));
  window.outcomes = [];
  const onOutcome = (outcome) => outcomes.push(outcome);
  SvcCheckout.mount("#checkout", {{ ...{options}, onOutcome }});
</script>"""
THANKS = b'<!doctype html><html lang="en"><title>Thanks</title><h1>Thanks</h1>'


@dataclass
class ShopSite:
    """A shop: a page with the checkout in it, one to return to, and what its webhooks told it."""

    sandbox: str
    url: str = ""
    fulfilled: list[str] = field(default_factory=list)

    def page(self, order: Doc, **options: str) -> str:
        """The address of the page that shows an order's checkout."""
        given = {"key": "pk_test_sandbox", "clientSecret": order["client_secret"], **options}
        return f"{self.url}/?{urlencode({'options': json.dumps(given)})}"

    def take(self, body: bytes) -> None:
        event = json.loads(body)
        if event["type"] == "order.paid":
            self.fulfilled.append(event["data"]["object"]["id"])


@pytest.fixture
def site(shop: Shop) -> Iterator[ShopSite]:
    """The shop is on another site than the sandbox, as in life: `localhost` and an address."""
    made = ShopSite(shop.url)

    class Pages(QuietHandler):
        def get(self) -> None:
            address = urlsplit(self.path)
            options = dict(parse_qsl(address.query)).get("options", "{}")
            page = SHOWN.format(sandbox=made.sandbox, options=options).encode()
            self.answer(200, THANKS if address.path == "/thanks" else page, "text/html")

        def post(self) -> None:
            made.take(self.body())
            self.answer(200)

    with serving(Pages) as origin:
        made.url = origin.replace("127.0.0.1", "localhost")
        hook = {"url": f"{origin}/hook", "events": ["order.paid"]}
        shop.api("POST", "/v1/webhook_endpoints", hook)
        yield made


def frame_of(page: Page) -> FrameLocator:
    return page.frame_locator("iframe")


def english(site: ShopSite, order: Doc, **options: str) -> str:
    return site.page(order, language="en", **options)


def fulfilled(shop: Shop, site: ShopSite) -> list[str]:
    """What the shop sends out once all webhooks are there."""
    shop.control("POST", "/clock/advance", {"seconds": 1})
    return site.fulfilled


@pytest.mark.slow(seconds=3)
def test_the_page_around_it_learns_the_outcome_and_nothing_else(
    shop: Shop, site: ShopSite, open_page: Open
) -> None:
    """It cannot look into the frame; the shopper returns, and order.paid has the order sent."""
    order = shop.order()
    page = open_page(english(site, order))
    expect(frame_of(page).get_by_label("Card number")).to_be_visible()
    assert page.evaluate("document.querySelector('iframe').contentDocument") is None
    frame_of(page).get_by_role("button", name="Visa").click()
    expect(frame_of(page).get_by_role("heading", level=1)).to_contain_text("complete")
    page.wait_for_function("outcomes.length > 0")
    said = {"type": "svc.checkout", "outcome": "paid"}
    assert page.evaluate("[told, outcomes]") == [[[shop.url, said]], ["paid"]]
    assert fulfilled(shop, site) == [order["id"]]
    page.goto(english(site, order, returnUrl="/thanks?a=b"))
    page.wait_for_url(f"{site.url}/thanks?a=b&order={order['id']}&outcome=paid")


@pytest.mark.slow(seconds=2)
def test_a_page_that_forgets_something_is_told(
    shop: Shop, site: ShopSite, open_page: Open, complaints: list[str]
) -> None:
    """Key, kind of key, client secret, element: each in one sentence, and nothing is mounted."""
    page = open_page(english(site, shop.order()))
    wrong = {
        "give the publishable key": '"#checkout", { clientSecret: "x" }',
        "secret keys stay on the server": '"#checkout", { key: "sk_test_1", clientSecret: "x" }',
        "the order's client secret": '"#checkout", { key: "pk_test_1" }',
        "no element to mount it in": '"#nothing", { key: "pk_test_1", clientSecret: "x" }',
    }
    for words, options in wrong.items():
        attempt = (
            f"() => {{ try {{ SvcCheckout.mount({options}) }} catch (e) {{ return e.message }} }}"
        )
        assert words in page.evaluate(attempt)
    page.goto(site.page(shop.order(), key="pk_test_unknown"))
    expect(frame_of(page).locator("aside")).to_contain_text("The API key is not valid.")
    page.goto(site.page(shop.order(), key=""))
    assert "give the publishable key" in complaints.pop()
    assert page.locator("iframe").count() == 0


@pytest.mark.slow(seconds=5)
def test_return_follows_the_last_form_of_a_page_of_its_own(
    shop: Shop, site: ShopSite, path: Any, open_page: Open
) -> None:
    """The policy of a bank's page lets the form lead there as well."""
    back, order = f"{site.url}/thanks", shop.order()
    page = open_page(path(order, lang="en", return_url=back))
    page.get_by_text("Klarna", exact=True).click()
    page.get_by_role("button", name="Continue to Klarna").click()
    page.get_by_role("button", name="Approve payment").click()
    page.wait_for_url(f"{back}?order={order['id']}&outcome=paid")


def carry_out_and_cut(route: Route) -> None:
    """Lets a form reach the sandbox; its answer never comes back."""
    if route.request.method == "POST":
        same = {**route.request.headers, "sec-fetch-site": "same-origin", "origin": "null"}
        assert route.fetch(headers=same, max_redirects=0).status == 303
        route.abort()
    else:
        route.continue_()


@pytest.mark.slow(seconds=15)
def test_fulfilment_follows_the_event_in_every_race(
    shop: Shop, site: ShopSite, path: Any, open_page: Open
) -> None:
    """Each order is sent once it is paid, once, and never before, whatever the browser does."""
    back = f"{site.url}/thanks"
    order = shop.order()
    # The address of thanks is opened by hand: nothing was paid, and nothing is sent.
    page = open_page(f"{back}?order={order['id']}&outcome=paid")
    assert fulfilled(shop, site) == []
    # The redirect is there before the event.
    shop.control("POST", "/settings", {"webhook_delivery": "manual"})
    page.goto(shop.url + path(order, lang="en", return_url=back))
    page.get_by_role("button", name="Visa").click()
    page.wait_for_url(f"{back}?*outcome=paid")
    assert site.fulfilled == []
    assert fulfilled(shop, site) == [order["id"]]
    # Back: the order is paid, so the shopper is led on again and pays nothing.
    page.go_back()
    page.wait_for_url(f"{back}?*outcome=paid")
    # The window is closed before it returns: the event comes all the same.
    shop.control("POST", "/settings", {"webhook_delivery": "auto"})
    closed = shop.order()
    page.route("**/checkout/**", carry_out_and_cut)
    page.goto(shop.url + path(closed, lang="en", return_url=back))
    with page.expect_event("requestfailed"):
        page.get_by_role("button", name="Visa").click()
    page.close()
    assert fulfilled(shop, site) == [order["id"], closed["id"]]
    assert [len(shop.payments(each)) for each in (order, closed)] == [1, 1]


@pytest.mark.slow(seconds=5)
def test_only_pages_of_this_machine_hold_the_frame(
    shop: Shop, path: Any, open_page: Open, complaints: list[str]
) -> None:
    """A stranger who knows key and secret gets no form into his page, whatever parent he names."""
    page = open_page()
    shown = "".join(
        f'<iframe src="{shop.url}{path(shop.order(), parent=parent)}"></iframe>'
        for parent in ("http://stranger.example", "http://localhost:3000", "*", "'self'")
    )

    def fulfil(route: Route) -> None:
        route.fulfill(content_type="text/html", body=shown)

    page.route("http://stranger.example/", fulfil)
    page.goto("http://stranger.example/")
    for number in range(4):
        frame = page.frame_locator(f"iframe >> nth={number}")
        expect(frame.locator("body")).not_to_be_empty()
        assert frame.locator("form").count() == 0
    assert all("frame-ancestors" in text for text in complaints)
    complaints.clear()


def press(page: Page, name: str) -> None:
    """Presses a button and waits for the page that it leads to, style sheet included."""
    with page.expect_navigation():
        page.get_by_role("button", name=name, exact=name == "Confirm").click()


def every_page(  # noqa: PLR0915  one walk
    shop: Shop, site: ShopSite, path: Any, page: Page
) -> Iterator[str]:
    """One page of each kind, the ones in a frame among them; yields where it is."""
    shop.submit(path(shop.order()), test_card="visa", save_card="on")
    first, order = shop.order(), shop.order()
    page.goto(shop.url + path(first, lang="en"))
    yield "pay"
    page.get_by_text("Card", exact=True).click()
    press(page, "Pay €")
    yield "gaps"
    page.get_by_text("SEPA Direct Debit", exact=True).click()
    yield "debit"
    press(page, "Insufficient funds")
    yield "declined"
    press(page, "3-D Secure ··3220")
    yield "challenge"
    press(page, "Confirm")
    yield "paid"
    page.goto(english(site, order))
    expect(frame_of(page).get_by_label("Visa, ending in 4242")).to_be_visible()
    yield "frame"
    frame_of(page).get_by_role("button", name="Confirmed after 3 min").click()
    page.wait_for_function("outcomes.length > 0")
    yield "frame, processing"
    page.goto(f"{shop.url}/checkout/{order['client_secret']}")
    yield "without a key"
    page.goto(f"{shop.url}/checkout/nothing?key=pk_test_sandbox")
    yield "missing"
    page.goto(shop.url)
    yield "home"


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.slow(seconds=30)
def test_axe_finds_nothing_in_any_page(
    shop: Shop, site: ShopSite, path: Any, open_page: Open, scheme: str
) -> None:
    """On a phone, in light and dark, frames included: nothing sticks out, a finger hits everything.

    4.5 to 1 for text and 3 to 1 for the edges of fields; 44 by 44 pixels, links of a text 24.
    """
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    page = open_page(size=PHONE, color_scheme=scheme)
    for where in every_page(shop, site, path, page):
        for frame in page.frames:
            frame.evaluate(axe)
            assert frame.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], where
            found = frame.evaluate("axe.run({ iframes: false })")
            assert found["passes"], where
            wrong = [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]]
            assert wrong == [], where
        ours = page.frames[1:] or page.frames
        for frame in ours:
            measured = frame.evaluate(CONTRASTS)
            assert measured, where
            assert [each for each in measured if each[1] < each[2]] == [], where
            background = frame.evaluate("getComputedStyle(document.body).backgroundColor")
            darkness = sum(int(part) for part in background[4:-1].split(",")) < 3 * 128
            assert darkness == (scheme == "dark"), where
            least = 24 if where == "home" else 44
            small = [each for each in frame.evaluate(TARGETS) if min(each[1:]) < least]
            assert small == [], where
