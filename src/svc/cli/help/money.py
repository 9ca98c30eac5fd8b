"""The page `svc help money`: amounts, currencies and their decimals, from svc's own tables.

`help.page` imports `PAGE` when the topic is shown.
"""

from typing import Final

from svc.cli.framework.figures import figure
from svc.cli.help.page import Definitions, Page, ShellLines
from svc.money import EXPONENTS, format_amount
from svc.service.facts import AMOUNT_MAX

_EXAMPLES: Final = ((12900, "EUR"), (12900, "JPY"), (12900, "KWD"))


def _with_decimals(count: int) -> str:
    return " ".join(sorted(code for code, digits in EXPONENTS.items() if digits == count))


PAGE: Final = Page(
    "Money",
    (
        """
        Amounts are whole numbers in the minor unit of their currency, in options, bodies, files
        and JSON alike. A decimal point is refused, with the right number in the hint.
        """,
        Definitions(
            tuple((f"{amount} {code}", format_amount(amount, code)) for amount, code in _EXAMPLES)
        ),
        "Most currencies have two decimals. The others:",
        Definitions(
            (
                ("none", _with_decimals(0)),
                ("three", _with_decimals(3)),
                ("four", _with_decimals(4)),
            )
        ),
        f"""
        An amount in a currency that svc does not know is shown as it was sent, and says so:
        {format_amount(12900, "XXQ")}.
        """,
        f"""
        The largest amount is {AMOUNT_MAX}. svc never computes what the shopper pays: it shows the
        amount_total that the service sent. Exchange rates are shown digit by digit as sent.
        """,
        """
        Every POST carries an idempotency key and is written to disk before it is sent, so that a
        retry after a timeout or a crash does not pay twice. What moves money asks first when it is
        live, and needs --yes without a terminal.
        """,
        ShellLines(
            (
                "svc refunds create --payment pay_... --amount 4999 --dry-run",
                "svc commands --query 'commands[?moves_money].name' -o json",
            )
        ),
        f"""
        The same command within {figure("recent_minutes")} minutes is refused in live mode, and
        reported in test mode. While the outcome of the first is unknown, the second is refused in
        both. --new-request sends it all the same, with a key of its own. Until the service itself
        has proved an outcome, a request keeps its idempotency key, for
        {figure("key_hours")} hours: what a gateway answers in the service's place proves
        nothing.
        """,
        f"""
        A batch skips what it has done, here and by its results file elsewhere, and stops where a
        payment might be made twice: svc help batch says what is promised on one machine, on two,
        and after {figure("service_hours")} hours. A request whose object has the status failed is
        not done: exit 11, or 9 for a batch.
        """,
        """
        A refund or payout is settled later: --wait waits for it. Exit 7 says that the outcome is
        unknown; then nothing is to be paid anew, but the request is resumed under its own key:
        """,
        ShellLines(("svc requests list --unresolved", "svc requests resume ID")),
    ),
)
