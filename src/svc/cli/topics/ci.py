"""`svc help ci`."""

from typing import Final

from svc.cli.topics.page import Page, Shown

PAGE: Final = Page(
    "CI",
    (
        """
        Nothing prompts without a terminal, output is JSON in a pipe, and the key comes from
        SVC_API_KEY: store it as a secret of your CI, never in the repository.
        """,
        """
        A test against the service needs no account: start the sandbox beside it. Port 0 takes a
        free port, so that jobs on one machine do not meet.
        """,
        Shown(
            (
                "svc sandbox start --detach --port 0",
                'eval "$(svc sandbox env)"',
                "order=$(svc orders create --body order.json -o id)",
                "svc sandbox pay $order",
                "svc sandbox stop",
            )
        ),
        "To test a webhook handler, let the listener run the tests and end with them:",
        Shown(
            ("svc events listen --forward-to 3000 --until order.paid --timeout 60 --exec ./test",)
        ),
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
    ),
)
