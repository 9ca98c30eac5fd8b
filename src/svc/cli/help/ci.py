"""`svc help ci`."""

from typing import Final

from svc.cli.help.page import Heading, Page, Rows, Shown

_LISTEN: Final = "svc events listen --forward-to 3000 --until order.paid --timeout 60 --strict"

PAGE: Final = Page(
    "CI",
    (
        """
        Nothing prompts without a terminal, output is JSON in a pipe, and the key comes from
        SVC_API_KEY: store it as a secret of your CI, never in the repository.
        """,
        """
        A test against the service needs no account: start the sandbox beside it. Port 0 takes a
        free port and :memory: no file, so that jobs on one machine do not meet.
        """,
        Shown(
            (
                "port=$(svc sandbox start --detach --port 0 --db :memory: --query port)",
                'eval "$(svc sandbox env --port $port)"',
                "order=$(svc orders create --body order.json -o id)",
                "svc sandbox pay $order -o id",
                "svc sandbox stop --port $port",
            )
        ),
        """
        Where there is no such sandbox, `sandbox env` prints `false`: a script with set -e ends
        there. The sandbox listens on loopback only: a container of its own reaches it where the two
        share a network, as with network_mode: service:NAME in Compose, or in one pod.
        """,
        Heading("A webhook handler"),
        "The listener runs the handler and what makes the event, and ends when it has been taken:",
        Shown((f"{_LISTEN} --exec './handler & svc sandbox trigger order.paid -o id'",)),
        Rows(
            (
                ("--exec CMD", "Begins when deliveries can come; SVC_WEBHOOK_SECRET is set."),
                ("--until TYPE[:N]", "The events to wait for; without it, CMD's end is the end."),
                ("--timeout N", "Exit 11 after N seconds."),
                ("--strict", "Exit 11 if a delivery was rejected or not taken."),
                ("--ready-file F", "For steps of their own: F is there once deliveries can come."),
                ("-o ndjson", "One record a line, to keep with the job."),
            )
        ),
        Heading("What to do with the outcome"),
        """
        Exit codes tell what to do: 7 is an unknown outcome to be settled, 8 can be run again, 9
        and 11 are results of checks. See svc help exit-codes.
        """,
        """
        Each POST takes --idempotency-key. Derive it from the job, and a job that is run again
        within 24 hours pays once.
        """,
        Shown(('svc payouts create --body payout.json --idempotency-key "payout-$BUILD_ID"',)),
        "In live mode, what moves money needs --live --yes.",
        Heading("A key that grows old"),
        """
        A scheduled job says when a key in a CI's secrets is to be replaced; nobody else knows when
        you made it.
        """,
        Shown(("svc keys remind --created 2025-10-01 --format github",)),
    ),
)
