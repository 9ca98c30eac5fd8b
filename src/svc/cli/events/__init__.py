"""`svc events`: retrieves events; the verbs that receive webhooks are loaded only when named.

A verb has a file of its name: `listen`, `receive`, `replay`, `verify`, `inbox` and `log`. Begin
with `run`, which puts a listener together of a port, an `endpoint`, a `link` and `svc.listen`;
`screen` prints its records. `svc doctor` opens a team's log by `team` and asks `log` where
this machine reads it, `svc timeline` reads the `inbox`, and `svc commands` reads choices of
options; no other word imports this folder.
"""

from svc.cli.framework.app import LazyGroup, make_noun
from svc.cli.framework.nouns import add_verb
from svc.cli.framework.registry import EVENT_VERBS
from svc.service.events import RESOURCE


class Events(LazyGroup):
    """Loads a verb that handles webhooks only when it is typed: their imports are heavy."""

    entries = EVENT_VERBS
    words = ("events",)


app = make_noun(
    """Retrieve events; receive, verify and forward webhooks.

    $ svc events listen --forward-to http://localhost:3000/webhooks
    $ svc events inbox --failed --since 2h
    """,
    Events,
)

for action in RESOURCE.actions:
    add_verb(app, RESOURCE, action)
