"""The state database: key facts, webhook endpoints, the inbox, requests and batches."""

from svc.journal.state import Row, State, Tx

__all__ = ["Row", "State", "Tx"]
