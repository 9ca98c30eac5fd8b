"""`svc keys`: keep API keys in the OS keyring, roll them, and be told when it is time to.

Begin with `roll`, the longest of the verbs; `svc.keys` keeps what they store.
"""

from svc.cli.framework.app import make_word
from svc.cli.keys import remind, roll, stored

app = make_word("keys")

# Help and completion list the verbs in this order.
for _part in (stored, roll, remind):
    app.add_typer(_part.app)
