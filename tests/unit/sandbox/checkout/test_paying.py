"""Paying: every way from the form to the order, through the rules of the checkout control."""

from typing import Any

import pytest

from svc.sandbox.checkout import catalogue
from unit.sandbox.checkout.shop import CheckoutPage, Shop

CARD = {"number": "4242 4242 4242 4242", "expiry": "12 / 39", "cvc": "123"}


def status(shop: Shop, order: Any) -> Any:
    return shop.again(order)["status"]


# --- cards ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"number": "4242-4242-4242-4242"},
        {"expiry": "1239", "number": "  4242424242424242\u00a0"},
        {"expiry": "12/2039"},
        {"number": "\uff14\uff12" * 8, "cvc": "\uff11\uff12\uff13", "expiry": "12\uff0f39"},
    ],
    ids=["plain", "hyphens", "short expiry", "long year", "full-width"],
)
def test_typed_card_pays(shop: Shop, path: Any, changes: dict[str, str]) -> None:
    """However people write their card, the order is paid and the browser led to the last page."""
    order = shop.order()
    page = shop.submit(path(order), **{**CARD, **changes})
    assert page.location == path(order, "/complete")
    assert status(shop, order) == "paid"
    (payment,) = shop.payments(order)
    assert payment["amount_captured"] == order["amount_total"]
    assert payment["card"] == {"brand": "visa", "last4": "4242"}
    assert payment["payment_method"] is None
    assert shop.events() == ["payment.captured", "order.paid"]


def test_card_is_saved_on_request(shop: Shop, path: Any) -> None:
    """The box saves the card with its expiry date."""
    order = shop.order()
    shop.submit(path(order), save_card="on", **CARD)
    saved = shop.payments(order)[0]["payment_method"]["card"]
    assert (saved["last4"], saved["exp_month"], saved["exp_year"]) == ("4242", 12, 2039)


@pytest.mark.parametrize("group", catalogue.CARDS)
def test_every_test_card_does_what_its_button_says(shop: Shop, path: Any, group: str) -> None:
    """One click: approved ones pay, challenged ones lead to the bank, the rest are declined."""
    for card in catalogue.CARDS[group]:
        order = shop.order()
        page = shop.get(path(order))
        (button,) = page.all("button", name="test_card", value=card.tag)
        assert button.attrs["form"] == "pay-card"
        answer = shop.submit(path(order), test_card=card.tag)
        if group == "3-D Secure":
            assert answer.location.startswith(path(order, "/challenge"))
        elif group == "Declined":
            assert answer.status == 402
            assert status(shop, order) == "requires_payment"
        else:
            assert answer.location == path(order, "/complete")
            assert status(shop, order) == "paid"


@pytest.mark.parametrize(
    ("tag", "words", "field"),
    [
        ("insufficient_funds", "There are not enough funds.", None),
        ("expired_card", "This card has expired.", "expiry"),
        ("incorrect_cvc", "The security code is not right.", "cvc"),
        ("incorrect_number", "This card number is not valid.", "number"),
        ("processing_error", "The payment could not be processed.", None),
        ("generic_decline", "The payment was declined.", None),
        ("stolen_card", "The payment was declined.", None),
        ("lost_card", "The payment was declined.", None),
        ("fraudulent", "The payment was declined.", None),
    ],
)
def test_decline_is_told_as_a_shopper_may_know_it(
    shop: Shop, path: Any, tag: str, words: str, field: str | None
) -> None:
    """One sentence; of stolen cards and fraud no more than that it was declined."""
    order = shop.order()
    page = shop.submit(path(order, lang="en"), test_card=tag)
    assert page.status == 402
    message = page.one("div", role="alert")
    assert message.text.startswith(words)
    assert message.text.endswith("You have not been charged.")
    assert {"autofocus", "tabindex"} <= message.attrs.keys()
    marked = [e.attrs["name"] for e in page.all("input", aria_invalid="true")]
    assert marked == ([field] if field else [])
    assert tag not in page.one("section", class_="card pay").text


def test_form_is_kept_after_a_decline(shop: Shop, path: Any) -> None:
    """All but the security code, which is never shown again; then the order can be paid."""
    order = shop.order()
    typed = {**CARD, "number": "4000 0000 0000 9995", "save_card": "on"}
    page = shop.submit(path(order), **typed)
    assert page.field("number").attrs["value"] == typed["number"]
    assert page.field("expiry").attrs["value"] == typed["expiry"]
    assert "checked" in page.field("save_card").attrs
    assert "value" not in page.field("cvc").attrs
    (payment,) = shop.payments(order)
    assert f"insufficient_funds (soft) in {payment['id']}" in page.one("aside").text
    again = {**page.hidden("pay-card"), **CARD}
    assert shop.send(page.one("form", id="pay-card").attrs["action"], **again).status == 303
    assert shop.events() == ["payment.failed", "payment.captured", "order.paid"]


@pytest.mark.parametrize(
    ("changes", "missing"),
    [
        ({"number": ""}, ["number"]),
        ({"number": " - "}, ["number"]),
        ({"expiry": ""}, ["expiry"]),
        ({"expiry": "13 / 39"}, ["expiry"]),
        ({"expiry": "2039"}, ["expiry"]),
        ({"cvc": " "}, ["cvc"]),
        ({"number": "", "expiry": "soon", "cvc": ""}, ["number", "expiry", "cvc"]),
    ],
)
def test_gaps_are_marked_before_anybody_is_asked(
    shop: Shop, path: Any, changes: dict[str, str], missing: list[str]
) -> None:
    """Each incomplete field says what it needs; no attempt is made."""
    order = shop.order()
    page = shop.submit(path(order, lang="en"), **{**CARD, **changes})
    assert page.status == 400
    marked = page.all("input", aria_invalid="true")
    assert [field.attrs["name"] for field in marked] == missing
    for field in marked:
        assert page.one("p", id=field.attrs["aria-describedby"]).text.startswith("Enter ")
    assert shop.payments(order) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"number": "4" * 600}, "This card number is not valid."),
        ({"number": "4242 4242 4242 4241"}, "This card number is not valid."),
        ({"expiry": "01 / 20"}, "This card has expired."),
        ({"cvc": "1"}, "The security code is not right."),
        ({"cvc": "1" * 600}, "The security code is not right."),
    ],
)
def test_unusable_card_leaves_no_payment(
    shop: Shop, path: Any, changes: dict[str, str], words: str
) -> None:
    """As at the control: no payment object, nothing sent (assumptions: Card behaviour)."""
    order = shop.order()
    page = shop.submit(path(order, lang="en"), **{**CARD, **changes})
    assert page.status in (400, 402)
    assert page.message.startswith(words)
    assert shop.payments(order) == []
    assert shop.events() == []


@pytest.mark.parametrize(
    ("changes", "status", "marked"),
    [
        ({"number": "abcd", "expiry": "13 / 39"}, 400, ["number", "expiry"]),
        ({"number": "4242 4242 4242 4241", "expiry": "soon"}, 400, ["number", "expiry"]),
        ({"number": "4242 4242 4242 4241", "expiry": "01 / 20"}, 402, ["number", "expiry"]),
        ({"expiry": "01 / 20", "cvc": ""}, 400, ["expiry", "cvc"]),
        ({"number": "1", "expiry": "01 / 20", "cvc": "x"}, 402, ["number", "expiry", "cvc"]),
        ({"expiry": "", "cvc": "1234"}, 400, ["expiry", "cvc"]),
    ],
)
def test_all_that_is_wrong_is_marked_in_one_round(
    shop: Shop, path: Any, changes: dict[str, str], status: int, marked: list[str]
) -> None:
    """A number that is none and a date that is none are corrected together, each with its text."""
    page = shop.submit(path(order := shop.order(), lang="en"), **{**CARD, **changes})
    assert page.status == status
    wrong = page.all("input", aria_invalid="true")
    assert [field.attrs["name"] for field in wrong] == marked
    told = [
        page.one("p", id=id_).text
        for e in wrong
        if (id_ := e.attrs["aria-describedby"]) != "message"
    ]
    assert len(told) >= len(marked) - 1
    assert all(text.startswith(("Enter ", "This card ", "The security code ")) for text in told)
    assert shop.payments(order) == []


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        (("4242424242424241", "1239"), ("4242 4242 4242 4241", "12 / 39")),
        (("4242-4242-4242-4241", "1/2039"), ("4242 4242 4242 4241", "01 / 2039")),
        (("378282246310006", "12/39"), ("3782 822463 10006", "12 / 39")),
        (("343434343434343", "12/39"), ("3434 343434 34343", "12 / 39")),
        (("no number", "soon"), ("no number", "soon")),
    ],
)
def test_what_was_typed_comes_back_in_groups(
    shop: Shop, path: Any, typed: tuple[str, str], shown: tuple[str, str]
) -> None:
    """As it stands on the card, so that it can be compared; what is neither stays as it is."""
    number, expiry = typed
    page = shop.submit(path(shop.order()), number=number, expiry=expiry, cvc="123")
    fields = [page.field(name).attrs["value"] for name in ("number", "expiry")]
    assert tuple(fields) == shown


def test_button_pressed_twice_pays_once(shop: Shop, path: Any) -> None:
    """The second form of a double click finds the order paid and is led to the last page."""
    order = shop.order()
    form = {**shop.get(path(order)).hidden("pay-card"), **CARD}
    assert shop.send(path(order), **form).location == path(order, "/complete")
    assert shop.send(path(order), **form).location == path(order, "/complete")
    assert len(shop.payments(order)) == 1
    assert shop.events() == ["payment.captured", "order.paid"]


@pytest.mark.parametrize("total", [None, "", "1-EUR"])
def test_nobody_pays_a_total_that_was_not_shown(shop: Shop, path: Any, total: Any) -> None:
    """When the merchant changes the order meanwhile, the shopper sees the new total first."""
    order = shop.order()
    form = {**shop.get(path(order)).hidden("pay-card"), **CARD}
    if total is None:
        shop.api("POST", f"/v1/orders/{order['id']}", {"amount": 20000})
    else:
        form["total"] = total
    page = shop.send(path(order, lang="en"), **form)
    assert page.status == 409
    shown = shop.again(order)["amount_total"]
    assert page.message.startswith(f"The total is now €{shown / 100:.2f}.")
    assert shop.payments(order) == []
    again = {**page.hidden("pay-card"), **CARD}
    assert shop.send(path(order), **again).status == 303
    assert shop.payments(order)[0]["amount"] == shown


def test_live_order_is_never_paid(shop: Shop, path: Any) -> None:
    """The page works in live mode, and every card is declined (assumptions: Card behaviour)."""
    order = shop.order(key="sk_live_sandbox")
    page = shop.get(path(order, lang="en"))
    assert "key=pk_live_sandbox" in page.one("form", id="pay-card").attrs["action"]
    assert "Live mode" in page.one("header").text
    answer = shop.submit(path(order, lang="en"), test_card="visa")
    assert answer.status == 402
    assert "live_mode_test_card" in answer.one("aside").text


# --- 3-D Secure -------------------------------------------------------------------------------


def challenge(
    shop: Shop, order: Any, path: Any, tag: str = "challenge", **more: str
) -> CheckoutPage:
    """The challenge that a card leads to."""
    page = shop.get(shop.submit(path(order, lang="en"), test_card=tag, **more).location)
    assert page.status == 200
    return page


def answered(shop: Shop, page: CheckoutPage, word: str) -> CheckoutPage:
    """Presses a button of a stand-in page and follows where it leads."""
    form = page.one("form", class_="choices")
    hidden = {e.attrs["name"]: e.attrs["value"] for e in form.inside if e.tag == "input"}
    (button,) = (e for e in form.inside if e.attrs.get("value") == word and e.tag == "button")
    answer = shop.send(form.attrs["action"], **hidden, **{button.attrs["name"]: word})
    return shop.get(answer.location)


def test_challenge_names_amount_and_card(shop: Shop, path: Any) -> None:
    """The shopper sees what is confirmed; nothing has happened yet."""
    order = shop.order()
    page = challenge(shop, order, path)
    lead = page.one("p", class_="lead").text
    assert f"€{order['amount_total'] / 100:.2f}" in lead
    assert "3220" in lead
    assert shop.payments(order) == []


def test_challenge_address_holds_no_card_number(shop: Shop, path: Any) -> None:
    """Addresses end in histories and logs; a number that was typed is not in this one."""
    order = shop.order()
    typed = {**CARD, "number": "4000 0000 0000 3220"}
    assert "3220" not in shop.submit(path(order), **typed).location


def test_confirmed_challenge_pays(shop: Shop, path: Any) -> None:
    """And the card is saved with the date that was typed, if the box was ticked."""
    order = shop.order()
    typed = {**CARD, "number": "4000 0000 0000 3220", "save_card": "on"}
    page = shop.get(shop.submit(path(order, lang="en"), **typed).location)
    assert answered(shop, page, "succeed").one("h1").text.startswith("Thank you.")
    assert shop.payments(order)[0]["payment_method"]["card"]["exp_year"] == 2039
    assert status(shop, order) == "paid"


@pytest.mark.parametrize(
    ("tag", "word", "message", "failures"),
    [
        (
            "challenge",
            "fail",
            "payment was not confirmed with your bank.",
            ["authentication_failed"],
        ),
        ("challenge", "abandon", "You have not been charged.", []),
        ("challenge_declined", "succeed", "The payment was declined.", ["generic_decline"]),
    ],
)
def test_challenge_that_does_not_pay_is_told_and_can_be_repeated(
    shop: Shop, path: Any, tag: str, word: str, message: str, failures: list[str]
) -> None:
    """Left, it makes no payment and sends no event; the second card is declined by its bank."""
    order = shop.order()
    page = answered(shop, challenge(shop, order, path, tag), word)
    assert message in page.message
    assert [payment["failure_code"] for payment in shop.payments(order)] == failures
    assert shop.events() == ["payment.failed"] * len(failures)
    answered(shop, challenge(shop, order, path), "succeed")
    assert status(shop, order) == "paid"


def test_challenge_on_a_changed_total_pays_nothing(shop: Shop, path: Any) -> None:
    """What was confirmed at the bank is the amount that is paid, or none."""
    order = shop.order()
    page = challenge(shop, order, path)
    shop.api("POST", f"/v1/orders/{order['id']}", {"amount": 20000})
    back = answered(shop, page, "succeed")
    assert back.message.startswith("The total is now")
    assert shop.payments(order) == []


def test_challenge_of_a_paid_order_leads_to_the_end(shop: Shop, path: Any) -> None:
    """Another tab was faster: no second payment."""
    order = shop.order()
    page = challenge(shop, order, path)
    shop.submit(path(order), test_card="visa")
    assert answered(shop, page, "succeed").one("h1").text.startswith("Thank you.")
    assert len(shop.payments(order)) == 1
    reopened = shop.get(path(order, "/challenge", card="challenge"))
    assert reopened.location == path(order)


@pytest.mark.parametrize("tag", ["", "nothing", "visa"])
def test_only_challenged_cards_have_a_challenge(shop: Shop, path: Any, tag: str) -> None:
    """An address that somebody made up leads back; above all, "do not confirm" never pays."""
    order = shop.order()
    assert shop.get(path(order, "/challenge", card=tag)).location == path(order)
    fields = shop.get(path(order)).hidden("pay-card")
    forged = {**fields, "card": tag, "expiry": "12 / 39", "answer": "fail"}
    assert shop.send(path(order, "/challenge"), **forged).location == path(order)
    assert shop.payments(order) == []


# --- banks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("iban", ["DE89 3704 0044 0532 0130 00", "de89370400440532013000"])
def test_iban_is_debited(shop: Shop, path: Any, iban: str) -> None:
    """A debit is on its way at once and paid when the bank confirms."""
    order = shop.order()
    page = shop.submit(path(order), "sepa_debit", iban=iban)
    assert page.location == path(order, "/complete")
    assert status(shop, order) == "processing"
    shop.control("POST", "/clock/advance", {"seconds": 5})
    assert status(shop, order) == "paid"
    assert shop.events() == ["payment.processing", "payment.captured", "order.paid"]


@pytest.mark.parametrize(
    ("iban", "words"),
    [("", "Please check the marked fields."), ("DE00 1234", "This IBAN is not valid.")],
)
def test_wrong_iban_is_marked(shop: Shop, path: Any, iban: str, words: str) -> None:
    """The form stays open with what was typed, and nothing was tried."""
    order = shop.order()
    page = shop.submit(path(order, lang="en"), "sepa_debit", iban=iban)
    assert page.status == 400
    assert page.message.startswith(words)
    assert page.field("iban").attrs["value"] == iban
    assert "aria-invalid" in page.field("iban").attrs
    assert "checked" in page.one("input", id="choose-sepa_debit").attrs
    assert shop.payments(order) == []


def test_every_test_account_is_one_click_away(shop: Shop, path: Any) -> None:
    """Each of the test IBANs starts a debit that ends as its button says."""
    ends = {"confirmed": "paid", "confirmed_late": "paid", "disputed": "paid"}
    for account in catalogue.ACCOUNTS:
        order = shop.order()
        assert shop.submit(path(order), "sepa_debit", test_iban=account.tag).status == 303
        shop.control("POST", "/clock/advance", {"seconds": 180})
        assert status(shop, order) == ends.get(account.tag, "requires_payment")


@pytest.mark.parametrize(
    ("word", "after", "events"),
    [
        ("success", "paid", ["payment.captured", "order.paid"]),
        ("failure", "requires_payment", ["payment.failed"]),
        ("abandon", "requires_payment", []),
    ],
)
def test_redirect_method_goes_to_the_bank_and_back(
    shop: Shop, path: Any, word: str, after: str, events: list[str]
) -> None:
    """The stand-in page plays each outcome (assumptions: Card behaviour)."""
    order = shop.order()
    page = shop.get(shop.submit(path(order, lang="en"), "klarna").location)
    assert page.one("h1").text == "Pay with Klarna"
    back = answered(shop, page, word)
    assert status(shop, order) == after
    assert shop.events() == events
    if after == "requires_payment":
        assert back.message.endswith("You have not been charged.")
        assert "checked" in back.one("input", id="choose-klarna").attrs


def test_method_that_is_not_offered_is_refused(shop: Shop, path: Any) -> None:
    """Neither the form nor a bank's page takes it."""
    order = shop.order()
    fields = shop.get(path(order)).hidden("pay-card")
    page = shop.send(path(order, lang="en"), **{**fields, "method": "ideal"})
    assert page.status == 400
    assert page.message.startswith("This order cannot be paid that way.")
    assert shop.get(path(order, "/bank", method="ideal")).location == path(order)
    assert shop.get(path(order, "/bank", method="card")).location == path(order)
    forged = shop.send(path(order, "/bank"), **{**fields, "method": "ideal", "answer": "success"})
    assert forged.status == 400
    assert shop.payments(order) == []
