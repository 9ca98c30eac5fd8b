"""`svc keys`: stores API keys in the OS keyring, replaces (rolls) them, and reminds of it.

Begin with `roll`, the longest of the verbs; `stored` has add, list and remove, `remind` the ages.
`svc.keys` reads and writes the keyring and the facts of keys in the state database.
"""

from svc.cli.framework.app import make_word
from svc.cli.keys import remind, roll, stored

app = make_word("keys")

# Help and completion list the verbs in this order.
for _part in (stored, roll, remind):
    app.add_typer(_part.app)
