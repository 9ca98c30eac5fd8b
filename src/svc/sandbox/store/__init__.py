"""Everything that the sandbox keeps: one SQLite file, and a transaction's view of it.

Begin with `transaction`, all that a noun gets of it. `documents`, `events`, `deliveries` and `jobs`
have a table each, `settings` two rows; `sqlite` has the file and the schema. `commit` carries the
calls of a moment out together, `ids` draws ids, `export` takes the whole state out and in. All of
the sandbox above the room uses it.
"""

from typing import Final, Literal

DeliveryStatus = Literal["pending", "succeeded", "failed", "dropped"]
INTEGER_MAX: Final = 2**63 - 1  # what a column of integers holds
