"""The page `svc help sandbox`: test cards, accounts and keys, from the sandbox's own tables.

`help.page` imports `PAGE` when the topic is shown.
"""

from collections.abc import Iterator
from typing import Final

from svc.cli.help.page import Definitions, Page, ShellLines
from svc.sandbox.reference.cards import BEHAVIOURS, Behaviour, decline_type
from svc.service.facts import SANDBOX_KEYS, SANDBOX_PORT, SANDBOX_ROOT

_KEYS: Final = {
    "secret_test": "Secret test key: use this one.",
    "publishable_test": "Publishable test key, for the checkout.",
    "restricted_test": "Restricted test key that reads everything.",
    "secret_live": "Secret live key. Live mode has no money and takes no payments.",
    "publishable_live": "Publishable live key.",
}
_REFUNDS: Final = {"slow": "its refunds take 24 hours", "fails": "its refunds fail"}


def what_it_does(card: Behaviour) -> str:
    """Describes in words what a test card does."""
    said = ", ".join(_describe_card(card))
    return said[0].upper() + said[1:] + "."


def _describe_card(card: Behaviour) -> Iterator[str]:
    if card.challenge:
        yield "3-D Secure challenge first"
    if card.decline_code:
        yield f"{decline_type(card.decline_code)} decline {card.decline_code}"
    elif not card.challenge:
        yield "approved"
    if card.rescued:
        yield "rescued where smart retries are on"
    if card.dispute_reason:
        yield f"disputed 5 s after the capture as {card.dispute_reason}"
    if card.refund_scenario != "normal":
        yield _REFUNDS[card.refund_scenario]
    if card.suspended:
        yield "saved with a suspended network token"


PAGE: Final = Page(
    "Sandbox",
    (
        """
        The whole service on this machine: one process, one file, no network, no account. It
        listens on 127.0.0.1 only, unless --bind says otherwise (svc help ci).
        """,
        ShellLines(
            (
                "svc sandbox start --detach",
                'eval "$(svc sandbox env)"',
                "svc sandbox pay ORDER",
                "svc sandbox checkout ORDER",
                "svc sandbox advance 3d",
                "svc sandbox fail PAYOUT",
                "svc sandbox trigger dispute.opened",
                "svc sandbox stop",
            )
        ),
        f"""
        start creates the profile sandbox, which is used from then on if no other profile is
        active. env is for a shell that is to use the sandbox in any case. The port is
        {SANDBOX_PORT}; --port 0 takes a free one. --fixture demo begins with one of everything.
        What is in a sandbox stays until svc sandbox reset; with --db :memory: nothing stays.
        """,
        """
        svc sandbox checkout opens the page on which the shopper pays; --return-url is where it
        leads in the end. A page of your own on this machine mounts it with
        <script src="http://127.0.0.1:4242/checkout.js"></script> and SvcCheckout.mount("#checkout",
        {key, clientSecret, returnUrl, language, onOutcome}): it learns the order's status and sees
        no card. Anyone can open the address that a shopper returns to: fulfil on order.paid.
        """,
        "The keys are public constants:",
        Definitions(tuple((SANDBOX_KEYS[name], meaning) for name, meaning in _KEYS.items())),
        """
        They protect nothing: every user of this machine can read, export and change a running
        sandbox, and turn its clock. Put nothing into it that they may not see. Requests of web
        pages are refused.
        """,
        """
        Test cards are approved, such as 4242424242424242, with any future expiry date and any
        security code; any other number is declined. These do something else:
        """,
        Definitions(tuple((number, what_it_does(card)) for number, card in BEHAVIOURS.items())),
        """
        Time is under your control: refunds, payouts, deadlines, retries and expiries follow
        the sandbox's clock. With --seed, equal calls give equal ids.
        """,
        f"""
        The API describes itself at {SANDBOX_ROOT}/openapi.json. Where the specification is silent
        the sandbox does what we chose: svc help assumptions. Whether a service does so
        too: svc help compare.
        """,
        """
        Errors are flat objects. A program that looks for them inside of "error", as stripe-python
        does, finds nothing there unless the sandbox is set to answer so:
        """,
        ShellLines(("svc sandbox settings error_envelope=nested",)),
        """
        Answers and deliveries can be made to go wrong, also after the change is committed: svc help
        faults. To be as strict as a service may be, and have a tenth of everything go wrong:
        """,
        ShellLines(
            ("svc sandbox settings encodings=documented require_idempotency_key=true chaos=0.1",)
        ),
        "Duty, VAT and exchange rates are fixtures. They are not tariff data.",
        "All its commands: svc sandbox --help",
    ),
)
