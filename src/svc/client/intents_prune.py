"""What the journal forgets by itself: single requests that were settled 90 days ago.

Never one whose outcome is unknown. Nor one with a key of the user's own, since that keeps a script
from paying the same invoice again a year later; nor rows of a list, which keep it from being run
twice (`batch.ledger` lets go of their bodies).
"""

from typing import Final

KEPT_SECONDS: Final = 90 * 24 * 3600
# One request in so many looks for old ones; others need not wait for it.
EVERY: Final = 256

# The condition of the index `request_settled`, word for word, so that SQLite uses it. A key of ours
# is a random UUID (version 4).
PRUNE: Final = """
DELETE FROM requests WHERE lease IS NULL AND seq IN (
  SELECT seq FROM requests WHERE settled_at < ?
    AND batch_id IS NULL AND state IN ('done', 'refused', 'not_sent')
    AND length(idempotency_key) = 36 AND substr(idempotency_key, 15, 1) = '4'
  LIMIT 1000)"""
