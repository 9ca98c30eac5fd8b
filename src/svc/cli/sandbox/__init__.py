"""`svc sandbox`: the whole service on this machine, its dashboard and its shopper.

A file has the verbs of one subject, such as `time` and `webhooks`; what several need is in
`shared`, `served`, `exported` and `launch`, and no other word imports any of it. Begin
with `process`, which starts the sandbox. Most other verbs call the running sandbox's controls, its
HTTP interface beside the API, by `framework.control`.
"""

from svc.cli.framework.app import Noun, make_word
from svc.cli.sandbox import (
    bank,
    compare,
    env,
    faults,
    keys,
    process,
    requests,
    shopper,
    state,
    time,
    webhooks,
)


class SandboxNoun(Noun):
    """Has the verbs in sections by subject; help, completion and `svc commands` keep the order."""

    sections = {  # noqa: RUF012  a ClassVar of the base
        "The sandbox itself": ("start", "stop", "status", "logs", "env"),
        "The shopper": ("pay", "checkout", "dispute"),
        "The bank": ("settle", "fail", "decide", "customs", "balances"),
        "The clock": ("advance", "clock"),
        "Events and webhooks": ("trigger", "events", "deliveries", "resend", "endpoints"),
        "The real service": ("compare",),
        "The dashboard": ("settings", "keys", "requests", "lint", "emails"),
        "Things that go wrong": ("fault",),
        "The data": ("reset", "export", "import"),
    }


app = make_word(
    "sandbox",
    """

    $ svc sandbox start --detach --fixture demo
    $ svc sandbox trigger order.paid
    """,
    SandboxNoun,
)

for _part in (process, env, compare, shopper, bank, time, webhooks, requests, state):
    app.add_typer(_part.app)
app.add_typer(webhooks.endpoints_app, name="endpoints")
app.add_typer(faults.app, name="fault")
app.add_typer(keys.app, name="keys")
