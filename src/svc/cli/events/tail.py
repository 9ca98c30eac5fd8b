"""`svc events tail`: shows events as they come; `svc events listen` without forwarding.

It takes the options of `listen` that are not about targets, and runs a listener without targets by
`listen.begin`. Each event is verified, kept in the inbox and printed.
"""

from svc.cli.events.listen import ListenArguments, begin
from svc.cli.events.options import (
    EVENTS,
    LOCAL_PORT,
    PRINTED,
    PUBLIC_URL,
    UNTIL_CAME,
    WHERE,
    EventPart,
)
from svc.cli.framework.app import make_app, verb
from svc.cli.framework.options import OptionSet, option
from svc.cli.framework.session import Session

app = make_app()


class TailArguments(OptionSet):
    """What may be typed behind `svc events tail`: what of `listen` is not about forwarding."""

    events: list[str] | None = EVENTS
    where: str | None = WHERE
    print_: EventPart = PRINTED
    until: str | None = UNTIL_CAME
    timeout: float | None = option(
        "SECONDS", "End after so long, with 11 if --until was not done.", min=0
    )
    tunnel: str = option(
        "HOW", "auto, none, cloudflared, ngrok or ssh:[USER@]HOST[:REMOTE_PORT].", default="auto"
    )
    public_url: str | None = PUBLIC_URL
    port: int | None = LOCAL_PORT


@verb(app, options=TailArguments)
def tail(session: Session, arguments: TailArguments) -> None:
    """See events as they come. Each is verified and kept; none is forwarded.

    $ svc events tail --where 'data.object.amount > `10000`'
    $ svc events tail --events 'dispute.*' -o ndjson
    """
    of_listen = ListenArguments()
    vars(of_listen).update(vars(arguments))
    of_listen.no_resume = True  # what waits for a target waits for a listener that has it
    begin(session, of_listen, "tail")
