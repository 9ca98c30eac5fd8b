"""The order as the shopper reads it: items, shipping, import charges, total."""

from typing import Final

from svc.sandbox import goods
from svc.sandbox.checkout.html import Child, Html, el
from svc.sandbox.checkout.visit import Visit
from svc.sandbox.documents import Doc

_SHOWN: Final = 4  # items before the rest is folded away


def summary(visit: Visit) -> Html:
    """The breakdown of an order's total."""
    return el(
        "section",
        el("h2", visit.say("summary"), id="summary"),
        _items(visit),
        el("dl", _rows(visit), class_="totals"),
        el("p", _charges_note(visit), class_="hint"),
        _destination(visit),
        aria_labelledby="summary",
        class_="summary",
    )


def _items(visit: Visit) -> Child:
    items = [_item(visit, item) for item in visit.order["items"]]
    shown = el("ul", items[:_SHOWN], class_="items")
    rest = items[_SHOWN:]
    if not rest:
        return shown
    label = visit.say("all_items", count=str(len(rest)))
    return shown, el("details", el("summary", label), el("ul", rest, class_="items"))


def _item(visit: Visit, item: Doc) -> Html:
    quantity, price = item["quantity"], item["unit_amount"]
    each = f"{quantity:d} \N{MULTIPLICATION SIGN} {visit.money(price)}" if quantity > 1 else None
    name = el("span", el("bdi", item["name"]), el("small", each) if each else None)
    return el("li", name, el("span", visit.money(quantity * price), class_="amount"))


def _rows(visit: Visit) -> list[Html]:
    order, charges = visit.order, visit.order["landed_cost"]
    value = goods.value(order["items"])
    surplus = order["amount"] - value
    rows = [_row(visit, "goods", value)]
    if surplus:
        rows.append(_row(visit, "shipping" if surplus > 0 else "discount", surplus))
    if _collected(order):
        rows += [_row(visit, name, charges[name]) for name in ("duty", "vat")]
        if charges["fees"]:
            rows.append(_row(visit, "fees", charges["fees"]))
    total = (visit.say("total"), " ", el("span", order["currency"], class_="hint"))
    return [*rows, _line(total, visit.total, class_="total")]


def _row(visit: Visit, text: str, amount: int) -> Html:
    return _line(visit.say(text), visit.money(amount))


def _line(label: Child, amount: str, class_: str | None = None) -> Html:
    return el("div", el("dt", label), el("dd", amount, class_="amount"), class_=class_)


def _collected(order: Doc) -> bool:
    """Says whether import charges are part of the total (setting `collect_landed_cost`)."""
    return bool(order["amount_total"] - order["amount"] == order["landed_cost"]["total"])


def _charges_note(visit: Visit) -> str:
    charges = visit.order["landed_cost"]
    if charges["guaranteed"] and not charges["total"]:
        return visit.say("no_charges")
    if not _collected(visit.order):
        return visit.say("not_included", amount=visit.money(charges["total"]))
    return visit.say("guaranteed" if charges["guaranteed"] else "estimated")


def _destination(visit: Visit) -> Html:
    shipping = visit.order["shipping"]
    town = " ".join(filter(None, (shipping.get("postal_code"), shipping.get("city"))))
    names = ("name", "line1", "line2")
    lines = [*(shipping.get(name) for name in names), town, shipping.get("state")]
    address = [part for part in (*lines, shipping["country"]) if part]
    return el(
        "p",
        el("span", visit.say("deliver_to"), class_="hint"),
        " ",
        el("bdi", ", ".join(address)),
        class_="destination",
    )
