"""The page at the sandbox's own address; test_browser.py looks at it, too."""

import pytest

from svc.service.facts import SANDBOX_KEYS
from unit.sandbox.checkout.shop import Shop


def test_the_address_says_what_it_is_and_where_to_go(shop: Shop) -> None:
    """Who opens it finds address, keys, a card, a command and the API's description."""
    page = shop.get("/")
    assert page.status == 200
    codes = [element.text for element in page.all("code")]
    assert shop.url in codes
    assert set(SANDBOX_KEYS.values()) <= set(codes)
    assert "4242 4242 4242 4242" in codes
    assert "svc help sandbox" in codes
    (link,) = page.all("a")
    assert shop.get(link.attrs["href"]).status == 200
    assert page.all("script") == []
    assert page.headers["content-security-policy"].startswith("default-src 'none'")


def test_it_says_nothing_of_what_is_in_the_sandbox(shop: Shop) -> None:
    """Keys, cards and commands are everybody's; orders, secrets and endpoints are not."""
    before = shop.get("/").body
    shop.order()
    assert shop.get("/").body == before
    assert "whsec_" not in before
    assert "_secret_" not in before


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"Host": "evil.example"}, "host_not_allowed"),
        ({"Origin": "http://127.0.0.1:3000"}, "page_not_allowed"),
        ({"Sec-Fetch-Site": "cross-site"}, "page_not_allowed"),
        ({"Sec-Fetch-Site": "same-site"}, "page_not_allowed"),
    ],
)
def test_no_other_page_reads_it(shop: Shop, headers: dict[str, str], code: str) -> None:
    """R103 and the rule of names: as everywhere in the sandbox."""
    refused = shop.call("GET", "/", headers)
    assert refused.status == 403
    assert code in refused.body


def test_a_persons_own_browser_reads_it_and_nobody_writes_it(shop: Shop) -> None:
    for site in ("none", "same-origin"):
        assert shop.call("GET", "/", {"Sec-Fetch-Site": site}).status == 200
    assert shop.call("HEAD", "/").body == ""
    assert shop.call("POST", "/").status == 405
