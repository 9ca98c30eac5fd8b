"""`svc events tail`: shows events as they come; `svc events listen` without forwarding.

It takes the options of `listen` that are not about targets, and runs a listener without targets by
`listen.begin`. Each event is verified, kept in the inbox and printed.
"""

from typing import Annotated

from svc.cli.events.listen import ListenArguments, begin
from svc.cli.events.options import EventTypes, LocalPort, Printed, PublicUrl, UntilCame, Where
from svc.cli.framework.app import make_app, verb
from svc.cli.framework.options import OptionSet, option, with_options
from svc.cli.framework.session import Session

app = make_app()


class TailArguments(OptionSet):
    """What may be typed behind `svc events tail`: what of `listen` is not about forwarding."""

    events: EventTypes = None
    where: Where = None
    print_: Printed = "summary"
    until: UntilCame = None
    timeout: Annotated[
        float | None,
        option("SECONDS", "End after so long, with 11 if --until was not done.", min=0),
    ] = None
    tunnel: Annotated[
        str, option("HOW", "auto, none, cloudflared, ngrok or ssh:[USER@]HOST[:REMOTE_PORT].")
    ] = "auto"
    public_url: PublicUrl = None
    port: LocalPort = None


@verb(app)
@with_options(TailArguments)
def tail(session: Session, arguments: TailArguments) -> None:
    """See events as they come. Each is verified and kept; none is forwarded.

    $ svc events tail --where 'data.object.amount > `10000`'
    $ svc events tail --events 'dispute.*' -o ndjson
    """
    of_listen = ListenArguments()
    vars(of_listen).update(vars(arguments))
    of_listen.no_resume = True  # what waits for a target waits for a listener that has it
    begin(session, of_listen, "tail")
