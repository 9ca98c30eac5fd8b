"""`svc sandbox compare`: checks whether a service behaves as the sandbox assumes.

The sandbox's assumptions are the rows of `svc.sandbox.fidelity`; some have a probe, a request whose
answer shows whether the row holds. `asking` sends these requests to a service's test mode,
`judging` makes a finding of each row, `report` prints them, and `saved` keeps them, so that `svc
sandbox start --like PROFILE` can behave as that service does.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from svc.cli.framework.app import make_app, verb
from svc.cli.framework.options import flag
from svc.cli.framework.progress import bar
from svc.cli.framework.session import Session
from svc.cli.sandbox.compare.saved import save_report
from svc.client.exchange import Failure, RawReply
from svc.client.operations import build_list
from svc.errors import UsageError

if TYPE_CHECKING:
    from svc.cli.sandbox.compare.asking import Inquiry
    from svc.client.call import Call
    from svc.client.client import Client

app = make_app()

_REACH_SECONDS: Final = 10.0
_UNAUTHORIZED: Final = 401


@verb(app)
def compare(
    session: Session,
    endpoint: bool = flag(
        "--endpoint", "Register a webhook endpoint too; the API cannot remove it."
    ),
    save: bool = flag("--save", "Keep what is found, for svc sandbox start --like PROFILE."),
) -> None:
    """Compare a service's test mode with what the sandbox assumes of it.

    Each row of svc help assumptions that can be asked about is held, different, or cannot be told.
    The exit code is 11 where one is different. A few orders, quotes and a payout are made, never
    more than 40 objects, and named; what needs a payment is asked about the newest one.

    $ svc sandbox compare --profile shop
    $ svc sandbox compare --profile shop --save -o json
    """
    if session.settings.mode != "test":
        raise UsageError(
            "svc sandbox compare works in test mode only; nothing was sent.",
            code="test_mode_only",
            hint="Leave --live out",
        )
    out = session.out  # a mistake in --query is found before anything is sent
    session.prepare_long_run()
    from svc.cli.sandbox.compare.asking import Inquiry
    from svc.cli.sandbox.compare.judging import judge_all
    from svc.cli.sandbox.compare.report import ComparisonReport

    secret = session.key.secret
    with session.client() as client:
        _reach(client)
        inquiry = Inquiry(client, secret, lambda call: _is_limited(session, call))
        with _progress(session) as tell, _name_objects_if_stopped(session, inquiry):
            inquiry.ask_all(tell, endpoint=endpoint)
    found = list(judge_all(inquiry))
    report = ComparisonReport(session.settings.profile, session.base_url.origin, inquiry, found)
    data = report.as_data(session.clock.now())
    report.show(out, data)
    if save:
        save_report(session, data)
    report.conclude(saved=save)


def _is_limited(session: Session, call: "Call") -> bool:
    """Whether what a request might move is limited: nothing here counts it."""
    from svc.delivery.journal.limits import group_of

    settings, group = session.settings, group_of(call.path) if call.method == "POST" else ""
    return bool(group and session.config.limits_for(settings.profile, settings.mode, group))


def _reach(client: "Client") -> None:
    """Asks once as every command does, so that a refused key ends it before anything is made.

    Raises:
        Unauthorized: the service refuses the key.
        NetworkError: nothing answers there.
    """
    call = build_list("order", {"limit": 1})
    came = client.ask(call, {}, seconds=_REACH_SECONDS)
    is_refused = isinstance(came, RawReply) and came.status == _UNAUTHORIZED
    if is_refused or (isinstance(came, Failure) and not came.sent):
        client.send(call, within=_REACH_SECONDS)


@contextmanager
def _name_objects_if_stopped(session: Session, inquiry: "Inquiry") -> Iterator[None]:
    """Names what was made where the block is interrupted, as by Ctrl-C."""
    try:
        yield
    except BaseException:
        if made := inquiry.objects():
            session.out.note(f"Made in test mode: {', '.join(made)}")
        raise


@contextmanager
def _progress(session: Session) -> Iterator[Callable[[int, int, str], None]]:
    live = session.make_live_line()

    def tell(number: int, whole: int, request: str) -> None:
        if number == 0 or live.is_due():
            live.show(f"{bar(number, whole, 20)}{number} of {whole} requests", f"  {request}")

    try:
        yield tell
    finally:
        live.clear()
