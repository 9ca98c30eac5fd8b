"""A shopper without a browser: pages as they are read, forms as they are sent."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlencode

from support.suite.pages import hold_page

Doc = dict[str, Any]
VOID = {"input", "link", "meta"}
ORDER: Doc = {
    "amount": 13890,
    "currency": "EUR",
    "shipping": {"country": "DE", "postal_code": "10115", "city": "Berlin"},
    "items": [
        {
            "name": "Linen jacket",
            "hs_code": "6203.39",
            "origin_country": "CN",
            "quantity": 1,
            "unit_amount": 8900,
        },
        {
            "name": "Cotton socks",
            "hs_code": "6115.95",
            "origin_country": "PT",
            "quantity": 4,
            "unit_amount": 1000,
        },
    ],
}


@dataclass
class Element:
    """One element of a page; `text` is all that is written inside it."""

    tag: str
    attrs: dict[str, str]
    text: str = ""
    inside: list["Element"] = field(default_factory=list)


class Reader(HTMLParser):
    """Reads markup; every element must be closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self._open: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.elements.append(element)
        for each in self._open:
            each.inside.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data


@dataclass
class CheckoutPage:
    """One HTTP answer of the checkout."""

    status: int
    headers: dict[str, str]
    body: str

    @property
    def location(self) -> str:
        """Where a redirect leads."""
        assert self.status == 303, (self.status, self.body)
        return self.headers["location"]

    def all(self, tag: str, **attrs: str) -> list[Element]:
        """The elements of a tag with these attributes, in order."""
        reader = Reader()
        reader.feed(self.body)
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attrs.items()}
        return [e for e in reader.elements if e.tag == tag and wanted.items() <= e.attrs.items()]

    def one(self, tag: str, **attrs: str) -> Element:
        """The only such element."""
        (found,) = self.all(tag, **attrs)
        return found

    def field(self, name: str) -> Element:
        """The input of this name that a shopper sees."""
        (found,) = (e for e in self.all("input", name=name) if e.attrs["type"] != "hidden")
        return found

    def hidden(self, form: str) -> dict[str, str]:
        """What a form carries unseen."""
        inputs = self.one("form", id=form).inside
        return {
            e.attrs["name"]: e.attrs["value"] for e in inputs if e.attrs.get("type") == "hidden"
        }

    @property
    def message(self) -> str:
        """What the page says of the last attempt."""
        return self.one("div", role="alert").text

    @property
    def rows(self) -> dict[str, str]:
        """The breakdown of the total."""
        (totals,) = self.all("dl", class_="totals")
        names = [e.text for e in totals.inside if e.tag == "dt"]
        return dict(zip(names, [e.text for e in totals.inside if e.tag == "dd"], strict=True))


class Shop:
    """A merchant with a sandbox, and a shopper with a browser that sends what browsers send."""

    def __init__(self, url: str, port: int, control: Any) -> None:
        self.url, self.port, self.control = url, port, control

    def call(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: str = ""
    ) -> CheckoutPage:
        """One request, with nothing but what is given and a Host."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body.encode() or None, dict(headers or {}))
            answer = connection.getresponse()
            lines = {name.lower(): value for name, value in answer.getheaders()}
            page = answer.read().decode()
            hold_page(page, "sandbox/checkout")
            return CheckoutPage(answer.status, lines, page)
        finally:
            connection.close()

    def get(self, path: str) -> CheckoutPage:
        return self.call("GET", path)

    def send(self, path: str, **fields: str) -> CheckoutPage:
        """Submits a form as a browser does from our own page."""
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Origin": "null",
            "Sec-Fetch-Site": "same-origin",
        }
        return self.call("POST", path, headers, urlencode(fields))

    def submit(self, path: str, method: str = "card", **fields: str) -> CheckoutPage:
        """Opens the page, and sends the form of a method with what it carries unseen."""
        page = self.get(path)
        return self.send(path, **{**page.hidden(f"pay-{method}"), **fields})

    def api(self, method: str, path: str, body: Any = None, key: str = "sk_test_sandbox") -> Any:
        """One call of the merchant."""
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        text = "" if body is None else json.dumps(body)
        page = self.call(method, path, headers, text)
        assert page.status == 200, page.body
        return json.loads(page.body)

    def order(self, *, key: str = "sk_test_sandbox", **changes: Any) -> Doc:
        """A new order."""
        made: Doc = self.api("POST", "/v1/orders", {**ORDER, **changes}, key)
        return made

    def again(self, order: Doc) -> Doc:
        found: Doc = self.api("GET", f"/v1/orders/{order['id']}")
        return found

    def payments(self, order: Doc) -> list[Doc]:
        found: list[Doc] = self.api("GET", f"/v1/payments?order={order['id']}")["data"]
        return found

    def events(self) -> list[str]:
        """The types of all events, oldest first."""
        shown = self.control("GET", "/events?limit=100")["data"]
        return [event["type"] for event in reversed(shown)]


def path_of(order: Doc, step: str = "", **query: str) -> str:
    """The path of an order's page, mounted with the publishable key of its mode."""
    key = "pk_live_sandbox" if order["livemode"] else "pk_test_sandbox"
    return f"/checkout/{order['client_secret']}{step}?{urlencode({'key': key, **query})}"
