"""`svc events prune`: deletes kept events that no target accepted.

It asks a person first, and deletes from this machine's inbox by `svc.listen.inbox.forgetting`.
"""

from svc.cli.events.inbox import scope_of
from svc.cli.framework.app import make_app, verb
from svc.cli.framework.control import moments
from svc.cli.framework.options import flag, option
from svc.cli.framework.prompts import confirm
from svc.cli.framework.session import Session
from svc.errors import UsageError
from svc.listen.inbox.forgetting import forget_failed

app = make_app()


@verb(app)
def prune(
    session: Session,
    failed: bool = flag(
        "--failed", "Those that a target did not take and that are not tried again."
    ),
    before: str | None = option("TIME", "Received before: 30d, yesterday or 2026-11-21."),
) -> None:
    """Forget received events that failed: they are kept until you say so.

    What was forwarded is forgotten after {forwarded_days} days, what is still to be forwarded
    never.

    $ svc events prune --failed --before 30d --yes
    """
    if not failed or before is None:
        raise UsageError(
            "No events are chosen. Give --failed and --before TIME.",
            param="--failed" if not failed else "--before",
            hint="svc events inbox --failed shows them",
        )
    moment = moments(session, local=True).read(before, "--before").begin
    confirm(
        session,
        f"Forget all events that failed and were received before {moment:%Y-%m-%d %H:%M %Z}.",
        otherwise="Nothing was forgotten.",
    )
    forgotten = forget_failed(session.state(), scope_of(session), moment.timestamp(), session.clock)
    session.out.value({"object": "pruned_events", "events": forgotten})
