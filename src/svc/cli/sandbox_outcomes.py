"""What banks and networks decide: `svc sandbox settle`, `fail` and `decide` (contract F.1)."""

from typing import Annotated, Any, Final

import typer

from svc.cli import options
from svc.cli.app import verb
from svc.cli.fields import present
from svc.cli.sandbox_app import app
from svc.cli.sandbox_control import Control
from svc.cli.session import Session
from svc.client.call import segment
from svc.errors import ApiError, UsageError
from svc.spec import ID_PREFIXES

# For each kind: its controls, its good end, and the field that says why it failed.
_KINDS: Final = {
    ID_PREFIXES["payment"]: ("/payments", "captured", "failure_code"),
    ID_PREFIXES["refund"]: ("/refunds", "succeeded", "failure_reason"),
    ID_PREFIXES["payout"]: ("/payouts", "paid", "failure_reason"),
}
_PAYOUTS: Final = "/payouts"
_BEFORE_PAID: Final = "sent"

Pending = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="A processing payment, a pending refund or a payout on its way",
        show_default=False,
    ),
]


@verb(app)
def settle(ctx: typer.Context, identity: Pending) -> None:
    """Have a bank confirm a payment, refund or payout now.

    $ svc sandbox settle rf_9eYf1gZh2iWj3kPq0aVb7cXd
    """
    session = Session.of(ctx)
    kind, end, _ = _kind(identity)
    with Control(session) as control:
        if kind == _PAYOUTS:
            _hand_over(control, identity)
        session.out.one(*_moved(control, kind, identity, {"to": end}))


@verb(app)
def fail(
    ctx: typer.Context,
    identity: Pending,
    reason: Annotated[
        str | None, typer.Option(metavar="CODE", help="Such as insufficient_funds or no_account.")
    ] = None,
) -> None:
    """Have a bank reject a payment, refund or payout now.

    $ svc sandbox fail po_2iWj3kPq0aVb7cXd9eYf1gZh --reason account_closed
    """
    session = Session.of(ctx)
    kind, _, field = _kind(identity)
    with Control(session) as control:
        fields = present(**{"to": "failed", field: reason})
        session.out.one(*_moved(control, kind, identity, fields))


@verb(app)
def decide(
    ctx: typer.Context,
    dispute: options.DisputeId,
    outcome: Annotated[
        str, typer.Argument(metavar="won|lost", help="What the bank decides", show_default=False)
    ],
) -> None:
    """Decide a dispute whose evidence is under review.

    $ svc sandbox decide dp_1gZh2iWj3kPq0aVb7cXd9eYf won
    """
    session = Session.of(ctx)
    if outcome not in ("won", "lost"):
        raise UsageError(f"A dispute is won or lost, not {outcome!r}.", param="outcome")
    with Control(session) as control:
        path = f"/disputes/{segment(dispute)}/decide"
        session.out.one(*control.post(path, {"outcome": outcome}))


def _kind(identity: str) -> tuple[str, str, str]:
    for prefix, kind in _KINDS.items():
        if identity.startswith(prefix):
            return kind
    raise UsageError(
        f"{identity!r} is no payment, refund or payout.",
        code="id_invalid",
        hint=f"Ids begin with {', '.join(_KINDS)}",
    )


def _moved(control: Control, kind: str, identity: str, fields: dict[str, str]) -> tuple[str, Any]:
    return control.post(f"{kind}/{segment(identity)}/transition", fields)


def _hand_over(control: Control, payout: str) -> None:
    """Takes a payout's step before the last one, unless it is behind it already."""
    try:
        _moved(control, _PAYOUTS, payout, {"to": _BEFORE_PAID})
    except ApiError as refused:
        if refused.code != "payout_unexpected_state":
            raise
