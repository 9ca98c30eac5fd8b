"""`svc sandbox`: the whole service on this machine, its dashboard and its shopper."""

from svc.cli.framework.app import new_noun
from svc.cli.sandbox import (
    bank,
    env,
    faults,
    keys,
    logs,
    process,
    requests,
    shopper,
    state,
    time,
    webhooks,
)

app = new_noun("Run the whole service on this machine.")

# Help and completion list the verbs in this order.
for _part in (process, logs, env, shopper, bank, time, webhooks, requests, state):
    app.add_typer(_part.app)
app.add_typer(webhooks.endpoints_app, name="endpoints")
app.add_typer(faults.app, name="fault")
app.add_typer(keys.app, name="keys")
