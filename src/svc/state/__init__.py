"""The state database: key facts, webhook endpoints, the inbox, requests and batches.

Begin with `database`. `schema` has the tables, `opening` creates and migrates the file, `salvage`
reads a damaged database, `room` measures and compacts it.
The SQL is in the rooms that use a table: `delivery.journal` (requests and batches), `keys` and
`listen`. A command opens the database and passes it to them.

Promises, such as "promise R1", stand by their numbers in tests/PROMISES.md.
"""

from typing import Final

from svc.state.database import GONE, Database, NotSynced, Row, Tx
from svc.state.opening import DAMAGED

# Codes of errors after which the database holds nothing of what it held when it was opened.
LOST: Final = (DAMAGED, GONE)

__all__ = ["LOST", "Database", "NotSynced", "Row", "Tx"]
