"""`svc events audit`: lists the events that never came, derived from the objects of the service.

It reads the service's objects, and `svc.listen.audit` compares the events that their states imply
with those in the inbox of this machine, or with `--from` in a team's shared log (`log`).
"""

import json
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, Final

from svc import service
from svc.cli.events.inbox import endpoints_of, scope_of
from svc.cli.framework.app import make_app, verb
from svc.cli.framework.control import moments
from svc.cli.framework.options import option
from svc.cli.framework.progress import count_shown
from svc.cli.framework.session import Session
from svc.client.operations import build_list
from svc.client.pages import pages
from svc.clock import utc
from svc.errors import CheckFailed, UsageError
from svc.listen.audit import ON_THE_WAY_SECONDS, Audit
from svc.listen.inbox.forgetting import KEEP_SECONDS
from svc.listen.inbox.received import ReceivedEvents
from svc.service.facts import EVENT_TYPES, LIMIT_MAX

app = make_app()

# Objects may change long after they were made: a payout arrives days later, a dispute ends weeks
# later.
_GO_BY: Final = "Go by what each object is now: svc get ID"
_STILL_TRIED: Final = (
    "Those that are still tried come while svc events listen runs; of the others, see what each "
    "object is now: svc get ID"
)
_OLDER_SECONDS: Final = 30 * 24 * 3600


@verb(app)
def audit(
    session: Session,
    since: str = option(
        "TIME", "Events sent since: 2h, 3d, yesterday or 2026-11-21.", default="2d"
    ),
    log: str | None = option("URL", "Compare with a team's log in place of the inbox.", "--from"),
    created_since: str | None = option(
        "TIME", "Look at objects made since; by default 30 days before --since."
    ),
) -> None:
    """List the events that should have come and did not.

    Orders, payments, refunds, payouts and disputes are read, and what their states show is compared
    with the inbox: an order that is paid has sent order.paid. The API has no list of events. Exit
    code 11 where one is missing.

    A payment that was processing and is settled shows no trace of it, so payment.processing is
    looked for only while it lasts. An event that was sent in the last minute may be on its way.

    $ svc events audit --since 2d
    $ svc events audit --since 2026-11-20 --from nats+tls://log.example.com/shop
    """
    session.prepare_long_run()
    clock = moments(session)
    now, begin = (clock.read(each, "--since").begin.timestamp() for each in ("now", since))
    oldest = begin - _OLDER_SECONDS
    if created_since is not None:
        oldest = clock.read(created_since, "--created-since").begin.timestamp()
    if begin >= now:
        raise UsageError(f"--since {since} is not in the past.", param="--since")
    received = ReceivedEvents(session.state())
    if log is None:
        received.add_inbox(scope_of(session))
        if now - begin > KEEP_SECONDS:
            days = KEEP_SECONDS // 86400
            session.out.warn(
                f"The inbox keeps forwarded events for {days} days; older ones are gone."
            )
    else:
        from svc.cli.events.audit.log import add_log

        add_log(session, log, received)
    types = endpoints_of(session).types() or EVENT_TYPES  # where none is known
    found = Audit(received.has, types, begin, now - ON_THE_WAY_SECONDS)
    missed = _find_missed(session, found, oldest, now)
    first = list(islice(missed, 1))
    if first or session.format != "human":
        session.out.stream(chain(first, missed), kind="missed_event")
    _conclude(session, found, received, begin)


def _find_missed(
    session: Session, found: Audit, oldest: float, now: float
) -> Iterator[tuple[str, dict[str, Any]]]:
    live = session.make_live_line()
    with session.client() as client, count_shown(live) as count:

        def objects() -> Iterator[tuple[str, dict[str, Any]]]:
            for resource in service.nouns():
                if resource.implies:
                    params = (("limit", str(LIMIT_MAX)), ("created[gte]", utc(oldest)))
                    for page in pages(client, build_list(resource.name, params)):
                        yield from ((item.text, item.data) for item in page.items)

        for _, data in count(objects()):
            for event in found.compare(data):
                shown = event.as_data(now)
                live.clear()
                yield json.dumps(shown), shown


def _conclude(session: Session, found: Audit, received: ReceivedEvents, begin: float) -> None:
    """Says what was compared; raises CheckFailed: an event is missing."""
    counts = (
        f"{_count(found.expected, 'event')} since {utc(begin)}, "
        f"in the states of {_count(found.objects, 'object')}"
    )
    if found.undated:
        session.out.note(
            f"Not received: {_count(found.undated, 'event')} of older objects, which may have been "
            f"sent before {utc(begin)}. "
            "An earlier --since includes them."
        )
    if found.recent:
        session.out.note(
            f"Sent within the last minute, and perhaps on the way: {_count(found.recent, 'event')}."
        )
    if found.missed and not received.count():
        session.out.warn("No event of this profile and mode was received here at all.")
    first_time = endpoints_of(session).first_time()
    if found.missed and first_time and first_time > begin and session.format == "human":
        session.out.note(
            f"The first endpoint that is known here was registered at {utc(first_time)}: what was "
            "sent before went to none of them."
        )
    if found.missed:
        raise CheckFailed(
            f"{found.missed:,} of {counts} never came.",
            code="events_missed",
            hint=_STILL_TRIED if found.tried else _GO_BY,
        )
    write = session.out.words if session.format == "human" else session.out.note
    write(f"All came: {counts}.")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
