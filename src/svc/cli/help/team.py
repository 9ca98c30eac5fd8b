"""`svc help team`."""

from typing import Final

from svc.cli.help.page import Heading, Page, Rows, Shown

_LOG: Final = "nats+tls://log.example.com/shop"

PAGE: Final = Page(
    "A team, one log",
    (
        """
        One endpoint for a whole team: a public receiver verifies what the service sends and puts
        it into a shared log, NATS JetStream on servers of yours. Each laptop reads the log at its
        own pace; the jobs of a CI share a queue. Alone you need none of this.
        """,
        Shown(
            (
                "service --> svc events receive --> log (3 servers)",
                "  log --> svc events listen --from LOG               each laptop: every event",
                "  log --> svc events listen --from LOG --group ci    jobs: each event to one",
            )
        ),
        Heading("Once"),
        "svc writes the configuration of the servers and makes the streams; it runs no server.",
        Shown(
            (
                "pip install 'svc-cli[nats]'",
                "svc events log template --name shop --laptop anna --laptop ben > nats.conf",
                f"svc events log create --to {_LOG} --group ci",
            )
        ),
        Heading("Every day"),
        Shown(
            (
                f"svc events receive --to {_LOG} --public-url https://hooks.example.com/svc",
                "svc events log login shop < anna.creds",
                f"svc events listen --from {_LOG} --forward-to 3000",
                f"svc events listen --from {_LOG} --group ci --forward-to 3000 --exec 'make e2e'",
                f"svc events log status --from {_LOG}",
            )
        ),
        Heading("What holds"),
        Rows(
            (
                ("answered 200", "A majority of the servers has it on disk, and the receiver too."),
                ("log away", "503 within 9 seconds; the service comes again."),
                ("laptop away", "It goes on where it was; the log keeps seven days."),
                ("twice", "After a crash only, and marked: Svc-Redelivered: N."),
                ("order", "The log's for each laptop; none in a group."),
                ("verified", "by_receiver; end_to_end too, with SVC_WEBHOOK_SECRET here."),
                ("never", "Exactly once, and order across objects."),
            )
        ),
        """
        Laptops get no secret of the endpoint: events are signed anew with one of their own, shown
        by --print-secret, since an app refuses a signature that is older than five minutes. With
        --signature original the service's own is passed on.
        """,
        Heading("The servers"),
        """
        Three, version 2.12.3 or later, with sync_interval: always. The default writes to the disk
        every two minutes: a power cut of all of them would lose what was acknowledged.
        receive --log-monitor looks at that and refuses a lazy log. Replace no server before all
        copies of another are current, and never peer-remove one that is only away. What a log has
        lost comes back from the receiver's own disk: svc events log refill.
        """,
    ),
)
