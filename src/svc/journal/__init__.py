"""The state database: key facts, webhook endpoints, the inbox, requests and batches."""

from typing import Final

from svc.journal.opening import DAMAGED
from svc.journal.state import GONE, Row, State, Tx

# Codes of errors after which the database holds nothing of what it held when it was opened.
LOST: Final = (DAMAGED, GONE)

__all__ = ["LOST", "Row", "State", "Tx"]
