"""The state database: key facts, webhook endpoints, the inbox, requests and batches.

`schema` has its tables, `log` is what a listener does with SQLite's log, `database` is where to
begin. Each room has its own SQL and passes it in; `delivery.journal`, `batch`, `keys` and `listen`
do. A command opens the database for them and asks them, in words.

Promises, such as "promise R1", stand by their numbers in tests/PROMISES.md.
"""

from typing import Final

from svc.state.database import GONE, Database, Row, Tx
from svc.state.log import NotSynced
from svc.state.opening import DAMAGED

# Codes of errors after which the database holds nothing of what it held when it was opened.
LOST: Final = (DAMAGED, GONE)

__all__ = ["LOST", "Database", "NotSynced", "Row", "Tx"]
