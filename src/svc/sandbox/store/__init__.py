"""Everything that the sandbox keeps: one SQLite file, and a transaction's view of it.

Begin with `transaction`, all that a noun gets of it: `documents`, `events`, `jobs` and `settings`
by name. `commit` joins the calls of a moment, `sqlite` has the tables, `export` takes all out and
in. All of the sandbox above it uses it.
"""

from typing import Final, Literal

DeliveryStatus = Literal["pending", "succeeded", "failed", "dropped"]
INTEGER_MAX: Final = 2**63 - 1  # what a column of integers holds
