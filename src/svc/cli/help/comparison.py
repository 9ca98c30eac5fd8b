"""`svc help comparison`."""

from typing import Final

from svc.cli.help.page import Page, Rows

_VERSION: Final = "1.52"
_ROWS: Final = (
    ("Exit code when the API answers 403, 404, 429, 500", "4, 5, 8, 7 (8 on a GET)", "0"),
    ("An error, for a script", "one JSON object on stderr", "JSON on stdout"),
    ("Idempotency key of a POST", "always, kept on disk before the request", "only with -i KEY"),
    ("429, 5xx, lost connections", "up to 4 attempts with the same key", "one attempt"),
    ("After a crash between request and answer", "svc requests resume", "nothing is kept"),
    ("A live key in the environment, without --live", "refused", "used"),
    ("All objects", "--all, with a filter over the whole result", "page by page, by hand"),
    ("Many rows", "svc batch, resumable", "a loop in the shell"),
    ("A webhook's signature, before forwarding", "verified", "not looked at"),
    ("A forward that fails", "kept and tried again", "printed"),
    ("The same event twice", "forwarded once", "forwarded twice"),
    ("Targets", "by event type", "one"),
    ("Forwards at once", "8, or one at a time for each object", "without limit"),
    ("No keyring", "refused; SVC_API_KEY", "a plain file"),
    ("Telemetry, update checks", "none", "on by default"),
    ("To test against", "the whole service on this machine", "the service's test mode"),
    (
        "Webhooks without an endpoint of your own",
        "only for a sandbox; else through a tunnel",
        "yes, over a websocket",
    ),
    ("Installing", "Python 3.11 and pip", "one binary"),
    ("--version", "0.15 of its time", "164 ms"),
    ("--help", "0.51 of its time", "171 ms"),
    ("Retrieve one object", "0.69 of its time", "143 ms"),
    (
        "20,000 webhooks at once, forwarded",
        "0.5 times as many a second with 2 senders, 1.1 with 16; each is on disk first; 38 MB",
        "neither verified nor kept; 140 MB",
    ),
    ("One webhook, to the answer of its target", "1.9 times as long (1.6 ms)", "0.8 ms"),
)

PAGE: Final = Page(
    "Comparison",
    (
        f"""
        The Stripe CLI is the best known tool of this kind. It works on another service, so only
        the tools are compared: version {_VERSION}, run against local servers. Times are medians of
        whole processes in pairs on one machine; only the ratios mean anything.
        """,
        Rows(tuple((what, f"svc: {ours}. Stripe CLI: {theirs}.") for what, ours, theirs in _ROWS)),
    ),
)
