"""`svc help faults`: one command for each thing that can go wrong."""

from typing import Final

from svc.cli.help.page import Page, Shown

_ADD: Final = "svc sandbox fault add"


def _shown(*examples: tuple[str, str]) -> Shown:
    """What a rule does, as a comment, and the command that adds it."""
    pairs = ((f"# {meaning}", f"{_ADD} {options}") for meaning, options in examples)
    return Shown(tuple(line for pair in pairs for line in pair))


BEFORE: Final = _shown(
    ("Too many requests: come again in 2 seconds.", "--status 429 --retry-after 2"),
    ("Not available, three times in a row.", "--status 503 --retry-after 1 --times 3"),
    ("The page of a proxy, no JSON.", "--status 502 --body '<html>Bad gateway</html>'"),
    ("Late by 5 seconds.", "--delay-ms 5000"),
    ("The connection is closed without a byte.", "--connection close"),
    ("The connection is reset.", "--connection reset"),
    ("Half a body, then the connection is closed.", "--connection truncate"),
    ("Status 200, and a body that is no JSON.", "--connection garbage"),
    ("An answer that comes a byte at a time.", "--connection drip"),
)
AFTER: Final = _shown(
    ("Done, and an error is answered.", "--after --status 500"),
    ("Done, and told to come again.", "--after --status 503 --retry-after 2"),
    ("Done, and late: a client's deadline passes.", "--after --delay-ms 5000"),
    ("Done, and no answer.", "--after --connection close"),
    ("Done, and the connection is reset.", "--after --connection reset"),
    ("Done, and half an answer.", "--after --connection truncate"),
    ("Done, and an answer that is no JSON.", "--after --connection garbage"),
    ("Done, and the answer comes a byte at a time.", "--after --connection drip"),
)
CHOSEN: Final = _shown(
    ("Only refunds.", "--status 500 --method POST --path '/v1/refunds*'"),
    ("Only the requests with one idempotency key.", "--status 500 --idempotency-key order-1"),
    ("The third to the seventh request.", "--status 500 --skip 2 --times 5"),
)
WEBHOOKS: Final = _shown(
    ("The same event three times.", "--webhook duplicate --count 2"),
    ("Three events, the last one first.", "--webhook reorder --count 3"),
    ("Two attempts that never leave and count as failed.", "--webhook drop --times 2"),
    ("A signature that does not verify.", "--webhook bad_signature --type 'order.*'"),
    ("A good signature of ten minutes ago.", "--webhook stale_timestamp"),
    ("Late by 5 seconds.", "--webhook delay --delay-ms 5000"),
)

PAGE: Final = Page(
    "Faults",
    (
        """
        A rule has the next request go wrong, or the next --times of them. By default nothing of the
        request has happened then:
        """,
        BEFORE,
        """
        With --after it is carried out all the same, with its events and its idempotent result, and
        only the answer is spoilt. This is how a payment is made twice, unless the retry carries the
        same idempotency key:
        """,
        AFTER,
        "A rule is for any request to the API, or for some:",
        CHOSEN,
        "Webhook deliveries go wrong as well, of all types and to all endpoints or of some:",
        WEBHOOKS,
        """
        Rules are tried in the order in which they were added. They last until they have fired, are
        cleared, or the sandbox is reset or stopped; they are no part of an export.
        """,
        Shown(("svc sandbox fault list", "svc sandbox fault clear")),
    ),
)
