"""`svc sandbox settle`, `fail`, `decide` and `customs`: what banks and customs decide, by hand.

Each calls a control of the running sandbox (`framework.control`) and prints the changed object.
"""

from typing import Final

from svc.cli.framework.app import make_app, verb
from svc.cli.framework.control import call_and_show, open_control
from svc.cli.framework.inputs import BodyFields, without_empty
from svc.cli.framework.options import REQUIRED, argument, flag, option
from svc.cli.framework.session import Session
from svc.client.amounts import amount_option
from svc.client.call import Call
from svc.client.sandbox import SandboxClient, control_call, in_mode
from svc.errors import ApiError, UsageError
from svc.service.facts import ID_PREFIXES, BankDecision

app = make_app()

# For each kind: its path, its good end, and the field that says why it failed.
_PAYOUTS: Final = "payouts"
_KINDS: Final = {
    ID_PREFIXES["payment"]: ("payments", "captured", "failure_code"),
    ID_PREFIXES["refund"]: ("refunds", "succeeded", "failure_reason"),
    ID_PREFIXES["payout"]: (_PAYOUTS, "paid", "failure_reason"),
}
_BEFORE_PAID: Final = "sent"
# A test holds these to the words of the sandbox.
_REASON_HELP: Final = (
    "Why. Of a refund: lost_or_stolen_card, expired_or_canceled_card, insufficient_funds, declined "
    "or unknown. Of a payout: no_account, account_closed, account_frozen, could_not_process, "
    "invalid_currency or incorrect_account_holder_name. Of a payment: any code."
)

PENDING: Final = argument("ID", "A processing payment, a pending refund or a payout on its way.")


@verb(app)
def settle(
    session: Session,
    identity: str = PENDING,
    sent: bool = flag("--sent", "Only hand a payout to the local network."),
) -> None:
    """Have a bank confirm a payment, refund or payout now.

    $ svc sandbox settle rf_9eYf1gZh2iWj3kPq0aVb7cXd
    $ svc sandbox settle po_2iWj3kPq0aVb7cXd9eYf1gZh --sent
    """
    path, end, _ = _kind(identity)
    payout = path == _PAYOUTS
    if sent and not payout:
        raise UsageError("--sent is for payouts: they go through a local network.", param="--sent")
    out = session.out
    with open_control(session) as control:
        if payout and not sent:
            _hand_over(session, control, identity)
        call = _move(path, identity, {"to": _BEFORE_PAID if sent else end})
        reply = control.send(in_mode(call, session.settings.mode))
    out.answer(reply.text, reply.data)


@verb(app)
def fail(
    session: Session,
    identity: str = PENDING,
    reason: str | None = option("CODE", _REASON_HELP),
) -> None:
    """Have a bank reject a payment, refund or payout now.

    $ svc sandbox fail po_2iWj3kPq0aVb7cXd9eYf1gZh --reason account_closed
    """
    path, _, field = _kind(identity)
    body = without_empty(**{"to": "failed", field: reason})
    call_and_show(session, "POST", path, identity, "transition", body=body)


@verb(app)
def decide(
    session: Session,
    dispute: str = argument("ID", "The dispute, dp_..."),
    outcome: BankDecision = argument("won|lost", "What the bank decides: won or lost."),
) -> None:
    """Decide a dispute whose evidence is under review.

    $ svc sandbox decide dp_9eYf1gZh2iWj3kPq0aVb7cXd won
    """
    call_and_show(session, "POST", "disputes", dispute, "decide", body={"outcome": outcome})


@verb(app)
def customs(
    session: Session,
    order: str = argument("ID", "The order, ord_..."),
    charged: str = option("N", "What they charge, in minor units of the order.", default=REQUIRED),
) -> None:
    """Have customs charge a paid order. With a guaranteed quote the service covers the excess.

    $ svc sandbox customs ord_7cXd9eYf1gZh2iWj3kPq0aVb --charged 4500
    """
    amount = amount_option(charged, "--charged", None, minimum=0)
    call_and_show(session, "POST", "orders", order, "customs", body={"charged": amount or 0})


def _move(path: str, identity: str, body: BodyFields) -> Call:
    return control_call("POST", path, identity, "transition", body=body)


def _kind(identity: str) -> tuple[str, str, str]:
    for prefix, kind in _KINDS.items():
        if identity.startswith(prefix):
            return kind
    raise UsageError(
        f"{identity!r} is not the id of a payment, refund or payout.",
        code="id_invalid",
        hint=f"Ids begin with {', '.join(_KINDS)}",
    )


def _hand_over(session: Session, control: SandboxClient, payout: str) -> None:
    """Takes a payout's step before the last one, unless it is behind it already."""
    call = _move(_PAYOUTS, payout, {"to": _BEFORE_PAID})
    try:
        control.send(in_mode(call, session.settings.mode))
    except ApiError as refused:
        if refused.code != "payout_unexpected_state":
            raise
