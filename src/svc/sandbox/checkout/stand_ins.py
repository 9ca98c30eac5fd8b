"""Pages that stand in for banks: the 3-D Secure challenge and the redirect methods."""

from svc.sandbox.checkout import trials
from svc.sandbox.checkout.address import BANK, CHALLENGE
from svc.sandbox.checkout.developer import note
from svc.sandbox.checkout.html import Html, el
from svc.sandbox.checkout.page import page
from svc.sandbox.checkout.payment_forms import hidden
from svc.sandbox.checkout.visit import Visit


def challenge_page(visit: Visit, card: trials.TrialCard, expiry: str, save: str | None) -> Html:
    """The card's bank asks whether it is really the shopper (`three_ds`)."""
    carried = {"card": card.tag, "expiry": expiry, **({"save_card": save} if save else {})}
    return _page(
        visit,
        CHALLENGE,
        carried,
        heading=visit.say("challenge_heading"),
        lead=visit.say("challenge_lead", amount=visit.total, last4=card.last4),
        buttons={
            "succeed": visit.say("challenge_yes"),
            "fail": visit.say("challenge_no"),
            "abandon": visit.say("back"),
        },
    )


def bank_page(visit: Visit, method: str) -> Html:
    """Where a redirect method leads (`outcome`; assumptions: Card behaviour)."""
    return _page(
        visit,
        BANK,
        {"method": method},
        heading=visit.say("bank_heading", method=visit.language.method(method)),
        lead=visit.say("bank_lead", amount=visit.total),
        buttons={
            "success": visit.say("bank_yes"),
            "failure": visit.say("bank_no"),
            "abandon": visit.say("back"),
        },
    )


def _page(
    visit: Visit,
    step: str,
    carried: dict[str, str],
    *,
    heading: str,
    lead: str,
    buttons: dict[str, str],
) -> Html:
    choices = [
        el("button", text, type="submit", name="answer", value=word, class_=_rank(place))
        for place, (word, text) in enumerate(buttons.items())
    ]
    form = el(
        "form",
        hidden(visit, **carried),
        choices,
        method="post",
        action=visit.address.url(step),
        class_="choices",
    )
    content = el(
        "section",
        el("h1", heading),
        el("p", lead, class_="lead"),
        form,
        el("p", visit.say("stand_in"), class_="hint"),
        class_="card narrow",
    )
    words = f"The buttons answer: {', '.join(buttons)}."
    main = el("main", content, note("A stand-in page", el("p", words)))
    return page(visit, heading, main, step=step, **carried)


def _rank(place: int) -> str:
    return ("main", "second", "quiet")[place]
